"""Precision and recall of change points, detector by detector and kind by kind."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from time import process_time
from typing import Final

import numpy as np

from regress.config import Config
from regress.detect.change_points import DETECTORS, Detector, Points
from regress.detect.change_points.windows import find_in
from regress.model.change_points import (
    CHANGE_POINTS_SCHEMA,
    ChangePointQuality,
    DetectorTold,
    Score,
)
from regress.pipeline.change_points.generated import KINDS, Labelled, generate
from regress.pipeline.change_points.otava import OTAVA, OTAVA_SETTINGS, otava_points
from regress.pipeline.change_points.treeherder import load_treeherder
from regress.stats.exact import Floats

__all__ = ["ROUNDS", "SEED", "SERIES", "TOLERANCE", "matched", "measure_quality"]

SEED: Final = 20260101
SERIES: Final = 100
"""Generated series of each kind."""
ROUNDS: Final = (1, 5)
"""Values a point: as other tools are used, and as releases are measured."""
TOLERANCE: Final = 3
_KNOWS_DRIFT: Final = next(iter(DETECTORS))

_Find = Callable[[Sequence[Floats]], Points]


def measure_quality(
    config: Config,
    command: str,
    treeherder: Path | None = None,
    otava: Path | None = None,
    number: int = SERIES,
) -> ChangePointQuality:
    """Run every detector over the same series.

    Parameters
    ----------
    treeherder
        Folder of Treeherder's series; None leaves them out.
    otava
        Folder that Otava is installed in; None leaves it out, and says so.

    Raises
    ------
    UsageError
        If a folder does not hold what it should.
    """
    made = {(k, n): generate(k, number, n, SEED) for n in ROUNDS for k in KINDS}
    loaded = load_treeherder(treeherder) if treeherder else {}
    real = {(name, 1): labelled for name, labelled in loaded.items()}
    told, generated, measured = [], [], []
    for name, (find, settings) in _finders(config, otava).items():
        if find is None:
            told.append(DetectorTold(name, settings, None, "not run: no --otava DIR was given"))
            continue
        start = process_time()
        generated += list(_scores(name, find, made, config))
        measured += list(_scores(name, find, real, config))
        own = None if name == OTAVA else round(process_time() - start, 2)
        told.append(DetectorTold(name, settings, own))
    return ChangePointQuality(
        schema=CHANGE_POINTS_SCHEMA,
        command=command,
        seed=SEED,
        tolerance=TOLERANCE,
        detectors=tuple(told),
        generated=tuple(generated),
        real=tuple(measured),
    )


def _finders(config: Config, otava: Path | None) -> dict[str, tuple[_Find | None, str]]:
    finders: dict[str, tuple[_Find | None, str]] = {
        name: (_bound(detector, config), settings)
        for name, (detector, settings) in DETECTORS.items()
    }
    run_otava = partial(otava_points, folder=otava) if otava else None
    return finders | {OTAVA: (run_otava, OTAVA_SETTINGS)}


def _bound(detector: Detector, config: Config) -> _Find:
    return lambda series: detector(series, config.history)


def _scores(
    name: str, find: _Find, data: Mapping[tuple[str, int], Labelled], config: Config
) -> Iterator[Score]:
    for (kind, rounds), labelled in data.items():
        found = find(labelled.rounds)
        pairs = list(zip(found, labelled.changes, strict=True))
        rights = [matched(points, changes) for points, changes in pairs]
        drifting = None
        if name == _KNOWS_DRIFT:
            drifting = len(find_in(labelled.rounds, config.history).drifts)
        yield Score(
            detector=name,
            data=kind,
            rounds=rounds,
            true=sum(len(changes) for _, changes in pairs),
            found=sum(len(points) for points, _ in pairs),
            right=sum(rights),
            alarmed=sum(
                len(points) > right for (points, _), right in zip(pairs, rights, strict=True)
            ),
            series=len(pairs),
            drifting=drifting,
        )


def matched(points: Sequence[int], changes: Sequence[int], tolerance: int = TOLERANCE) -> int:
    """Return how many change points fit one each, nearest pairs first."""
    if not points or not changes:
        return 0
    gaps = np.abs(np.subtract.outer(np.array(points), np.array(changes))).astype(float)
    right = 0
    while gaps.min() <= tolerance:
        row, column = np.unravel_index(int(gaps.argmin()), gaps.shape)
        gaps[row, :] = gaps[:, column] = np.inf
        right += 1
    return right
