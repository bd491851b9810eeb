"""The findings of a history that most readers want, as a Markdown list."""

from math import log

from regress.model.finding import Metric
from regress.model.history import History, HistoryFinding
from regress.model.verdict import Verdict
from regress.report.markdown import escaped, literal

__all__ = ["render_controls", "render_top_findings", "top_findings"]

_SHOWN = 3
_WORSE = (Verdict.REGRESSION, Verdict.GONE, Verdict.BROKEN)


def render_top_findings(told: History) -> str:
    """Return the findings that reach furthest, each with its cause and what became of it."""
    lines = [_line(finding) for finding in top_findings(told)]
    return "\n".join(lines or ("Nothing was shown to change.",)) + "\n"


def top_findings(told: History, number: int = _SHOWN) -> tuple[HistoryFinding, ...]:
    """Return the changes of kernel time that reach furthest: standing ones for the worse first.

    How far one reaches is the number of its cells times the logarithm of their median ratio.
    """
    kernel = [f for f in told.findings if f.metric is Metric.KERNEL_TIME and f.size is not None]

    def rank(finding: HistoryFinding) -> tuple[bool, float]:
        standing = finding.verdict in _WORSE and finding.standing
        return not standing, -len(finding.cases) * abs(log(finding.size or 1))

    return tuple(sorted(kernel, key=rank)[:number])


def _line(finding: HistoryFinding) -> str:
    where = f"**{literal(finding.first_bad)}** (after {literal(finding.last_good)})"
    told = [_sentence(finding.reason)]
    if finding.cause.explained:
        told.append(_sentence(finding.cause.summary.partition(";")[0]))
    return f"- {where}: {' '.join(told)}{_ending(finding)}"


def _sentence(text: str) -> str:
    return escaped(f"{text[:1].upper()}{text[1:].rstrip('.')}") + "."


def _ending(finding: HistoryFinding) -> str:
    if finding.recovered_by:
        return f" Taken back by {literal(finding.recovered_by)}."
    return " It stands." if finding.verdict in _WORSE else ""


def render_controls(told: History) -> str:
    """Return the measured false-alarm rate as a sentence."""
    group = told.controls
    if not group.cells:
        return "No two releases ran identical kernels: the false-alarm rate is not measured.\n"
    most = f", at most {group.upper_rate:.1%} (95 %)" if group.upper_rate is not None else ""
    return (
        f"{group.alarms} of {group.cells} comparisons of identical kernels in consecutive releases "
        f"called a change{most}.\n"
    )
