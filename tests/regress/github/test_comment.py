"""The command `comment`: what is posted, what is marked, and the exit code."""

import logging
import sys
from io import StringIO
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from regress.cli import main
from regress.errors import ExitCode
from regress.github.comments import MARKER
from regress.model.bump import BumpCode, BumpReason, State
from regress.model.report import CheckReport
from regress.model.verdict import Verdict
from tests.regress.github.conftest import Run
from tests.regress.github.pages import RUN_URL
from tests.regress.github.reports import RED, bump, report
from tests.regress.github.worlds import GATE, HEAD, NAME, OLDER, world
from tests.support.github_world import Comment, Fault

GREEN = report({Verdict.SAME: 72}, ExitCode.PASS)
OPEN = report({Verdict.UNDECIDED: 1, Verdict.SAME: 71}, ExitCode.UNDECIDED)
UNCHANGED = bump(
    state=State.UNCHANGED, changes=(), reason=BumpReason(BumpCode.UNCHANGED, "no pin changed")
)


@pytest.mark.parametrize(
    ("judged", "code", "mark"),
    [(GREEN, 0, "success"), (RED, 1, "failure"), (OPEN, 3, "error")],
)
def test_verdict_is_posted_marked_and_returned(
    run: Run, judged: CheckReport, code: int, mark: str
) -> None:
    """One comment, the same text in the job's summary, a mark on the commit, the verdict's code."""
    ran = run(bump(), judged)
    assert (ran.code, ran.error) == (code, "")
    assert ran.marks == [(mark, HEAD)]
    [body] = ran.bodies
    assert body.startswith(MARKER)
    assert ran.summary in body
    assert RUN_URL in ran.summary
    assert f"Verdict **{judged.verdict}**" in ran.summary


def test_comment_is_updated_in_place(run: Run) -> None:
    """The gate's newest comment is edited, its older ones are hidden, others' are left alone."""
    made_up = world()
    made_up.repositories[NAME].comments = [
        Comment(1, 7, f"{MARKER}\nold", GATE),
        Comment(2, 7, f"{MARKER}\nforged", "stranger"),
        Comment(3, 7, f"{MARKER}\nnewer", GATE),
        Comment(4, 7, "about something else", GATE),
        Comment(5, 8, f"{MARKER}\nof another pull request", GATE),
    ]
    ran = run(bump(), GREEN, world=made_up)
    told = {c.id: (c.minimized, c.body.rsplit("\n", 1)[-1]) for c in ran.repository.comments}
    assert told == {
        1: (True, "old"),
        2: (False, "forged"),
        3: (False, ""),
        4: (False, "about something else"),
        5: (False, "of another pull request"),
    }
    assert "as fast as before" in ran.repository.comments[2].body


def test_many_comments(run: Run) -> None:
    """The gate's comment is found behind more comments than one answer has."""
    made_up = world()
    others = [Comment(n, 7, "hello", "someone") for n in range(1, 150)]
    made_up.repositories[NAME].comments = [*others, Comment(150, 7, f"{MARKER}\nold", GATE)]
    ran = run(bump(), GREEN, world=made_up)
    assert len(ran.repository.comments) == 150
    assert "as fast as before" in ran.bodies[-1]


def test_the_same_text_is_not_posted_twice(run: Run) -> None:
    """A re-run that finds the same changes no comment."""
    made_up = world()
    run(bump(), GREEN, world=made_up)
    assert run(bump(), GREEN, world=made_up).api.sent("PATCH") == []


def test_nothing_to_say(run: Run) -> None:
    """Without a change of pins there is a mark and no comment, unless there was one before."""
    ran = run(UNCHANGED)
    assert (ran.code, ran.bodies, ran.marks) == (0, [], [("success", HEAD)])
    assert "::" not in ran.shown
    made_up = world()
    run(bump(), RED, world=made_up)
    [body] = run(UNCHANGED, world=made_up).bodies
    assert "No attention library changes any more" in body


@pytest.mark.parametrize("code", ["draft", "closed", "superseded"])
def test_set_aside(run: Run, code: str) -> None:
    """Drafts, closed and outdated ones get neither comment nor mark."""
    ran = run(bump(state=State.SKIPPED, reason=BumpReason(BumpCode(code), "x")))
    assert (ran.code, ran.bodies, ran.marks, ran.api.requests) == (0, [], [], [])


@pytest.mark.parametrize(
    ("code", "mark", "words"),
    [
        ("needs-label", "pending", "attention-gate-run"),
        ("inexact", "success", "nothing was measured"),
        ("one-sided", "success", "nothing was measured"),
        ("bad-version", "error", "PEP 440"),
        ("conflict", "error", "make the files agree"),
        ("unreadable", "error", "correct the file"),
    ],
)
def test_nothing_measured(run: Run, code: str, mark: str, words: str) -> None:
    """Why nothing was measured is said, with what to do, and only a refusal fails."""
    state = State.REFUSED if mark == "error" else State.SKIPPED
    ran = run(bump(state=state, reason=BumpReason(BumpCode(code), "because")))
    assert (ran.code, ran.marks) == (2 if mark == "error" else 0, [(mark, HEAD)])
    assert words in ran.bodies[0]


