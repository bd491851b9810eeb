"""Real performance series of Mozilla's Treeherder, with the change points of its own test."""

from pathlib import Path
from typing import Any, Final

import msgspec
import numpy as np

from regress.errors import UsageError
from regress.pipeline.change_points.generated import Labelled

__all__ = ["EXPECTED", "load_treeherder"]

EXPECTED: Final = {
    "runs1": (1365019665,),
    "runs2": (1357704596, 1358971894, 1365014104),
    "tp5rss": (1372846906, 1373413365, 1373424974),
}
"""Unix times of the change points that Treeherder's own test expects of its own detector."""


class _Runs(msgspec.Struct, frozen=True):
    """`test_runs` rows: id, build, time in Unix seconds, value, …."""

    test_runs: list[list[Any]]


def load_treeherder(folder: Path) -> dict[str, Labelled]:
    """Read the series that are there, each with the index of every expected change.

    Raises
    ------
    UsageError
        If none is there, or one is damaged.
    """
    paths = {name: folder / f"{name}.json" for name in EXPECTED}
    found = {name: _load(path, EXPECTED[name]) for name, path in paths.items() if path.is_file()}
    if not found:
        msg = f"--treeherder {folder} holds none of {', '.join(p.name for p in paths.values())}"
        raise UsageError(msg)
    return found


def _load(path: Path, expected: tuple[int, ...]) -> Labelled:
    try:
        runs = msgspec.json.decode(path.read_bytes(), type=_Runs).test_runs
        times = [int(run[2]) for run in runs]
        values = np.array([float(run[3]) for run in runs])
    except (OSError, msgspec.MsgspecError, ValueError, TypeError, IndexError) as error:
        msg = f"{path} holds no runs of Treeherder: {error}"
        raise UsageError(msg) from error
    if not values.size or not (np.isfinite(values) & (values > 0)).all():
        msg = f"{path} holds values that are not positive"
        raise UsageError(msg)
    changes = tuple(int(np.searchsorted(times, time)) for time in expected)
    return Labelled((values[:, None],), (changes,))
