"""The tables of a calibration as Markdown, by name: the documentation is filled with them."""

from regress.model.calibration import Calibration
from regress.report.calibration_tables import Table, tables_of

__all__ = ["render_calibration_blocks", "render_calibration_markdown"]


def render_calibration_blocks(told: Calibration) -> dict[str, str]:
    """Return every table by its name, and `calibrated`, which says what they rest on."""
    blocks = {table.name: _render(table) for table in tables_of(told)}
    blocks["calibrated"] = (
        f"{told.gates} gates of tier {told.tier}, drawn from rounds on {told.setup['gpu']}; seed "
        f"{told.seed}, thresholds `{told.thresholds}`.\n"
    )
    return blocks


def render_calibration_markdown(told: Calibration, _view: object = None) -> str:
    """Return all tables under their titles."""
    parts = (f"## {table.title}\n\n{_render(table)}" for table in tables_of(told))
    return "\n".join(parts)


def _render(table: Table) -> str:
    rows = (table.header, tuple("---" for _ in table.header), *table.rows)
    lines = "".join(f"| {' | '.join(row)} |\n" for row in rows)
    return f"{lines}\n{table.note}\n" if table.note else lines
