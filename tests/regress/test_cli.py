"""The command line: exit codes, one-line errors, output."""

import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from regress.cli import main
from regress.model.report import CheckReport
from tests.regress.builders import CASE, OTHER, lost, make_round, rounds_of, write_rounds

QUIET = (100.0, 100.1, 99.9, 100.2, 99.8)
SLOW = tuple(v * 1.1 for v in QUIET)
Capture = pytest.CaptureFixture[str]


def _run(root: Path, *arguments: str) -> int:
    return main([*arguments, "--rounds", str(root), "--tier", "any"])


@pytest.mark.parametrize(
    ("head", "code"), [(QUIET, 0), (SLOW, 1), (QUIET[:2], 3), (tuple(v / 2 for v in QUIET), 0)]
)
def test_exit_codes_of_check(
    tmp_path: Path, capsys: Capture, head: tuple[float, ...], code: int
) -> None:
    """0 pass or better, 1 regression, 3 undecided."""
    write_rounds(tmp_path, [*rounds_of("v1", {CASE: QUIET}), *rounds_of("v2", {CASE: head})])
    assert _run(tmp_path, "check", "v1", "v2") == code
    assert "Reproduce: python -m regress check v1 v2" in capsys.readouterr().out


def test_help_says_what_the_program_is_for(capsys: Capture) -> None:
    """The description is a user's, not a reader's of the code."""
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert ended.value.code == 0
    told = "Say what got worse between two stacks, and which backend to use."
    assert told in " ".join(capsys.readouterr().out.split())


def test_a_case_planned_on_one_side_is_no_data(tmp_path: Path, capsys: Capture) -> None:
    """Exit 4, unless --cells leaves the case out."""
    write_rounds(tmp_path, rounds_of("v1", {CASE: QUIET, OTHER: QUIET}))
    write_rounds(tmp_path, rounds_of("v2", {CASE: QUIET}))
    assert _run(tmp_path, "check", "v1", "v2") == 4
    assert _run(tmp_path, "check", "v1", "v2", "--cells", "tc-auto") == 0
    assert "planned in rounds of base only" in capsys.readouterr().out


def test_a_lost_case_is_never_zero(tmp_path: Path, capsys: Capture) -> None:
    """A case that base had and head fails to run ends with 1 and is named."""
    write_rounds(tmp_path, rounds_of("v1", {CASE: QUIET}))
    write_rounds(tmp_path, [make_round("v2", n, [lost(CASE, reason="NaN")]) for n in range(5)])
    assert _run(tmp_path, "check", "v1", "v2") == 1
    assert "failed in head: NaN" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["check", "v1", "v1"], 2, "name two stacks"),
        (["check", "v1", "v9"], 2, "unknown stack 'v9'"),
        (["check", "v1", "v2", "--machine", "z"], 2, "no rounds of a machine 'z'"),
        (["check", "v1", "v2", "--cells", "("], 2, "no regular expression"),
        (["check", "v1", "v2", "--cells", "a{99999999999}"], 2, "no regular expression"),
        (["check", "v1", "v2", "--cells", "(" * 9999], 2, "no regular expression"),
        (["check", "v1", "v2", "--config", "/none.toml"], 2, "cannot read the configuration"),
        (["check", "v1", "v2", "--output", "/none/x"], 2, "cannot write /none/x"),
        (["backends", "v9"], 2, "unknown stack 'v9'"),
    ],
)
def test_errors_are_one_line(
    tmp_path: Path, capsys: Capture, arguments: list[str], code: int, told: str
) -> None:
    """One line on stderr, nothing on stdout, the right exit code."""
    write_rounds(tmp_path, [*rounds_of("v1", {CASE: QUIET}), *rounds_of("v2", {CASE: QUIET})])
    assert _run(tmp_path, *arguments) == code
    captured = capsys.readouterr()
    assert told in captured.err
    assert captured.err.count("\n") == 1
    assert captured.out == ""


def test_corrupt_file_beats_a_regression(tmp_path: Path, capsys: Capture) -> None:
    """2 beats 1: with a damaged file nothing is judged."""
    write_rounds(tmp_path, rounds_of("v1", {CASE: QUIET}))
    *_, last = write_rounds(tmp_path, rounds_of("v2", {CASE: SLOW}))
    last.write_bytes(last.read_bytes()[:30])
    assert _run(tmp_path, "check", "v1", "v2") == 2
    assert "is truncated" in capsys.readouterr().err


