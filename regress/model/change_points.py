"""How well change points are found, by detector and kind of data."""

from typing import Final

import msgspec

__all__ = ["CHANGE_POINTS_SCHEMA", "ChangePointQuality", "DetectorTold", "Score"]

CHANGE_POINTS_SCHEMA: Final = 1


class _Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    pass


class Score(_Part, frozen=True):
    """One detector on one kind of series.

    Attributes
    ----------
    data
        Name of the kind, or of the real series.
    rounds
        Values a point; other tools take their median.
    true, found, right
        Change points that are there, that the detector named, and that fit each other one to one.
    alarmed
        Series in which it named one that is not there.
    series
        How many there were.
    drifting
        Series in which it called the whole a drift; null if it knows no drift.
    """

    detector: str
    data: str
    rounds: int
    true: int
    found: int
    right: int
    alarmed: int
    series: int
    drifting: int | None = None

    @property
    def precision(self) -> float | None:
        """Share of the named ones that are there; None if none was named."""
        return self.right / self.found if self.found else None

    @property
    def recall(self) -> float | None:
        """Share of those that are there that were named; None if there is none."""
        return self.right / self.true if self.true else None

    @property
    def f1(self) -> float | None:
        """Harmonic mean of both; None if there is nothing to find."""
        return 2 * self.right / (self.true + self.found) if self.true else None


class DetectorTold(_Part, frozen=True):
    """A detector that was compared.

    Attributes
    ----------
    settings
        What it ran with, in words.
    seconds
        For all series together, on one core.
    missing
        Why it did not run; empty if it did.
    """

    name: str
    settings: str
    seconds: float | None
    missing: str = ""


class ChangePointQuality(_Part, frozen=True):
    """The comparison.

    Attributes
    ----------
    seed
        Of the generated series.
    tolerance
        Points by which a change point may be misplaced.
    """

    schema: int
    command: str
    seed: int
    tolerance: int
    detectors: tuple[DetectorTold, ...]
    generated: tuple[Score, ...]
    real: tuple[Score, ...]
