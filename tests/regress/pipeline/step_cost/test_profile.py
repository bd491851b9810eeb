"""Deployment profiles: what is read, and one clear line for everything that is wrong."""

import subprocess
import sys
from pathlib import Path

import pytest

from regress.errors import UsageError
from regress.pipeline.step_cost.page import PROFILES
from regress.pipeline.step_cost.profile import USUAL, load_profile
from workloads.backend import Mode
from workloads.shape import AttentionShape, DType

MODEL = "[model]\nq_heads = 32\nkv_heads = 4\nlayers = 48\n"
MIX = "[[mix]]\nbatch = 4\nkv_tokens = 4096\n"


def write(folder: Path, top: str = "", model: str = MODEL, load: str = MIX) -> Path:
    path = folder / "profile.toml"
    path.write_text(f'name = "made up"\nmode = "eager"\n{top}\n{model}\n{load}', encoding="utf-8")
    return path


def test_a_profile_is_read(tmp_path: Path) -> None:
    """Heads are divided over the GPUs, entries become workloads, defaults apply."""
    load = MIX + '[[mix]]\nbatch = 8\nkv_tokens = 999\ndistribution = "skew40"\nweight = 2.5\n'
    found = load_profile(write(tmp_path, "tp = 2", MODEL + 'kv_dtype = "fp8"\n', load))
    assert (found.layers, found.tp, found.mode) == (48, 2, Mode.EAGER)
    assert found.shape == AttentionShape(16, 2, kv_dtype=DType.FP8)
    assert [(one.weight, sum(one.batch.kv_lens)) for one in found.loads] == [(1, 4096), (2.5, 999)]
    assert found.loads[1].name == "decode-h16x2-d128-bf16-kvfp8-p16-b8-skew40-t999"
    assert found.backends == USUAL[Mode.EAGER]


def test_kv_heads_are_copied_where_gpus_are_more(tmp_path: Path) -> None:
    """4 KV heads on 8 GPUs leave 1 on each."""
    assert load_profile(write(tmp_path, "tp = 8")).shape == AttentionShape(4, 1)


def test_a_trace_counts_equal_steps(tmp_path: Path) -> None:
    """Equal batches are one load whose weight is their number, named by their first line."""
    (tmp_path / "steps.jsonl").write_text("[5, 6]\n\n[7]\n[5, 6]\n")
    found = load_profile(write(tmp_path, 'trace = "steps.jsonl"', load=""))
    assert [(one.name, one.weight, one.batch.kv_lens) for one in found.loads] == [
        ("line 1", 2, (5, 6)),
        ("line 3", 1, (7,)),
    ]
    assert found.steps == 3


def test_a_long_trace_is_sampled(tmp_path: Path) -> None:
    """Of more different batches than are priced, every n-th step is taken."""
    (tmp_path / "steps.csv").write_text("".join(f"{n},{n}\n" for n in range(1, 502)))
    found = load_profile(write(tmp_path, 'trace = "steps.csv"', load=""))
    assert len(found.loads) == 167
    assert found.loads[1].batch.kv_lens == (4, 4)
    assert found.steps == 501


WRONG = {
    "negative": ({"load": "[[mix]]\nbatch = -1\nkv_tokens = 9\n"}, "mix[0].batch"),
    "zero": ({"load": "[[mix]]\nbatch = 4\nkv_tokens = 0\n"}, "mix[0].kv_tokens"),
    "fraction": ({"load": "[[mix]]\nbatch = 4.5\nkv_tokens = 9\n"}, "got `float`"),
    "text": ({"load": '[[mix]]\nbatch = "4"\nkv_tokens = 9\n'}, "got `str`"),
    "truth": ({"load": "[[mix]]\nbatch = true\nkv_tokens = 9\n"}, "got `bool`"),
    "ten million": ({"load": "[[mix]]\nbatch = 4\nkv_tokens = 10000000\n"}, "<= 8388608"),
    "one request": ({"load": "[[mix]]\nbatch = 1\nkv_tokens = 5000000\n"}, "5,000,000"),
    "nan": ({"load": MIX + "weight = nan\n"}, "weight"),
    "infinite": ({"load": MIX + "weight = inf\n"}, "weight"),
    "weightless": ({"load": MIX + "weight = 0\n"}, "weight"),
    "too few": ({"load": "[[mix]]\nbatch = 9\nkv_tokens = 4\n"}, "without tokens"),
    "shares": ({"load": MIX + 'distribution = "skewed"\n'}, "unknown KV distribution"),
    "no load": ({"load": ""}, "[[mix]] entries or as a trace"),
    "two loads": ({"top": 'trace = "x"'}, "[[mix]] entries or as a trace"),
    "no trace": ({"top": 'trace = "nothing.jsonl"', "load": ""}, "nothing.jsonl"),
    "unknown field": ({"model": MODEL + "colour = 3\n"}, "`colour`"),
    "unknown type": ({"model": MODEL + 'dtype = "int3"\n'}, "int3"),
    "no layers": ({"model": "[model]\nq_heads = 32\nkv_heads = 4\n"}, "`layers`"),
    "group": ({"model": "[model]\nq_heads = 6\nkv_heads = 4\nlayers = 1\n"}, "no multiple"),
    "tp": ({"top": "tp = 3"}, "tp = 3"),
    "backend": ({"top": 'backends = ["fa9"]'}, "fa9"),
    "mode": ({"top": f'backends = ["{USUAL[Mode.SERVING][0]}"]'}, "mode = 'eager'"),
    "syntax": ({"top": "tp = = 3"}, "no TOML"),
}


@pytest.mark.parametrize("name", WRONG)
def test_mistakes_get_one_line(tmp_path: Path, name: str) -> None:
    """The message is one line that names what is wrong."""
    given, expected = WRONG[name]
    with pytest.raises(UsageError) as caught:
        load_profile(write(tmp_path, **given))
    assert expected in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("steps", ["", "[]\n", "[3, 0]\n", "[3.5]\n", "3,x\n", "[10000000]\n"])
def test_a_wrong_trace_is_refused(tmp_path: Path, steps: str) -> None:
    """Empty, zero, no integer, no number, ten million tokens."""
    (tmp_path / "steps").write_text(steps)
    with pytest.raises(UsageError, match="steps"):
        load_profile(write(tmp_path, 'trace = "steps"', load=""))


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", None])
def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path, content: bytes | None) -> None:
    """No text, or no file at all."""
    path = tmp_path / "profile.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UsageError, match=r"profile\.toml"):
        load_profile(path)


def test_shipped_profiles_are_read() -> None:
    """Every example is valid and has weights that add up to all steps."""
    paths = sorted(PROFILES.glob("*.toml"))
    assert len(paths) >= 2
    for path in paths:
        assert sum(load.weight for load in load_profile(path).loads) == pytest.approx(1)


def test_the_shell_sees_a_usage_error(tmp_path: Path) -> None:
    """Exit code 2, one line on stderr, nothing on stdout."""
    path = write(tmp_path, load="")
    command = [sys.executable, "-m", "regress", "step-cost", str(path), "--recorded"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
