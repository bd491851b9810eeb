"""What a run of `ab` did: its stages, its cost, and how often such a run may be wrong."""

from collections.abc import Iterator

from regress.counted import bounded, counted
from regress.model.rates import ErrorRate
from regress.model.report import CheckReport
from regress.model.run import RunTold

__all__ = ["STAGE_HEADER", "render_certainty", "render_error_rate", "render_run", "stage_rows"]

STAGE_HEADER = ("stage", "rounds", "cells", "same", "suspect", "open", "no time", "GPU s")


def render_certainty(report: CheckReport) -> Iterator[str]:
    """Yield what is known of how often such a report is wrong: proved, then simulated."""
    if report.run:
        yield from render_run(report.run)
    if report.error_rate:
        yield from render_error_rate(report.error_rate)


def stage_rows(run: RunTold) -> Iterator[tuple[str, ...]]:
    """Yield what became of the cells in each stage, in the columns of `STAGE_HEADER`."""
    for stage in run.stages:
        counts = (stage.rounds, stage.cells, stage.equal, stage.suspect, stage.open)
        yield (
            stage.name,
            *map(str, counts),
            str(stage.without_time),
            f"{stage.seconds:.0f}",
        )


def render_run(run: RunTold) -> Iterator[str]:
    """Yield sentences: what it cost, and its error rates."""
    campaigns = counted(len(run.campaigns), "campaign")
    yield (
        f"Run {run.id}: {run.seconds:.0f} GPU seconds in {run.elapsed_s:.0f} seconds "
        f"(the next process starts while one measures), {campaigns}."
    )
    yield (
        f"Proved: of runs in which no cell got worse beyond its margin, at most "
        f"{bounded(run.family_alpha)} call any slower and at most "
        f"{bounded(run.spread_alpha)} any noisier."
    )


def render_error_rate(told: ErrorRate) -> Iterator[str]:
    """Yield sentences: how often such a report is wrong in simulation, and what it misses."""
    alarms = told.alarms
    yield (
        f"Simulated, {told.rounds_a_side} rounds a side: {alarms.hits} of {alarms.of} gates in "
        f"which nothing changed had a false alarm (at most {bounded(alarms.high)}), drawn from "
        f"{counted(told.rounds, 'round')} of {counted(told.campaigns, 'campaign')}, "
        f"tier {told.tier}."
    )
    power = ", ".join(f"{name} in {rate.share:.0%}" for name, rate in told.power.items())
    where = "a quiet cell" if told.command == "ab" else "a cell"
    yield f"A slow-down of {where} is found: {power}."
    if told.uncalibrated:
        cells = counted(told.uncalibrated, "cell")
        yield f"{cells} not calibrated: their floors rest on few rounds."
    if not told.same_thresholds:
        yield "These figures are of other thresholds than this report's: calibrate again."
