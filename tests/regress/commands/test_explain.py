"""The command `explain` from its arguments to what it writes."""

import json
from pathlib import Path

import jsonschema
import pytest

from regress.cli import main
from regress.pipeline.documents import DOCS

SLUG = "decode-h32x4-d128-bf16-p16-b66-skew40-t262144"
FA2 = "flashinfer-decode-tc-fa2"


def test_text_has_plan_time_and_reason(capsys: pytest.CaptureFixture[str]) -> None:
    """Predicted time is labelled as a model's, the recorded one stands beside it."""
    assert main(["explain", SLUG]) == 0
    out = capsys.readouterr().out
    assert "66 requests reach the budget of 66 work items" in out
    assert "predicted by a model, median error" in out
    assert "us (NVIDIA H200, stack v0.7.4, " in out
    assert "BatchPrefillWithPagedKVCacheKernel" in out
    assert "What would help, by the model:" in out
    assert f"Reproduce: python -m regress explain {SLUG}" in out


def test_a_cell_is_taken_as_reports_name_it(capsys: pytest.CaptureFixture[str]) -> None:
    """WORKLOAD@BACKEND, pasted, explains that backend alone."""
    told = []
    for words in ([f"{SLUG}@{FA2}"], [SLUG, "--backend", FA2]):
        assert main(["explain", *words]) == 0
        told.append(capsys.readouterr().out.partition("Reproduce")[0])
    assert told[0] == told[1]
    assert FA2 in told[0]


def test_another_device_is_told_apart(capsys: pytest.CaptureFixture[str]) -> None:
    """On an H20 the threshold is 2 * 78 / 4, nothing is measured, and the label says so."""
    assert main(["explain", SLUG, "--device", "h20", "--backend", FA2]) == 0
    out = capsys.readouterr().out
    assert "from 39 requests on nothing is split" in out
    assert "(2 x 78 SMs / 4 heads)" in out
    assert "never held against a measurement on h20" in out
    assert "Measured" not in out


def test_json_has_numbers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Lengths of one's own are explained too, with numbers as numbers."""
    file = tmp_path / "lengths.json"
    file.write_text("[100000, 2000, 2000]")
    arguments = ["explain", "--kv-lens", str(file), "--heads", "16/2", "--format", "json"]
    assert main(arguments) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["requests"] == 3
    assert told["backends"][0]["plan"]["threshold"] == 132
    assert told["backends"][0]["predicted"]["time_us"] > 0
    assert told["backends"][0]["measured"] is None


def test_a_trace_is_summed_up(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Steps, shares and the total time come out."""
    file = tmp_path / "trace.csv"
    file.write_text("4000,4000\n100000,2000\n")
    assert main(["explain", "--trace", str(file), "--backend", FA2]) == 0
    out = capsys.readouterr().out
    assert "2 steps" in out
    assert "of the steps split nothing" in out
    assert "all steps:" in out


def test_a_picture_is_written(tmp_path: Path) -> None:
    """The file's ending decides its kind."""
    pytest.importorskip("matplotlib")
    file = tmp_path / "sms.svg"
    assert main(["explain", SLUG, "--backend", FA2, "--picture", str(file)]) == 0
    assert file.read_text().startswith("<?xml")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["decode-x"], "is no workload slug"),
        ([SLUG, "--device", "h900"], "unknown device 'h900'"),
        ([SLUG, "--backend", "nix"], "unknown backend 'nix'"),
        ([SLUG, "--backend", "sdpa"], "nothing is known of how sdpa plans"),
        ([SLUG, "--picture", "a.svg"], "--picture draws one backend: name it with --backend"),
        ([SLUG, "--backend", FA2, "--picture", "a.jpg"], "named .svg or .png"),
        ([SLUG, "--flashinfer", "abc"], "--flashinfer abc: give a version as 0.6.1"),
        ([SLUG, "--occupancy", "0"], "--occupancy 0: give a whole number from 1 to 32"),
        ([SLUG, "--occupancy", "1" * 5000], "give a whole number from 1 to 32"),
        ([SLUG, "--heads", "32/8"], "--heads is for --kv-lens and --trace"),
        (["--kv-lens", "nothing"], "cannot read nothing"),
        (["decode-h32x4-d128-bf16-p16-b1-uniform-t10000000"], "10,000,000, more than"),
    ],
)
def test_wrong_input_is_one_line(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is wrong is one line on stderr, and the exit code is that of usage."""
    assert main(["explain", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert message in captured.err
    assert captured.err.count("\n") == 1


@pytest.mark.parametrize(
    ("option", "value"),
    [
        *(("--heads", heads) for heads in ("32", "x/4", "32/5", "0/0", "100000000/1")),
        *(("--page-size", size) for size in ("x", "0", "-1")),
        ("--head-dim", "1.5"),
    ],
)
def test_a_wrong_shape_is_one_line(
    option: str, value: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Heads that are none or no multiple, and what is no number, are refused."""
    file = tmp_path / "lengths"
    file.write_text("5")
    assert main(["explain", "--kv-lens", str(file), f"{option}={value}"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("given", ["--trace", "--kv-lens"])
def test_json_follows_its_schema(
    given: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The generated schemas describe a batch and a trace, refused backends included."""
    file = tmp_path / "lengths"
    file.write_text("4000,90000")
    backends = ["--backend", FA2, "--backend", "fa3-varlen"]
    known = "trace" if given == "--trace" else "explain"
    schema = json.loads((DOCS / f"{known}.schema.json").read_text(encoding="utf-8"))
    for device in ("h20", "a100-40gb"):
        main(["explain", given, str(file), *backends, "--device", device, "--format", "json"])
        jsonschema.validate(json.loads(capsys.readouterr().out), schema)
