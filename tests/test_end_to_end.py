"""From a measuring process to a verdict: real rounds of real processes, judged by regress."""

import importlib.util
import json
import re
import subprocess
import sys
import venv
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from benchmarks.campaign import Limits, Options, measure_round
from benchmarks.errors import UserError
from benchmarks.paths import ROOT
from benchmarks.rounds import load_round, load_rounds
from benchmarks.stacks import Stack
from regress.cli import main as regress
from tests.benchmarks.synthetic import stack
from workloads.catalog import cases
from workloads.record import Case, CaseRecord, Round, Status
from workloads.shape import DType
from workloads.workload import parse

ROUNDS = 5
LIMITS = Limits(build_s=4.0, measure_s=2.0)
BEHAVIOURS: dict[str, dict[str, Any]] = {
    "raise": {"do": "raise"},
    "abort": {"do": "abort"},
    "hang": {"do": "hang"},
    "nan": {"do": "nan"},
    "wrong": {"do": "wrong"},
    "late raise": {"do": "raise", "after": 4},
    "late abort": {"do": "abort", "after": 4},
    "late hang": {"do": "hang", "after": 4},
}
"""What head does to a cell each; `late` ones go well while building and two passes long."""
SLUG = {
    name: f"decode-h32x4-d128-bf16-p16-b{batch}-uniform-t65536"
    for batch, name in enumerate([*BEHAVIOURS, "fine", "fine too"], 8)
}
CASES = {name: Case(slug, "scripted") for name, slug in SLUG.items()}
REASONS = {
    "raise": (Status.FAILED, "RuntimeError: scripted failure"),
    "abort": (Status.QUARANTINED, "killed its process with SIGABRT"),
    "hang": (Status.QUARANTINED, "hung: no progress for 4 s while in build"),
    "nan": (Status.FAILED, "the output has elements that are not finite"),
    "late raise": (Status.QUARANTINED, "RuntimeError: scripted failure"),
    "late abort": (Status.QUARANTINED, "killed its process with SIGABRT"),
    "late hang": (Status.QUARANTINED, "hung: no progress for 2 s while in measure"),
}


def bare_stack(tag: str) -> Stack:
    """A stack that pins nothing."""
    made = stack(tag)
    return Stack(tag, made.time, {}, {})


def measure(of: Stack, folder: Path, chosen: list[Case]) -> None:
    """Measure rounds of a stack side by side: what hangs then hangs at the same time."""
    options = Options("custom", "c1", folder, limits=LIMITS)
    with ThreadPoolExecutor(ROUNDS) as pool:
        tries = [
            pool.submit(measure_round, of, chosen, options, Path(sys.executable))
            for _ in range(ROUNDS)
        ]
        assert len({made.result() for made in tries}) == ROUNDS