def test_missing_folder_and_no_rounds(tmp_path: Path, capsys: Capture) -> None:
    """A folder that was named must exist; an empty one has no data."""
    assert main(["check", "v1", "v2", "--rounds", str(tmp_path / "none")]) == 2
    assert "is no folder" in capsys.readouterr().err
    assert main(["backends", "v0.6.1", "--rounds", str(tmp_path)]) == 4
    assert "v0.6.1 has no rounds" in capsys.readouterr().err


def test_json_goes_to_a_file(tmp_path: Path, capsys: Capture) -> None:
    """--output writes the whole report and nothing to the terminal."""
    write_rounds(tmp_path, [*rounds_of("v1", {CASE: QUIET}), *rounds_of("v2", {CASE: SLOW})])
    target = tmp_path / "report.json"
    assert _run(tmp_path, "check", "v1", "v2", "--format", "json", "--output", str(target)) == 1
    report = msgspec.json.decode(target.read_bytes(), type=CheckReport)
    assert (report.base, report.head, int(report.exit_code)) == ("v1", "v2", 1)
    assert capsys.readouterr().out == ""


def test_further_reports_go_to_files(tmp_path: Path, capsys: Capture) -> None:
    """--report writes other formats beside the main one, from one judging."""
    write_rounds(tmp_path, [*rounds_of("v1", {CASE: QUIET}), *rounds_of("v2", {CASE: SLOW})])
    files = {name: tmp_path / f"report.{name}" for name in ("json", "markdown", "junit", "sarif")}
    reports = [text for name, path in files.items() for text in ("--report", f"{name}={path}")]
    assert _run(tmp_path, "check", "v1", "v2", *reports) == 1
    assert capsys.readouterr().out.startswith("REGRESSION  v1 -> v2")
    first = {name: path.read_text().splitlines()[0] for name, path in files.items()}
    assert first == {
        "json": "{",
        "markdown": "### REGRESSION: `v1` → `v2`",
        "junit": '<?xml version="1.0" encoding="utf-8"?>',
        "sarif": "{",
    }


@pytest.mark.parametrize(
    ("reports", "told"),
    [
        (["html=x"], "--report html=x: give FORMAT=FILE with a format of text, json, markdown"),
        (["junit"], "--report junit: give FORMAT=FILE"),
        (["junit="], "--report junit=: give FORMAT=FILE"),
        (["junit=/none/x"], "cannot write /none/x"),
        (["junit=same", "sarif=./same"], "another report goes to ./same already"),
    ],
)
def test_a_wrong_report_is_one_line(
    tmp_path: Path, capsys: Capture, reports: list[str], told: str
) -> None:
    """Nothing is written to stdout if a further report cannot be."""
    write_rounds(tmp_path, [*rounds_of("v1", {CASE: QUIET}), *rounds_of("v2", {CASE: QUIET})])
    arguments = [text for report in reports for text in ("--report", report)]
    assert _run(tmp_path, "check", "v1", "v2", *arguments) == 2
    captured = capsys.readouterr()
    assert told in captured.err
    assert (captured.err.count("\n"), captured.out) == (1, "")


def test_backends_have_no_format_for_ci(tmp_path: Path, capsys: Capture) -> None:
    """What has no verdicts has no JUnit; the formats that there are, are named."""
    write_rounds(tmp_path, rounds_of("v1", {CASE: QUIET}))
    assert _run(tmp_path, "backends", "v1", "--report", "junit=x") == 2
    assert "a format of text, json, markdown\n" in capsys.readouterr().err


WAIVERS = """
version = 1
[[waiver]]
cells = "tc-auto$"
since = "v2"
reason = "auto is not used here"
owner = "serving"
expires = {expires}
"""


