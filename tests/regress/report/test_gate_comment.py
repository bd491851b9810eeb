"""The gate's comment: short on top, everything folded below, within GitHub's limits."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inline_snapshot import snapshot

from regress.errors import ExitCode
from regress.github.settle import settle
from regress.model.bump import Bump, BumpCode, BumpReason, Direction, PinChange
from regress.model.ending import Ending, Measured
from regress.model.report import CheckReport
from regress.model.verdict import Verdict
from regress.report.gate_comment import render_comment, render_headline
from regress.report.markdown import LIMIT
from tests.regress.github.pages import RUN_URL, SAMPLES, comment_of, render_page
from tests.regress.github.reports import bump, report
from tests.regress.report.samples import HOSTILE

FOLD = "<details><summary>All findings"
AB = "python -m regress ab v0.6.0 v0.6.1"


def render(told: Bump, judged: CheckReport | None = None, **more: object) -> str:
    measured = Measured(judged, **more)  # type: ignore[arg-type]
    return render_comment(told, settle(told, measured), measured, RUN_URL)


def test_green_is_three_lines() -> None:
    """Nothing got worse: title, verdict, what to do, on what it rests; all else is folded."""
    top, _, folded = comment_of("0-findings").partition(FOLD)
    assert top == snapshot("""\
### flashinfer-python 0.6.0 → 0.6.1: attention is as fast as before

Verdict **SAME** for commit `bbbbbbbbbbbb`. All 72 cases are the same.

**What to do:** nothing: as far as attention goes, this can be merged.

