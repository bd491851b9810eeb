"""What a report says about a bump, in the few sentences that a reviewer reads first."""

from collections import Counter
from collections.abc import Iterator
from typing import Final

from regress.counted import bounded, counted
from regress.errors import ExitCode
from regress.model.bump import Bump
from regress.model.finding import Change, Finding
from regress.model.report import CheckReport
from regress.model.verdict import WORST_FIRST, Verdict
from regress.report.finding_text import FOLDED, render_change
from regress.report.headline import section
from regress.report.markdown import escaped, literal
from workloads.backend import BACKENDS

__all__ = [
    "failing",
    "render_causes",
    "render_counted",
    "render_hint",
    "render_measured_on",
    "render_moves",
    "render_title",
    "render_why",
]

_TITLES: Final = {
    Verdict.BROKEN: "attention gives wrong results",
    Verdict.GONE: "attention kernels stopped working",
    Verdict.REGRESSION: "attention got slower",
    Verdict.VARIANCE: "attention got noisier",
    Verdict.NO_DATA: "attention was not measured completely",
    Verdict.UNDECIDED: "attention is not decided yet",
    Verdict.WAIVED: "attention got worse, which is waived",
    Verdict.IMPROVEMENT: "attention got faster",
    Verdict.NEW: "attention is as fast as before",
    Verdict.SAME: "attention is as fast as before",
}
_ARE: Final = {
    Verdict.BROKEN: ("gives wrong results", "give wrong results"),
    Verdict.GONE: ("no longer runs", "no longer run"),
    Verdict.REGRESSION: ("is slower", "are slower"),
    Verdict.VARIANCE: ("is noisier", "are noisier"),
    Verdict.NO_DATA: ("has no data", "have no data"),
    Verdict.UNDECIDED: ("is undecided", "are undecided"),
    Verdict.WAIVED: ("is worse and waived", "are worse and waived"),
    Verdict.IMPROVEMENT: ("is faster", "are faster"),
    Verdict.NEW: ("is new", "are new"),
    Verdict.SAME: ("is the same", "are the same"),
}
_MOVED: Final = (Verdict.REGRESSION, Verdict.IMPROVEMENT)
_NO_CAUSE: Final = frozenset({"cubin", "kernels", "sm_mhz", "throttled", "error"}) | FOLDED
"""What differs, too, without saying much to whoever bumps a version."""
_FEW: Final = 3


def render_title(report: CheckReport) -> str:
    """Return what became of attention, in a few words."""
    return _TITLES[report.verdict]


def render_moves(bump: Bump) -> str:
    """Return e.g. `flashinfer-python 0.6.0 → 0.6.1` for every library that changed."""
    return ", ".join(
        f"{change.library} {change.base or 'none'} → {change.head or 'none'}"
        for change in bump.changes
    )


def render_counted(report: CheckReport) -> str:
    """Return how many cases became what, with the range of ratios: plain text."""
    counts = Counter(cell.verdict for cell in report.cells)
    parts = [_part(report, verdict, counts[verdict]) for verdict in WORST_FIRST if counts[verdict]]
    *most, last = parts or ["none was judged"]
    told = f"{', '.join(most)} and {last}" if most else last
    whole = len(report.cells)
    if len(parts) == 1 and whole > 1:
        return f"All {told.replace(str(whole), f'{whole} cases', 1)}."
    return f"Of {counted(whole, 'case')} {told}."


def _part(report: CheckReport, verdict: Verdict, count: int) -> str:
    ratios = [f.measured.ratio.estimate for f in section(report, verdict) if f.measured]
    told = f"{count} {_ARE[verdict][count != 1]}"
    if verdict not in _MOVED or not ratios:
        return told
    low, high = f"{min(ratios):.2f}x", f"{max(ratios):.2f}x"
    return f"{told} ({low if low == high else f'{low} to {high}'})"


def failing(report: CheckReport) -> list[Finding]:
    """Return the findings that keep the gate from passing, worst first."""
    return [
        f for f in report.findings if f.gates and report.code_of(f.verdict) is not ExitCode.PASS
    ]


def render_causes(report: CheckReport) -> Iterator[str]:
    """Yield what all slower cases have in common, as Markdown."""
    slower = section(report, Verdict.REGRESSION)
    backends = Counter(finding.series.case.backend for finding in slower)
    if 0 < len(backends) <= _FEW:
        names = " or ".join(literal(name) for name, _ in backends.most_common())
        many = f"All {len(slower)} slower ones run"
        yield f"{many if len(slower) > 1 else 'It runs'} {names}."
    shared = _shared(report)
    if shared:
        told = ", ".join(escaped(render_change(change)) for change in shared[:_FEW])
        all_of = f"in all {len(slower)}" if len(slower) > 1 else "with it"
        yield f"What changed {all_of}: {told}."


def _causes(finding: Finding) -> list[Change]:
    return [change for change in finding.evidence if change.name not in _NO_CAUSE]


def _shared(report: CheckReport) -> list[Change]:
    """Return what else changed in every slower case alike."""
    slower = section(report, Verdict.REGRESSION)
    causes = _causes(slower[0]) if slower else []
    return [change for change in causes if all(change in f.evidence for f in slower)]


def render_why(finding: Finding, report: CheckReport) -> str:
    """Return what else changed with a slower time and not with all; the reason of others."""
    if finding.verdict is not Verdict.REGRESSION:
        return escaped(finding.reason.message)
    shared = _shared(report)
    own = [change for change in _causes(finding) if change not in shared][:_FEW]
    if own:
        return "<br>".join(escaped(render_change(change)) for change in own)
    return "as above" if shared else "nothing in its plan changed"


def render_hint(report: CheckReport) -> str:
    """Return what may help where the library itself chose the backend that is slower."""
    slower = {f.series.case.backend for f in section(report, Verdict.REGRESSION)}
    if not any(known.chooses for known in BACKENDS if known.name in slower):
        return ""
    return (
        "It is the library that chooses the backend here: "
        f"{literal(f'python -m regress backends {report.head}')} tells whether asking for another "
        "one helps."
    )


def render_measured_on(report: CheckReport, run_url: str) -> str:
    """Return the line below: where, on how much, how often wrong, and where all of it is."""
    rounds = f"{len(report.rounds.base)} and {len(report.rounds.head)} rounds"
    where = f"{report.setup.get('gpu', report.machine)}, tier {report.tier}, {rounds}"
    return f"<sub>{escaped(where)} · {_alarms(report)} · [run and artifacts]({run_url})</sub>"


def _alarms(report: CheckReport) -> str:
    if report.error_rate is None:
        return "false-alarm rate not measured for this host"
    alarms = report.error_rate.alarms
    other = "" if report.error_rate.same_thresholds else ", with other thresholds"
    return (
        f"measured false-alarm rate: {alarms.hits} of {alarms.of} simulated gates in which nothing "
        f"changed (at most {bounded(alarms.high)}{other})"
    )
