"""The command `thresholds`: options, formats and errors."""

import json
from pathlib import Path

import jsonschema
import pytest

from regress.cli import main
from regress.pipeline.documents import DOCS

PAIR = ["thresholds", "v0.5.3", "v0.6.4", "--recorded"]


def test_the_recorded_pair_as_text(capsys: pytest.CaptureFixture[str]) -> None:
    """The three backends' numbers stand side by side, and the exit code says UNDECIDED."""
    assert main(PAIR) == 3
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("UNDECIDED  v0.5.3 -> v0.6.4: ")
    rows = [line.split() for line in lines]
    for backend, first in (
        ("flashinfer-decode-tc-fa2", "66"),
        ("flashinfer-decode-cuda", "297"),
        ("fa3-varlen", "993"),
    ):
        expected = [backend, "eager", "skew40", first, first, first, "no"]
        assert expected in [[*row[:6], row[-1]] for row in rows if row]


def test_json_follows_its_schema(capsys: pytest.CaptureFixture[str]) -> None:
    """The generated schema describes the report."""
    main([*PAIR, "--format", "json"])
    schema = json.loads((DOCS / "thresholds.schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(json.loads(capsys.readouterr().out), schema)


def test_markdown_has_verdict_findings_and_tables(tmp_path: Path) -> None:
    """A further report goes to its file."""
    path = tmp_path / "thresholds.md"
    main([*PAIR, "--output", str(tmp_path / "text"), "--report", f"markdown={path}"])
    text = path.read_text(encoding="utf-8")
    assert text.startswith("### UNDECIDED: `v0.5.3` → `v0.6.4`")
    assert "#### Findings" in text
    assert "| flashinfer-decode-tc-fa2 | eager | skew40 | 66 | 66 | 66 |" in text


def test_all_lists_what_is_folded(capsys: pytest.CaptureFixture[str]) -> None:
    """With --all what is SAME and what is not notable stand there too."""
    main(PAIR)
    folded = capsys.readouterr().out
    main([*PAIR, "--all"])
    everything = capsys.readouterr().out
    assert "[threshold-kept]" in everything
    assert "[threshold-kept]" not in folded
    assert len(everything) > len(folded)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["v0.6.1", "v0.6.1", "--recorded"], "both v0.6.1"),
        (["v0.6.0", "v0.6.1", "--bisect"], "leave out BASE"),
        (["v0.6.1", "--bisect", "--recorded"], "--bisect measures"),
        (["v0.6.1", "--bisect", "--backend", "fa9"], "unknown backend 'fa9'"),
        (["v0.6.1", "--bisect", "--workload", "x"], "no workload slug"),
        (["v0.6.1", "--bisect", "--wheels", "/nowhere"], "--wheels /nowhere is no folder"),
    ],
)
def test_a_wrong_request_is_one_line(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 2 and one line on stderr."""
    assert main(["thresholds", *arguments]) == 2
    told = capsys.readouterr().err.strip()
    assert message in told
    assert "\n" not in told