def test_every_state_and_reason_has_words(run: Run) -> None:
    """No code of the other job is without an ending."""
    for code in BumpCode:
        state = (
            State.REFUSED if code in {"bad-version", "conflict", "unreadable"} else State.SKIPPED
        )
        state = {"unchanged": State.UNCHANGED, "changed": State.MEASURE}.get(code, state)
        if code is not BumpCode.ACCEPTED:
            assert run(bump(state=state, reason=BumpReason(code, "x"))).code in {0, 2, 4}


@pytest.mark.parametrize("content", [None, b"", b"{", b"[]", b'{"schema": 2}', b"\xff\x00"])
def test_lost_job(run: Run, tmp_path: Path, content: bytes | None) -> None:
    """A report that is missing, empty or damaged is no pass: it says so, and how to go on."""
    file = tmp_path / "lost.json"
    if content is not None:
        file.write_bytes(content)
    (tmp_path / "log").write_bytes(b"round 3 of 8\nKilled \xff ``` ##[add-mask]x\n::error::y\n\n")
    ran = run(bump(), None, "--report", str(file), "--log", str(tmp_path / "log"))
    assert (ran.code, ran.marks) == (4, [("error", HEAD)])
    assert "The GPU job was lost" in ran.bodies[0]
    assert "This is no pass" in ran.bodies[0]
    assert "re-run all jobs" in ran.bodies[0]
    assert "round 3 of 8" in ran.bodies[0]
    assert "##[" not in ran.bodies[0] + ran.shown
    assert "\n::" not in ran.bodies[0]


def test_report_that_contradicts_itself(run: Run) -> None:
    """What a report says of the whole and of its cases hides no finding that counts."""
    same = tuple(replace(cell, verdict=Verdict.SAME) for cell in RED.cells)
    liar = replace(RED, verdict=Verdict.SAME, exit_code=ExitCode.PASS, cells=same)
    ran = run(bump(), liar)
    assert ran.code == 1
    assert ran.marks == [("failure", HEAD)]
    assert "do not merge" in ran.bodies[0]


def test_other_layout_is_no_report(run: Run) -> None:
    """A report of another version of the suite is not guessed at."""
    ran = run(bump(), msgspec.structs.replace(GREEN, schema=1))
    assert ran.code == 4
    assert "is of layout 1" in ran.bodies[0]


def test_refused_by_the_measuring_job(run: Run, tmp_path: Path) -> None:
    """An unknown version is told in that job's own words, with its exit code."""
    (tmp_path / "code").write_text("2\n")
    (tmp_path / "log").write_text("benchmarks: no version 0.6.99 of flashinfer-python\n")
    files = ("--exit-code", str(tmp_path / "code"), "--log", str(tmp_path / "log"))
    ran = run(bump(), None, *files)
    assert ran.code == 2
    assert "no version 0.6.99" in ran.bodies[0]
    assert run(bump(), GREEN, *files).code == 2


def test_unfit_host(run: Run, tmp_path: Path) -> None:
    """What doctor found stands in the comment, and a host that is fit only in its fold."""
    found = {"severity": "error", "title": "GPU in use", "message": "by 77", "remedy": "wait"}
    told = {"schema": 1, "fit": False, "findings": [{"code": "busy", **found}], "host": {}}
    (tmp_path / "doctor.json").write_bytes(msgspec.json.encode(told))
    ran = run(bump(), None, "--doctor", str(tmp_path / "doctor.json"))
    assert ran.code == 4
    assert "not fit to measure" in ran.bodies[0]
    assert "GPU in use: by 77 (wait)" in ran.bodies[0]


def test_replayed_rounds_are_said(run: Run) -> None:
    """Whoever reads the verdict sees first that nothing was measured for it."""
    recorded = msgspec.structs.replace(GREEN, command="python -m regress ab a b --recorded")
    for ran in (run(bump(), GREEN, "--replayed"), run(bump(), recorded)):
        assert "Replayed from recorded rounds" in ran.bodies[0].split("What to do")[0]
        assert "SAME (replayed from recorded rounds): All 72 cases" in ran.shown
    assert "Replayed" not in run(bump(), GREEN).bodies[0]


def test_annotations(run: Run) -> None:
    """A red verdict annotates its worst cases, at most ten of a level; a green one only itself."""
    many = report({Verdict.REGRESSION: 40}, ExitCode.REGRESSION)
    ran = run(bump(notes=tuple(f"note {n}" for n in range(30))), many)
    lines = [line for line in ran.shown.splitlines() if line.startswith("::")]
    assert sum(line.startswith("::error ") for line in lines) == 10
    assert sum(line.startswith("::warning ") for line in lines) == 9
    green = run(bump(), GREEN).shown.splitlines()
    assert [line for line in green if line.startswith("::")] == [
        "::notice title=attention gate::SAME: All 72 cases are the same."
    ]


