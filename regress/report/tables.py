"""Tables of the documentation, made from the code they document."""

from regress.model.reason import REASONS
from regress.model.verdict import EXIT_CODES, WORST_FIRST
from regress.model.waiver import WAIVER_STATES

__all__ = ["render_reasons", "render_verdicts", "render_waiver_states"]


def render_verdicts() -> str:
    """Return the verdicts, worst first, with the exit code of each."""
    rows = (f"| {v} | {EXIT_CODES[v].value} |" for v in WORST_FIRST)
    return "\n".join(("| verdict | exit code |", "|---|---|", *rows)) + "\n"


def render_reasons() -> str:
    """Return the reason codes with what they mean and what to do."""
    rows = (
        f"| `{code}` | {known.verdict} | {known.meaning} | {known.remedy} |"
        for code, known in REASONS.items()
    )
    header = "| code | verdict | meaning | what to do |"
    return "\n".join((header, "|---|---|---|---|", *rows)) + "\n"


def render_waiver_states() -> str:
    """Return what may become of a waiver, and what to do about it."""
    rows = (
        f"| `{state}` | {known.meaning} | {known.remedy} |"
        for state, known in WAIVER_STATES.items()
    )
    return "\n".join(("| state | meaning | what to do |", "|---|---|---|", *rows)) + "\n"