@pytest.fixture(scope="module")
def rounds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five rounds of a stack where all goes well, and of one where each cell goes wrong its way."""
    folder = tmp_path_factory.mktemp("end-to-end")
    script = folder / "script.json"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ATTN_SCRIPT", str(script))
        script.write_text(json.dumps({"*": {"us": 100.0}}))
        measure(bare_stack("base"), folder / "rounds", list(CASES.values()))
        bad = {SLUG[name]: {"us": 100.0, **do} for name, do in BEHAVIOURS.items()}
        script.write_text(json.dumps({"*": {"us": 100.0}, **bad}))
        measure(bare_stack("head"), folder / "rounds", list(CASES.values()))
    return folder / "rounds"


def records_of(rounds: Path, tag: str) -> list[dict[Case, CaseRecord]]:
    found = [r for r in load_rounds(rounds) if r.stack.tag == tag]
    assert len(found) == ROUNDS
    return [{record.case: record for record in r.cases} for r in found]


def test_all_goes_well_in_base(rounds: Path) -> None:
    """Every cell is measured in every round."""
    for records in records_of(rounds, "base"):
        assert {record.status for record in records.values()} == {Status.MEASURED}


@pytest.mark.parametrize("name", REASONS)
def test_what_goes_wrong_costs_its_cell_and_says_why(rounds: Path, name: str) -> None:
    """In every round the cell has no time but a reason."""
    status, reason = REASONS[name]
    for records in records_of(rounds, "head"):
        record = records[CASES[name]]
        assert (record.status, record.kernel_us) == (status, ())
        assert record.reason.startswith(reason)


def test_what_goes_wrong_costs_nothing_else(rounds: Path) -> None:
    """The other cells are measured in full, wrong values with their error."""
    for records in records_of(rounds, "head"):
        assert list(records) == list(CASES.values())
        for name in ("fine", "fine too", "wrong"):
            record = records[CASES[name]]
            assert record.status is Status.MEASURED
            assert record.kernel_us == (100.0,) * 6
        assert records[CASES["wrong"]].error == 1.0
        assert records[CASES["fine"]].error == 0.001


def check(rounds: Path, *arguments: str) -> int:
    return regress(["check", "base", "head", "--rounds", str(rounds), "--tier", "any", *arguments])


def test_the_check_fails_and_names_every_lost_cell(rounds: Path) -> None:
    """`python -m regress check` exits with 1; each lost cell stands there with its reason."""
    command = [sys.executable, "-m", "regress", "check", "base", "head", "--tier", "any"]
    done = subprocess.run(
        [*command, "--rounds", str(rounds)], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert (done.returncode, done.stderr) == (1, "")
    text = " ".join(done.stdout.split())
    for name, (_, reason) in REASONS.items():
        assert str(CASES[name]) in text
        assert reason in text
    assert str(CASES["wrong"]) in text
    assert "GONE" in text
    assert "BROKEN" in text


@pytest.mark.parametrize("name", BEHAVIOURS)
def test_one_lost_cell_is_enough(
    rounds: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    """A check of that cell alone is never 0, and its verdict says what happened."""
    pattern = f"^{re.escape(str(CASES[name]))}$"
    assert check(rounds, "--cells", pattern, "--format", "json") == 1
    report = json.loads(capsys.readouterr().out)
    (cell,) = report["cells"]
    assert cell["verdict"] == ("BROKEN" if name == "wrong" else "GONE")


def test_the_others_pass(rounds: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Cells that nothing happened to are the same, and a check of them alone is 0."""
    names = "|".join(re.escape(str(CASES[name])) for name in ("fine", "fine too"))
    assert check(rounds, "--cells", names, "--format", "json") == 0
    report = json.loads(capsys.readouterr().out)
    assert {cell["verdict"] for cell in report["cells"]} == {"SAME"}


