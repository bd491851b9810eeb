"""Waivers as text: what is accepted and by whom, and which waivers need somebody's attention."""

from collections.abc import Iterator

from regress.counted import counted
from regress.model.finding import Finding
from regress.model.report import CheckReport
from regress.model.waiver import WAIVER_STATES, WaiverState, WaiverUse

__all__ = [
    "acceptance_of",
    "accepted",
    "render_acceptance",
    "render_elsewhere",
    "render_waiver_findings",
]


def accepted(report: CheckReport) -> Iterator[tuple[WaiverUse, list[Finding]]]:
    """Yield the waivers that apply, each with the findings that it waives."""
    for use in report.waivers:
        found = [f for f in report.findings if f.waived == use.number]
        if found:
            yield use, found


def render_acceptance(use: WaiverUse) -> str:
    """Return who accepts what a waiver fits, until when and why."""
    waiver = use.waiver
    return (
        f"accepted by {waiver.owner} until {waiver.expires}: {waiver.reason} (waiver {use.number})"
    )


def acceptance_of(finding: Finding, report: CheckReport) -> str:
    """Return who accepts a waived finding, until when and why; empty if it is not waived."""
    return next((render_acceptance(u) for u in report.waivers if u.number == finding.waived), "")


def render_waiver_findings(report: CheckReport) -> Iterator[str]:
    """Yield a line for each waiver about which somebody should do something."""
    for use in report.waivers:
        known = WAIVER_STATES[use.state]
        if known.finding:
            yield (
                f"{report.waiver_file}: waiver {use.number} ({use.waiver.cells!r}, owner "
                f"{use.waiver.owner}): {use.note}. {known.remedy} [{use.state}]"
            )


def render_elsewhere(report: CheckReport) -> str:
    """Return how many waivers say nothing of this comparison; empty if there are none."""
    others = sum(use.state is WaiverState.ELSEWHERE for use in report.waivers)
    return f"{counted(others, 'waiver')} about other stacks or cells." if others else ""
