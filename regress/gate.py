"""The gate: one verdict a cell, one for the run, and the exit code."""

from collections.abc import Iterable, Sequence

from regress.errors import ExitCode, worst
from regress.model.finding import Finding
from regress.model.report import CellVerdict
from regress.model.verdict import WORST_FIRST, Verdict, exit_code_of, join
from workloads.record import Case

__all__ = ["cell_verdicts", "gate", "worst_first"]


def cell_verdicts(findings: Iterable[Finding]) -> tuple[CellVerdict, ...]:
    """Join the findings that count, case by case; a waived one counts as WAIVED, never as SAME."""
    families: dict[Case, str] = {}
    grouped: dict[Case, list[Verdict]] = {}
    for finding in findings:
        if finding.gates or finding.waived is not None:
            case = finding.series.case
            families[case] = finding.family
            verdict = finding.verdict if finding.gates else Verdict.WAIVED
            grouped.setdefault(case, []).append(verdict)
    return tuple(CellVerdict(case, families[case], join(found)) for case, found in grouped.items())


def gate(cells: Sequence[CellVerdict], *, variance_fails: bool = False) -> tuple[Verdict, ExitCode]:
    """Return the run's verdict and exit code. A run without any judged cell is no pass.

    A waived cell was judged: a run of nothing else is WAIVED and passes under that name.
    """
    if not cells:
        return Verdict.NO_DATA, ExitCode.NO_DATA
    verdicts = [cell.verdict for cell in cells]
    codes = (exit_code_of(verdict, variance_fails=variance_fails) for verdict in verdicts)
    return join(verdicts), worst(codes)


def worst_first(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Sort by verdict, then by how far head got slower."""

    def rank(finding: Finding) -> tuple[bool, int, float, Case]:
        ratio = finding.measured.ratio.estimate if finding.measured else 0.0
        order = WORST_FIRST.index(finding.verdict)
        return not finding.gates, order, -ratio, finding.series.case

    return tuple(sorted(findings, key=rank))
