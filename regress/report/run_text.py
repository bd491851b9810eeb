"""What a run of `ab` did: its stages, its cost, and how often such a run may be wrong."""

from collections.abc import Iterator

from regress.counted import counted
from regress.model.run import RunTold

__all__ = ["STAGE_HEADER", "render_run", "stage_rows"]

STAGE_HEADER = ("stage", "rounds", "cells", "same", "suspect", "open", "no time", "GPU s")


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
        f"Run {run.id}: {run.seconds:.0f} GPU seconds in {run.elapsed_s:.0f} seconds, {campaigns}."
    )
    yield (
        f"If nothing differs, at most {run.family_alpha:.1%} of such runs call any cell slower and "
        f"at most {run.spread_alpha:.1%} call any noisier."
    )