<sub>NVIDIA H200, tier gate, 2 and 2 rounds · measured false-alarm rate: 1 of 4000 simulated gates in which nothing changed (at most 0.12%, with other thresholds) · [run and artifacts](https://github.com/acme/engine/actions/runs/1)</sub>

""")  # noqa: E501 - a sentence is one line
    assert "Reproduce:" in folded
    assert "python -m regress ab v0.6.0 v0.6.1 --tier gate" in folded
    assert "python -m benchmarks stacks pins flashinfer-python==0.6.1" in folded


@pytest.mark.parametrize(
    ("command", "replayed", "shown"),
    [
        (f"{AB} --wheels '/a b' --modules /m --report json=x --report sarif=y --run r", False, AB),
        (
            f"{AB} --judge --recorded --report json=x --run r",
            True,
            f"{AB} --judge --recorded --run r",
        ),
        (f"{AB} --cells 'a b*'", False, f"{AB} --cells 'a b*'"),
        (f"{AB} 'unbalanced", False, f"{AB} 'unbalanced"),
        (f"{AB} --run", False, AB),
    ],
)
def test_what_reproduces_it_runs_elsewhere(command: str, replayed: bool, shown: str) -> None:  # noqa: FBT001 - a table of cases
    """Folders of the runner and rounds that are gone with it are left out."""
    judged = report({Verdict.SAME: 72}, ExitCode.PASS, command=command)
    assert f"\n{shown}\n" in render(bump(), judged, replayed=replayed)


def test_red_says_what_why_and_what_to_do() -> None:
    """The story first, what all slower cases have in common once, the worst cases open."""
    top, _, _ = comment_of("1-finding").partition(FOLD)
    assert top == snapshot("""\
### flashinfer-python 0.6.0 → 0.6.1: attention got slower

Verdict **REGRESSION** for commit `bbbbbbbbbbbb`. Of 72 cases 1 is slower (5.00x) and 71 are the same. It runs `flashinfer-decode-cuda`. What changed with it: resolved_backend fa2 → fa3, chunk_tokens 4096 → none.

**What to do:** do not merge this as it is. If it does not matter to you, a maintainer sets the label `attention-regression-accepted`; it counts for this commit only.

| case | head over base | why |
| --- | --- | --- |
| `decode-h32x4-d128-bf16-p16-b32-uniform-t262144`<br>`flashinfer-decode-cuda` | 5.000x&nbsp;[4.990,&nbsp;5.010]<br>143.2&nbsp;→&nbsp;716.0&nbsp;us | as above |

<sub>NVIDIA H200, tier gate, 2 and 2 rounds · measured false-alarm rate: 1 of 4000 simulated gates in which nothing changed (at most 0.12%, with other thresholds) · [run and artifacts](https://github.com/acme/engine/actions/runs/1)</sub>

""")  # noqa: E501 - a table's row is one line


@pytest.mark.parametrize("name", SAMPLES)
def test_every_comment_fits_and_closes_what_it_opens(name: str) -> None:
    """Below the limit with room for who accepts it, folds balanced, and rendered without a slip."""
    text = comment_of(name)
    assert len(text.encode()) < 62_000 < LIMIT
    assert text.count("<details>") == text.count("</details>")
    page = render_page(text)
    assert "**" not in page
    assert "| ---" not in page
    assert "&lt;details" not in page


def test_cut_rows_are_counted() -> None:
    """Of 400 findings ten stand open, and the rest says how many rows are where."""
    text = comment_of("400-findings")
    assert "case (10 of 400, more below)" in text
    shown = text.count("[`slower`]")
    assert 0 < shown < 400
    assert f"… {400 - shown} more cases, cut to fit: `report.json` among the run" in text


def test_two_libraries_and_a_downgrade() -> None:
    """Every library that moved stands in the title."""
    moves = (
        PinChange("flashinfer-python", "0.6.1", "0.6.0", Direction.DOWNGRADE, ("r.txt",)),
        PinChange("fa3-fwd", "0.0.2", "0.0.3", Direction.UPGRADE, ("r.txt",)),
    )
    text = render(bump(changes=moves), report({Verdict.SAME: 2}, ExitCode.PASS))
    assert "### flashinfer-python 0.6.1 → 0.6.0, fa3-fwd 0.0.2 → 0.0.3: attention is" in text


def test_a_choice_of_the_library_has_a_hint() -> None:
    """Where `auto` got slower, the command that names a better backend stands beside."""
    text = render(bump(), report({Verdict.REGRESSION: 40}, ExitCode.REGRESSION))
    assert "`python -m regress backends v0.6.1` tells whether" in text
    assert "regress backends" not in comment_of("1-finding")


def test_a_rehearsal_and_a_part_are_no_recommendation() -> None:
    """What was not measured, or not whole, is not called safe to merge."""
    setup = {"gpu": "none", "timer": "scripted"}
    counts = {Verdict.SAME: 3}
    rehearsed = render(bump(), report(counts, ExitCode.PASS, setup=setup))
    part = render(bump(), report(counts, ExitCode.PASS, pattern="fa3"))
    assert "a rehearsal" in rehearsed
    assert "that were asked for" in part
    assert not any("can be merged" in text for text in (rehearsed, part))


@pytest.mark.parametrize("verdict", Verdict)
def test_every_verdict_has_a_title(verdict: Verdict) -> None:
    """No verdict is without words, even on its own."""
    judged = report({Verdict.SAME: 1}, ExitCode.PASS, verdict=verdict)
    told, measured = bump(), Measured(judged)
    assert f"**{verdict}**" in render(told, judged)
    assert render_headline(told, settle(told, measured), measured).startswith(f"{verdict}: ")


def test_nothing_judged_is_no_title_of_success() -> None:
    """A report without any case says so."""
    judged = report({}, ExitCode.PASS, verdict=Verdict.SAME)
    assert settle(bump(), Measured(judged)).code is ExitCode.NO_DATA
    assert "Of 0 cases none was judged." in render(bump(), judged)


@given(st.text(max_size=60), st.lists(st.text(max_size=40), max_size=12))
@settings(max_examples=30)
def test_words_of_others_stay_text(words: str, log: list[str]) -> None:
    """Whatever a pull request, a library or a job says, it is no markup and no mention."""
    evil = f"{HOSTILE}{words}"
    judged = report({Verdict.GONE: 1}, ExitCode.REGRESSION, warnings=(evil,))
    reason = BumpReason(BumpCode.CHANGED, evil)
    for text in (
        render(bump(notes=(evil,), reason=reason), judged),
        render(bump(notes=(evil,)), None, log=(evil, *log)),
    ):
        outside = re.sub(r"(`{3,})text\n.*?\n\1", "", text, flags=re.DOTALL)
        assert "<script>" not in outside
        assert "@someone" not in outside
        assert "\x1b" not in text
        assert len(text.encode()) < LIMIT


def test_a_log_cannot_leave_its_fence() -> None:
    """Backticks of a log end no block of code."""
    text = render(bump(), None, log=("```", "# forged", "````"))
    assert "`````text\n```\n# forged\n````\n`````" in text


def test_a_report_is_as_bad_as_its_worst_case() -> None:
    """A report that calls itself a pass beside a case that got slower is none."""
    judged = report({Verdict.REGRESSION: 1}, ExitCode.PASS)
    assert settle(bump(), Measured(judged)).code is ExitCode.REGRESSION


def test_endings_that_need_no_report() -> None:
    """Only a report or its loss follows from pins that were to be measured."""
    assert settle(bump(), Measured()).ending is Ending.LOST
    assert settle(bump(), Measured(code=ExitCode.REGRESSION)).code is ExitCode.NO_DATA
    assert settle(bump(), Measured(code=ExitCode.PASS)).code is ExitCode.NO_DATA
    assert settle(bump(), Measured(code=ExitCode.USAGE)).ending is Ending.STOPPED
