"""The quality of change points as tables of a page: a row a kind of series, a column a detector."""

from collections.abc import Iterable, Sequence

from regress.model.change_points import ChangePointQuality, Score
from regress.report.markdown import row, table

__all__ = ["render_change_point_blocks", "render_change_points"]


def render_change_point_blocks(told: ChangePointQuality) -> dict[str, str]:
    """Return the tables of the page by the name of their block."""
    detectors = (
        row(
            (
                d.name,
                d.settings,
                "-" if d.seconds is None else f"{d.seconds:g} s",
                d.missing or "yes",
            )
        )
        for d in told.detectors
    )
    blocks = {"detectors": _lines(table("detector", "runs with", "CPU time", "ran"), detectors)}
    for rounds in dict.fromkeys(score.rounds for score in told.generated):
        scores = [score for score in told.generated if score.rounds == rounds]
        blocks[f"generated-{rounds}"] = _pivot(scores)
    return blocks | {"treeherder": _pivot(told.real)}


def render_change_points(told: ChangePointQuality) -> str:
    """Return all tables one below the other."""
    return "\n".join(render_change_point_blocks(told).values())


def _lines(*parts: Iterable[str]) -> str:
    return "\n".join(line for part in parts for line in part) + "\n"


def _pivot(scores: Sequence[Score]) -> str:
    names = list(dict.fromkeys(score.detector for score in scores))
    cells = {(score.data, score.detector): _cell(score) for score in scores}
    kinds = dict.fromkeys(score.data for score in scores)
    rows = (row((kind, *(cells[kind, name] for name in names))) for kind in kinds)
    return _lines(table("series", *names), rows)


def _cell(score: Score) -> str:
    """Return F1 with precision and recall, or in how many series there was a false one."""
    drift = f", {score.drifting} called drift" if score.drifting else ""
    if score.f1 is None:
        return f"{score.alarmed} of {score.series} alarmed{drift}"
    precision = "-" if score.precision is None else f"{score.precision:.2f}"
    return f"{score.f1:.2f} ({precision} / {score.recall:.2f}){drift}"