def test_hostile_words_are_text(run: Run) -> None:
    """Words of a pull request are no commands, no mentions, no markup, wherever they are shown."""
    evil = "x\n::add-mask::1\r##[error] @all #1 <script> [l](http://x) %0A::stop"
    told = bump(state=State.REFUSED, reason=BumpReason(BumpCode.BAD_VERSION, evil), notes=(evil,))
    ran = run(told)
    assert "##[" not in ran.shown
    assert all(
        line.startswith(("::error title=", "::warning title="))
        for line in ran.shown.splitlines()
        if line.lstrip().startswith("::")
    )
    for word in ("<script>", "@all", "#1 ", "[l]("):
        assert word not in ran.bodies[0]


def test_no_longer_the_head(run: Run) -> None:
    """A verdict on an older commit marks that commit and leaves the comment to the newer run."""
    made_up = world()
    pull = made_up.repositories[NAME].pulls[0]
    pull.head_sha = OLDER
    ran = run(bump(), RED, world=made_up)
    assert (ran.code, ran.bodies, ran.marks) == (1, [], [("failure", HEAD)])
    assert "no longer the head" in ran.shown


@pytest.mark.parametrize(
    ("judged", "status", "code"), [(GREEN, 403, 2), (GREEN, 422, 2), (RED, 403, 2)]
)
def test_comment_that_cannot_be_posted(
    run: Run, judged: CheckReport, status: int, code: int
) -> None:
    """The verdict is in the summary and the annotations before GitHub is asked; it is one line."""
    made_up = world()
    made_up.faults = [Fault("/comments", status, 9, method="POST", message="Forbidden")]
    ran = run(bump(), judged, world=made_up)
    assert ran.code == code
    assert ran.error.count("\n") == 1
    assert "the verdict is not posted" in ran.error
    assert str(judged.verdict) in ran.summary
    assert ran.marks == []


def test_the_client_library_logs_nothing_of_its_own(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever logging the process has set up, trouble is told once."""
    shown = StringIO()
    monkeypatch.setattr(logging.getLogger(), "handlers", [logging.StreamHandler(shown)])
    monkeypatch.setattr(logging.getLogger(), "level", logging.DEBUG)
    made_up = world()
    made_up.faults = [Fault("/comments", 403, 9, method="POST", message="Forbidden")]
    assert run(bump(), GREEN, world=made_up).code == 2
    assert "Forbidden" not in shown.getvalue()


def test_trouble_that_passes(run: Run) -> None:
    """Server errors and limits are tried again, for writing too."""
    made_up = world()
    limit = Fault("/comments", 403, 1, "POST", {"Retry-After": "0"}, "secondary rate limit")
    made_up.faults = [limit, Fault("/statuses/", 502, 1, "POST")]
    ran = run(bump(), GREEN, world=made_up)
    assert (ran.code, len(ran.bodies), ran.marks) == (0, 1, [("success", HEAD)])


def test_findings_for_code_scanning(run: Run, tmp_path: Path) -> None:
    """They are written anew from what was judged; where nothing was, there is no file."""
    path = tmp_path / "found.sarif"
    run(bump(), None, "--sarif", str(path))
    assert not path.exists()
    run(bump(), RED, "--sarif", str(path))
    (found,) = msgspec.json.decode(path.read_bytes())["runs"]
    assert len(found["results"]) == 2


def test_dry_run(run: Run) -> None:
    """The comment is printed, GitHub is not asked, and the code is the verdict's."""
    ran = run(bump(), RED, "--dry-run")
    assert (ran.code, ran.api.requests, ran.summary) == (1, [], "")
    assert ran.shown.startswith("### flashinfer-python 0.6.0 → 0.6.1: attention got slower")


def test_unwritable_summary(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: Any) -> None:
    """A summary that cannot be written is one line, and no pass."""
    file = tmp_path / "bump.json"
    file.write_bytes(msgspec.json.encode(UNCHANGED))
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path))
    assert main(["comment", "--bump", str(file), "--run-url", RUN_URL]) == 2
    assert capfd.readouterr().err == f"regress: cannot write {tmp_path}: Is a directory\n"


def test_without_the_client_library(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who did not install the extra is told which one."""
    monkeypatch.setitem(sys.modules, "github", None)
    ran = run(bump(), GREEN)
    assert (ran.code, ran.api.requests) == (2, [])
    assert "pip install -e '.[github]'" in ran.error


@pytest.mark.parametrize("content", [None, b"{}", b"x"])
def test_no_bump(tmp_path: Path, capfd: Any, content: bytes | None) -> None:
    """Without what the first job found there is nothing to say, and that is no pass."""
    file = tmp_path / "bump.json"
    if content is not None:
        file.write_bytes(content)
    assert main(["comment", "--bump", str(file), "--run-url", RUN_URL]) == 4
    assert capfd.readouterr().err.count("\n") == 1


def test_wrong_run_url(tmp_path: Path, capfd: Any) -> None:
    """An address that would break the comment's link is refused."""
    assert main(["comment", "--bump", str(tmp_path), "--run-url", "javascript:x)"]) == 2
    assert "--run-url" in capfd.readouterr().err