@pytest.mark.parametrize(
    ("expires", "code", "told"),
    [("9999-12-31", 0, "accepted by serving"), ("2001-01-01", 1, "waiver 1 ('tc-auto$', owner")],
)
def test_waivers_hold_until_they_expire(
    tmp_path: Path, capsys: Capture, expires: str, code: int, told: str
) -> None:
    """The day is today's; after a waiver's last one its regression counts and it is told."""
    write_rounds(tmp_path, [*rounds_of("v1", {CASE: QUIET}), *rounds_of("v2", {CASE: SLOW})])
    file = tmp_path / "w.toml"
    file.write_text(WAIVERS.format(expires=expires))
    assert _run(tmp_path, "check", "v1", "v2", "--waivers", str(file)) == code
    assert told in capsys.readouterr().out


def test_the_waivers_of_the_checkout_need_no_option(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A waivers.toml at the root is read if it exists."""
    write_rounds(tmp_path, [*rounds_of("v1", {CASE: QUIET}), *rounds_of("v2", {CASE: SLOW})])
    file = tmp_path / "waivers.toml"
    monkeypatch.setattr("regress.commands.options.WAIVERS_FILE", file)
    assert _run(tmp_path, "check", "v1", "v2") == 1
    file.write_text(WAIVERS.format(expires="9999-12-31"))
    assert _run(tmp_path, "check", "v1", "v2") == 0
    assert "WAIVED  v1 -> v2" in capsys.readouterr().out


def test_a_wrong_file_of_waivers_is_one_line(tmp_path: Path, capsys: Capture) -> None:
    """A waiver that cannot be understood ends the command before anything is judged."""
    write_rounds(tmp_path, [*rounds_of("v1", {CASE: QUIET}), *rounds_of("v2", {CASE: SLOW})])
    file = tmp_path / "w.toml"
    file.write_text(WAIVERS.format(expires="'soon'"))
    assert _run(tmp_path, "check", "v1", "v2", "--waivers", str(file)) == 2
    captured = capsys.readouterr()
    assert "w.toml: waiver 1: Expected `date`" in captured.err
    assert (captured.err.count("\n"), captured.out) == (1, "")


def test_backends_show_and_config(tmp_path: Path, capsys: Capture) -> None:
    """The other commands print what they are asked for."""
    path, *_ = write_rounds(tmp_path, rounds_of("v1", {CASE: SLOW, OTHER: QUIET}))
    assert _run(tmp_path, "backends", "v1", "--fail-over", "1.05") == 1
    assert "INVERTED  decode (eager), flashinfer-decode-tc-auto" in capsys.readouterr().out
    assert main(["show", str(path)]) == 0
    assert "2 measured" in capsys.readouterr().out
    assert main(["show", str(tmp_path / "none.json.gz")]) == 2
    assert "cannot read" in capsys.readouterr().err
    assert main(["config"]) == 0
    assert "min_rounds = 5" in capsys.readouterr().out
    assert main(["config", "--markdown"]) == 0
    assert "| `kernel_time.min_rounds` | 5 |" in capsys.readouterr().out


def test_a_reader_that_leaves_keeps_the_exit_code(tmp_path: Path) -> None:
    """With `| head` closing the pipe, the exit code is still the verdict's, without a traceback."""
    write_rounds(tmp_path, [*rounds_of("v1", {CASE: QUIET}), *rounds_of("v2", {CASE: SLOW})])
    command = [sys.executable, "-m", "regress", "check", "v1", "v2", "--tier", "any"]
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [*command, "--rounds", str(tmp_path)],
        stdout=write,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        cwd=Path(__file__).parents[2],
    )
    os.close(write)
    assert (done.returncode, done.stderr) == (1, "")


@pytest.mark.parametrize(
    "arguments",
    [
        ["check", "v1"],
        ["check", "v1", "v2", "--rounds", ""],
        *(["backends", "v1", "--fail-over", value] for value in ("inf", "nan", "0.9", "-2", "x")),
    ],
)
def test_wrong_arguments_exit_2(arguments: list[str], capsys: Capture) -> None:
    """argparse's own errors have the usage code too."""
    with pytest.raises(SystemExit) as error:
        main(arguments)
    assert error.value.code == 2
    assert "error: " in capsys.readouterr().err


def test_runs_as_a_module() -> None:
    """`python -m regress` is the entry point."""
    done = subprocess.run(
        [sys.executable, "-m", "regress", "config"],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[2],
        env={"PATH": os.environ["PATH"]},
    )
    assert (done.returncode, done.stderr) == (0, "")