def test_a_cell_lost_once_is_no_pass(
    rounds: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One quarantine in five rounds of head is named and does not pass."""
    one = next(p for p in sorted(rounds.rglob("*.json.gz")) if p.parent.name == "head")
    for path in rounds.rglob("*.json.gz"):
        if path.parent.name == "base" or path == one:
            keep(path, tmp_path)
    measure_good_head(tmp_path)
    cell = str(CASES["abort"])
    code = check(tmp_path, "--cells", f"^{re.escape(cell)}$")
    text = " ".join(capsys.readouterr().out.split())
    assert code != 0
    assert "lost in 1 of 5 rounds of head" in text
    assert "killed its process with SIGABRT" in text


def keep(path: Path, root: Path) -> None:
    target = root / path.parent.parent.name / path.parent.name / path.name
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(path.read_bytes())


def measure_good_head(folder: Path) -> None:
    """Measure four more rounds of head, in which all goes well."""
    options = Options("custom", "c1", folder, limits=LIMITS)
    script = folder / "script.json"
    script.write_text(json.dumps({"*": {"us": 100.0}}))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ATTN_SCRIPT", str(script))
        for _ in range(ROUNDS - 1):
            measure_round(bare_stack("head"), list(CASES.values()), options, Path(sys.executable))


CPU_CASES = [e.case for e in cases() if parse(e.case.workload).shape.dtype is DType.FP32]
DECODE = "decode-h32x8-d128-bf16-p16-b4-uniform-t1024"
GPU_CASES = [
    Case(DECODE, name)
    for name in ("flashinfer-decode-cuda", "fa3-varlen", "flash-attn-paged", "sdpa")
]
NO_PINS = bare_stack("bare")


def test_a_host_without_a_gpu(tmp_path: Path) -> None:
    """CPU cases are measured and right, GPU cases skipped for want of one; nothing claims a GPU."""
    found = measured_on(Path(sys.executable), [*CPU_CASES, *GPU_CASES], tmp_path)
    for record in found.cases[: len(CPU_CASES)]:
        assert record.status is Status.MEASURED, record
        assert record.error is not None
        assert record.error < 1e-5
        assert record.time_us
        assert (record.sm_mhz, record.cupti_us, record.kernels) == ((), None, ())
    for record in found.cases[len(CPU_CASES) :]:
        assert record.status is Status.SKIPPED
        assert "GPU" in record.reason
    assert (found.machine.name, found.machine.gpu) == ("cpu", "cpu")
    assert (found.protocol.timer, found.protocol.flush_bytes) == ("perf-counter", 0)
    assert found.conditions == ()


def measured_on(python: Path, chosen: list[Case], folder: Path) -> Round:
    options = Options("custom", "c1", folder / "rounds", quick=True)
    found = load_round(measure_round(NO_PINS, chosen, options, python))
    assert [record.case for record in found.cases] == chosen
    return found


class Bare:
    """An environment with nothing but what a round needs; torch is not in it."""

    def __init__(self, folder: Path) -> None:
        venv.EnvBuilder(with_pip=False, symlinks=True).create(folder)
        (self.packages,) = (folder / "lib").glob("python*/site-packages")
        self.folder, self.python = folder, folder / "bin" / "python"
        for name in ("elftools", "msgspec", "packaging"):
            spec = importlib.util.find_spec(name)
            assert spec is not None
            assert spec.origin is not None
            (self.packages / name).symlink_to(Path(spec.origin).parent)

    def add(self, name: str, version: str, into: Path | None = None) -> None:
        """Install a made-up FlashInfer under a distribution's name."""
        place = into or self.packages
        facts = place / f"{name.replace('-', '_')}-{version}.dist-info"
        facts.mkdir(parents=True)
        (facts / "METADATA").write_text(f"Name: {name}\nVersion: {version}\n")
        (place / "flashinfer.py").write_text(f"__version__ = {version!r}\n")


@pytest.fixture
def bare(tmp_path: Path) -> Bare:
    return Bare(tmp_path / "bare")


def test_a_host_without_torch(bare: Bare, tmp_path: Path) -> None:
    """Every case of the gate tier is skipped with a reason, and the round is a whole one."""
    found = measured_on(bare.python, [e.case for e in cases("gate")], tmp_path)
    assert {r.status for r in found.cases} == {Status.SKIPPED}
    assert all(r.reason for r in found.cases)
    reasons = {r.case.backend: r.reason for r in found.cases}
    assert reasons["sdpa"] == "torch is not installed on this host"
    assert (found.machine.gpu, found.machine.torch) == ("cpu", "")


def test_another_version_is_never_a_result(bare: Bare, tmp_path: Path) -> None:
    """A stack whose environment holds another version than its pin ends with one clear line."""
    bare.add("flashinfer-python", "0.6.2")
    told = f"the stack pins flashinfer-python==0.6.1 but 0.6.2 is installed in {bare.folder}"
    assert_refused(bare, tmp_path / "rounds", told)


def test_a_module_from_outside_is_never_a_result(bare: Bare, tmp_path: Path) -> None:
    """The right version from another folder is not the stack's."""
    bare.add("flashinfer-python", "0.6.1", tmp_path / "elsewhere")
    (bare.packages / "host.pth").write_text(f"{tmp_path / 'elsewhere'}\n")
    place = tmp_path / "elsewhere" / "flashinfer.py"
    told = f"flashinfer would come from {place}, outside the stack's environment"
    assert_refused(bare, tmp_path / "rounds", told)


def test_a_missing_pin_is_never_a_result(bare: Bare, tmp_path: Path) -> None:
    """An environment that lacks the pin ends the round too."""
    told = f"the stack pins flashinfer-python==0.6.1 but none is installed in {bare.folder}"
    assert_refused(bare, tmp_path / "rounds", told)


def assert_refused(bare: Bare, rounds: Path, told: str) -> None:
    of = stack("v1", pins={"flashinfer-python": "0.6.1"})
    with pytest.raises(UserError) as caught:
        measure_round(of, GPU_CASES, Options("custom", "c1", rounds), bare.python)
    assert str(caught.value) == f"v1 cannot be measured: {told}"
    assert not rounds.exists()


def test_an_environment_that_lacks_a_companion_is_one_line(bare: Bare, tmp_path: Path) -> None:
    """A failure before anything is loaded quotes Python's last word."""
    (bare.packages / "msgspec").unlink()
    with pytest.raises(UserError, match="it last said: ModuleNotFoundError: No module named 'msgs"):
        measure_round(NO_PINS, CPU_CASES, Options("custom", "c1", tmp_path), bare.python)
