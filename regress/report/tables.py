"""Tables of the documentation, made from the code they document."""

from regress.model.reason import REASONS
from regress.model.verdict import EXIT_CODES, WORST_FIRST

__all__ = ["render_reasons", "render_verdicts"]


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
