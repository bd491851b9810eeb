"""What the gate shows beside a run: annotations, of which GitHub keeps ten of each level a step."""

from collections.abc import Iterator
from itertools import islice
from typing import Final

from regress.errors import ExitCode
from regress.model.bump import Bump
from regress.model.ending import Ending, Measured, Settled
from regress.report.finding_text import render_figures
from regress.report.gate_comment import render_headline
from regress.report.gate_story import failing
from regress.report.printable import printable
from regress.report.workflow_commands import annotation

__all__ = ["render_annotations"]

_MOST: Final = 9
_QUIET: Final = (Ending.UNCHANGED, Ending.SET_ASIDE)


def render_annotations(bump: Bump, settled: Settled, measured: Measured) -> str:
    """Return the verdict, the worst cases and the notes; nothing where all is quiet."""
    if settled.ending in _QUIET:
        return ""
    level = "notice" if settled.code is ExitCode.PASS else "error"
    headline = annotation(level, "attention gate", render_headline(bump, settled, measured))
    notes = (annotation("warning", "attention gate", note) for note in bump.notes)
    return "".join((headline, *islice(_cases(measured), _MOST), *islice(notes, _MOST)))


def _cases(measured: Measured) -> Iterator[str]:
    if measured.report:
        report = printable(measured.report)
        for finding in failing(report):
            told = " ".join((*render_figures(finding), finding.reason.message))
            yield annotation("error", f"{finding.verdict} {finding.series.case}", told)
