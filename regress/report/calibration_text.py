"""A calibration as text."""

from rich.console import Console

from regress.model.calibration import Calibration
from regress.report.calibration_tables import tables_of
from regress.report.printable import printable
from regress.report.view import View, render_table

__all__ = ["render_calibration_text"]


def render_calibration_text(told: Calibration, view: View) -> str:
    """Return the tables for a person at a terminal."""
    told = printable(told)

    def write(console: Console) -> None:
        console.print(
            f"{told.gates} gates of tier {told.tier} simulated from {told.machine} "
            f"({told.setup['gpu']}), seed {told.seed}, thresholds {told.thresholds}",
            style="bold",
        )
        for table in tables_of(told):
            console.print(f"\n{table.title}", style="bold")
            console.print(render_table(table.header, table.rows))
            if table.note:
                console.print(table.note, style="dim")
        console.print()
        for warning in told.warnings:
            console.print(f"Warning: {warning}")
        console.print(f"Reproduce: {told.command}")

    return view.draw(write)
