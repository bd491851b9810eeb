"""What `bump` found, for the log of a job."""

from regress.model.bump import Bump, PinChange
from regress.report.printable import printable
from regress.report.workflow_commands import harmless

__all__ = ["render_bump", "render_change"]


def render_bump(bump: Bump) -> str:
    """Return a line for the state, each change and each note."""
    bump = printable(bump)
    where = f"{bump.repository} pull request {bump.pull} at {bump.head_sha[:12]}"
    lines = [
        f"{where}: {bump.state} [{bump.reason.code}]: {bump.reason.message}",
        *(f"  {render_change(change)} in {', '.join(change.files)}" for change in bump.changes),
        *(f"  note: {note}" for note in bump.notes),
    ]
    return harmless("\n".join(lines))


def render_change(change: PinChange) -> str:
    """Return e.g. `flashinfer-python 0.6.0 -> 0.6.1 (upgrade)`."""
    versions = f"{change.base or 'none'} -> {change.head or 'none'}"
    return f"{change.library} {versions} ({change.direction})"
