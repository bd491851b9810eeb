"""One finding as lines of text: figures, reason, and what else differs between the sides."""

import re
from collections.abc import Iterator
from typing import Final

from regress.model.finding import Change, Finding, Scalar
from regress.report.view import View, render_ratio

__all__ = ["FOLDED", "render_change", "render_evidence", "render_figures", "render_finding"]

FOLDED: Final = frozenset({"padded_batch", "q_tile", "max_splits", "work_items"})
"""Facts of a plan that follow from others."""
_KERNELS: Final = "kernels"
_LAUNCH: Final = re.compile(r"<<<.*?>>>")
_LONGEST: Final = 70
_LARGE: Final = 1e6
_PLAIN: Final = View()


def render_finding(finding: Finding, view: View) -> tuple[str, ...]:
    """Return the case with its figures, the reason with evidence, and kernels if they changed."""
    figures = "".join(f"{text}  " for text in render_figures(finding))
    told = "; ".join((finding.reason.message, *_facts(finding, view), *_folded(finding, view)))
    return (
        f"  {figures}{finding.series.case}",
        f"      {told} [{finding.reason.code}]",
        *(f"      {text}" for text in _kernels_of(finding, view)),
    )


def render_figures(finding: Finding) -> tuple[str, ...]:
    """Return the ratio with its interval, and both times; nothing without figures."""
    measured = finding.measured
    if measured is None:
        return ()
    times = f"{measured.base_us:.1f} -> {measured.head_us:.1f} us"
    return render_ratio(measured.ratio), times


def render_evidence(finding: Finding, view: View) -> tuple[str, ...]:
    """Return what else differs between the sides, one text a thing, without what follows."""
    return (*_facts(finding, view), *_kernels_of(finding, view))


def _facts(finding: Finding, view: View) -> Iterator[str]:
    if finding.measured and finding.measured.cycles:
        yield f"{render_ratio(finding.measured.cycles)} in SM cycles"
    for change in finding.evidence:
        if change.name != _KERNELS and (view.everything or change.name not in FOLDED):
            yield render_change(change, view)


def _folded(finding: Finding, view: View) -> Iterator[str]:
    """Yield how many facts are not shown, for a terminal, where `--all` shows them."""
    folded = sum(change.name in FOLDED for change in finding.evidence)
    if folded and not view.everything:
        yield f"{folded} more: --all"


def render_change(change: Change, view: View = _PLAIN) -> str:
    """Return a difference between the sides, e.g. `resolved_backend fa2 -> fa3`."""
    return f"{change.name} {_short(change.base, view)} -> {_short(change.head, view)}"


def _kernels_of(finding: Finding, view: View) -> Iterator[str]:
    return (_kernels(c, view) for c in finding.evidence if c.name == _KERNELS)


def _kernels(change: Change, view: View) -> str:
    """Return names alone; their launch shapes follow from facts that stand beside them."""
    sides = change.base, change.head
    if not view.everything:
        sides = _names(change.base), _names(change.head)
        if sides[0] == sides[1]:
            return f"{_KERNELS} in other launch shapes: {_short(sides[0], view)}"
    base, head = (_short(side, view) for side in sides)
    return f"{_KERNELS} {base} -> {head}"


def _names(kernels: Scalar) -> str:
    names = _LAUNCH.sub("", str(kernels)).split(" + ")
    return " + ".join(name.rsplit("::", 1)[-1] for name in names)


def _short(value: Scalar, view: View) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        text = value
    else:
        text = f"{value:g}" if abs(value) < _LARGE else f"{value:,.0f}"
    return text if view.everything or len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
