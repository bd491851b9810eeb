"""The commands `history`, `bisect` and `change-points` from the command line."""

import json
from pathlib import Path

import pytest

from regress.cli import main
from tests.regress.pipeline.history.year import CASES, TAGS, Year, step_at


def _run(root: Path, *options: str) -> int:
    return main(["history", "--rounds", str(root), "--tier", "any", *options])


def test_a_damaged_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is one line on stderr, the report still comes, and the exit code is 2."""
    path = Year(tmp_path, step_at(8, 1.05)).write()[10]
    path.write_bytes(b"damaged")
    assert _run(tmp_path) == 2
    told = capsys.readouterr()
    assert "REGRESSION" in told.out
    (line,) = told.err.splitlines()
    assert line.startswith(f"regress: left out: {path} is no intact gzip file")


def test_json_and_further_reports(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The report asked for goes to stdout, another one beside it into a file."""
    Year(tmp_path, step_at(8, 1.05)).write()
    beside = tmp_path / "history.md"
    code = _run(tmp_path, "--format", "json", "--report", f"markdown={beside}")
    report = json.loads(capsys.readouterr().out)
    assert code == report["exit_code"] == 1
    assert beside.read_text().startswith("### REGRESSION")


def test_since_and_cells(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is left out does not count."""
    Year(tmp_path, step_at(8, 1.05, CASES[:1])).write()
    assert _run(tmp_path, "--since", TAGS[8]) == 0
    assert _run(tmp_path, "--cells", f"^{CASES[1]}$") == 0
    assert _run(tmp_path, "--cells", "^nothing$") == 2
    assert "fits --cells" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["history", "--rounds", "{root}"], 4, "no rounds at all"),
        (["history", "--rounds", "{root}/none"], 2, "is no folder"),
        (["bisect", "v0.6.4", "v0.6.1", "--cells", "b66"], 2, "no later release"),
        (["bisect", "v0.6.1", "v0.6.4", "--cells", "."], 2, "at most 100"),
        (["bisect", "v0.6.1", "v0.6.4", "--cells", "^no$"], 2, "fits --cells"),
        (["change-points", "--treeherder", "{root}"], 2, "holds none of"),
    ],
)
def test_wrong_usage_is_one_line(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    code: int,
    told: str,
) -> None:
    """What is wrong and what to do, with the right exit code."""
    assert main([argument.format(root=tmp_path) for argument in arguments]) == code
    (line,) = capsys.readouterr().err.splitlines()
    assert told in line
