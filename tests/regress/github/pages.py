"""Comments of made-up runs as web pages, to look at: `python -m tests.regress.github.pages DIR`."""

import sys
from pathlib import Path

from markdown_it import MarkdownIt

from regress.errors import ExitCode
from regress.github.settle import settle
from regress.model.bump import Bump, BumpCode, BumpReason, Given, State
from regress.model.ending import Doctor, DoctorFinding, Measured
from regress.model.verdict import Verdict
from regress.report.gate_comment import render_comment
from regress.report.gate_endings import render_accepted
from tests.regress.github.reports import bump, report
from tests.regress.github.worlds import HEAD

__all__ = ["RUN_URL", "SAMPLES", "comment_of", "render_page"]

RUN_URL = "https://github.com/acme/engine/actions/runs/1"
UNFIT = Doctor(
    fit=False,
    findings=(DoctorFinding("error", "GPU in use", "process 77 (python) is on it", "wait for it"),),
)
SAMPLES: dict[str, tuple[Bump, Measured]] = {
    "0-findings": (bump(), Measured(report({Verdict.SAME: 72}, ExitCode.PASS))),
    "1-finding": (
        bump(),
        Measured(report({Verdict.REGRESSION: 1, Verdict.SAME: 71}, ExitCode.REGRESSION)),
    ),
    "40-findings": (
        bump(notes=("r.txt: flash-attn>=2 is no exact pin and cannot be gated",)),
        Measured(
            report(
                {
                    Verdict.GONE: 3,
                    Verdict.REGRESSION: 27,
                    Verdict.UNDECIDED: 2,
                    Verdict.IMPROVEMENT: 8,
                    Verdict.SAME: 32,
                },
                ExitCode.REGRESSION,
            )
        ),
    ),
    "400-findings": (
        bump(),
        Measured(report({Verdict.REGRESSION: 400, Verdict.SAME: 200}, ExitCode.REGRESSION)),
    ),
    "faster": (
        bump(),
        Measured(report({Verdict.IMPROVEMENT: 16, Verdict.SAME: 56}, ExitCode.PASS), replayed=True),
    ),
    "undecided": (
        bump(),
        Measured(report({Verdict.UNDECIDED: 4, Verdict.SAME: 68}, ExitCode.UNDECIDED)),
    ),
    "lost": (bump(), Measured(log=("measuring round 3 of 8", "Killed"))),
    "unfit": (bump(), Measured(doctor=UNFIT)),
    "stopped": (
        bump(),
        Measured(code=ExitCode.USAGE, log=("regress: no version 0.6.99 of flashinfer-python",)),
    ),
    "waiting": (
        bump(state=State.SKIPPED, reason=BumpReason(BumpCode.NEEDS_LABEL, "from a fork")),
        Measured(),
    ),
    "refused": (
        bump(
            state=State.REFUSED,
            changes=(),
            reason=BumpReason(BumpCode.BAD_VERSION, "r.txt: fa3-fwd==$(id) <b>x</b> @all #1"),
        ),
        Measured(),
    ),
    "accepted": (
        bump(
            state=State.ACCEPTED,
            accepted=Given(
                "attention-regression-accepted", "keeper", "maintain", "2026-01-01T10:02", HEAD
            ),
        ),
        Measured(report({Verdict.REGRESSION: 1, Verdict.SAME: 71}, ExitCode.REGRESSION)),
    ),
}
_STYLE = """
body {font: 14px/1.5 -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; width: 830px;
 margin: 16px auto; color: #1f2328; border: 1px solid #d1d9e0; border-radius: 6px; padding: 16px}
table {border-collapse: collapse; display: block; overflow: auto; width: max-content;
 max-width: 100%; margin-bottom: 16px} td, th {border: 1px solid #d1d9e0; padding: 6px 13px}
code {background: #eff1f3; padding: .2em .4em; font-size: 85%; border-radius: 6px;
 white-space: break-spaces} pre {background: #f6f8fa; padding: 16px; overflow: auto}
pre code {background: none; padding: 0} h3 {font-size: 1.25em} h4 {font-size: 1em}
blockquote {border-left: .25em solid #d1d9e0; color: #59636e; padding: 0 1em; margin-left: 0}
details {margin: 4px 0}
"""


def comment_of(name: str) -> str:
    """Return the comment of a made-up run."""
    told, measured = SAMPLES[name]
    if told.accepted:
        verdict = render_comment(bump(), settle(bump(), measured), measured, RUN_URL)
        return render_accepted(told) + verdict
    return render_comment(told, settle(told, measured), measured, RUN_URL)


def render_page(text: str) -> str:
    """Return Markdown as a page, laid out as GitHub lays out a comment."""
    html = MarkdownIt("commonmark", {"html": True}).enable("table").render(text)
    return f"<!doctype html><meta charset=utf-8><style>{_STYLE}</style><body>{html}</body>"


if __name__ == "__main__":
    for sample in SAMPLES:
        page = render_page(comment_of(sample))
        (Path(sys.argv[1]) / f"{sample}.html").write_text(page, encoding="utf-8")
