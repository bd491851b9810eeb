"""The configuration: strict, versioned, and the only home of thresholds."""

from collections.abc import Iterator
from itertools import pairwise
from math import isfinite
from pathlib import Path
from typing import Annotated, Any, Final

import msgspec

from regress.errors import UsageError

__all__ = [
    "DEFAULT_FILE",
    "AbRule",
    "Allowance",
    "BackendsRule",
    "Config",
    "ErrorRule",
    "EvidenceRule",
    "HistoryRule",
    "NoiseRule",
    "SpreadRule",
    "ThresholdsRule",
    "TimeRule",
    "WaiversRule",
    "load_config",
    "parse_config",
]

DEFAULT_FILE: Final = Path(__file__).with_name("default.toml")
_VERSION: Final = 1

Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
Positive = Annotated[float, msgspec.Meta(gt=0)]
NotNegative = Annotated[float, msgspec.Meta(ge=0)]
AtLeastOne = Annotated[float, msgspec.Meta(ge=1)]
Alpha = Annotated[float, msgspec.Meta(gt=0, lt=0.5)]
Count = Annotated[int, msgspec.Meta(ge=1)]


class _Section(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    pass


class Allowance(_Section, frozen=True):
    """A relative difference that is allowed: the largest of what applies, within a maximum.

    Attributes
    ----------
    minimum, small_minimum
        Least value, for cells above and below `noise.small_below_us`.
    noise_factor
        Times the cell's own standard deviation between processes.
    block_minimum
        Least value when the sides are compared across campaigns.
    maximum
        Largest value, however noisy the cell is.
    """

    minimum: NotNegative
    small_minimum: NotNegative
    noise_factor: NotNegative
    block_minimum: NotNegative
    maximum: Positive

    def least(self, *, small: bool, block: bool) -> float:
        """Return the value for a cell without noise."""
        least = self.small_minimum if small else self.minimum
        return max(least, self.block_minimum) if block else least

    def of(self, noise: float | None, *, small: bool, block: bool) -> float:
        """Return the value for a cell with this noise (None if unknown)."""
        least = self.least(small=small, block=block)
        return max(least, min(self.noise_factor * (noise or 0.0), self.maximum))


class TimeRule(_Section, frozen=True):
    """How one time metric is compared; see the comments in `default.toml`."""

    gates: bool
    min_rounds: Count
    most_rounds: Count
    alpha: Alpha
    equivalence_alpha: Alpha
    floor: Allowance
    margin: Allowance


class SpreadRule(_Section, frozen=True):
    """When a kernel became noisier within a process; see the comments in `default.toml`."""

    fails: bool
    min_rounds: Count
    alpha: Alpha
    margin: Allowance


class AbRule(_Section, frozen=True):
    """How `ab` measures and decides; see the comments in `default.toml`."""

    looks: tuple[Count, ...]
    screen_alpha: Alpha
    confirm_rounds: Count
    family_alpha: Alpha
    spread_alpha: Alpha
    equivalence_alpha: Alpha
    most_rounds: Count
    margin: Allowance

    def __post_init__(self) -> None:
        """Refuse looks that do not grow.

        Raises
        ------
        ValueError
            msgspec makes it a validation error with the setting's path.
        """
        if not self.looks or any(a >= b for a, b in pairwise(self.looks)):
            msg = "`looks` must be numbers of rounds that grow"
            raise ValueError(msg)


class NoiseRule(_Section, frozen=True):
    """How a cell's own noise is found and told."""

    small_below_us: NotNegative
    min_degrees: Count
    confidence: Annotated[float, msgspec.Meta(gt=0.5, lt=1)]
    blind_above: tuple[Positive, ...]


class ErrorRule(_Section, frozen=True):
    """Tolerance by element type, and the growth that makes an error a finding."""

    fp32: Positive
    bf16: Positive
    fp8: Positive
    growth: AtLeastOne


class EvidenceRule(_Section, frozen=True):
    """What is worth showing beside a finding."""

    clock_difference: NotNegative
    warning_difference: Share


class BackendsRule(_Section, frozen=True):
    """When a choice of backend is called wrong."""

    short_query: Count
    inverted_regret: AtLeastOne
    inverted_share: Share
    min_rounds: Count
    interval_alpha: Alpha
    rank_swap: AtLeastOne


class WaiversRule(_Section, frozen=True):
    """When a waiver is too broad to apply."""

    most_share: Share


class ThresholdsRule(_Section, frozen=True):
    """What counts as ramp, threshold, cliff and odd shape; see the comments in `default.toml`."""

    ramp_above: AtLeastOne
    plateau_share: Share
    plateau_span: Share
    cliff_above: AtLeastOne
    interval_alpha: Alpha
    unproved: NotNegative
    height_margin: NotNegative
    smallest_batch: Count
    largest_batch: Count
    most_batches: Count
    linear_margin: NotNegative
    ripple_above: AtLeastOne
    drift_alpha: Alpha
    drift_margin: NotNegative
    peak_fall: NotNegative


class HistoryRule(_Section, frozen=True):
    """How steps and drift are shown over many releases; see the comments in `default.toml`."""

    family_alpha: Alpha
    drift_share: Share
    bridge_share: Share
    explained_share: Share
    widths: tuple[Count, ...]
    drift_points: Count
    drift_spans: Count
    change_points_from: Count
    penalty: Positive


class Config(_Section, frozen=True):
    """All thresholds; `default.toml` holds the defaults and says what each one does."""

    version: int
    kernel_time: TimeRule
    plan_time: TimeRule
    spread: SpreadRule
    ab: AbRule
    noise: NoiseRule
    error: ErrorRule
    evidence: EvidenceRule
    backends: BackendsRule
    waivers: WaiversRule
    thresholds: ThresholdsRule
    history: HistoryRule


def load_config(path: Path | None = None) -> Config:
    """Read the defaults, overridden by the keys of `path` if given.

    Raises
    ------
    UsageError
        If the file cannot be read or is wrong.
    """
    if path is None:
        return parse_config("", "default.toml")
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        msg = f"cannot read the configuration {path}: {error}"
        raise UsageError(msg) from error
    return parse_config(text, str(path))


def parse_config(text: str, name: str) -> Config:
    """Return the defaults overridden by TOML text; `name` stands in messages.

    Raises
    ------
    UsageError
        If the text is no TOML, has an unknown key, a wrong value or another version.
    """
    merged = _parse_toml(DEFAULT_FILE.read_text(encoding="utf-8"), "default.toml")
    override = _parse_toml(text, name)
    if override and override.get("version") != _VERSION:
        msg = f"{name}: needs `version = {_VERSION}`, has {override.get('version', 'none')}"
        raise UsageError(msg)
    _override(merged, override)
    for setting in _infinite(override):
        msg = f"{name}: {setting} is not finite: give a number"
        raise UsageError(msg)
    try:
        return msgspec.convert(merged, Config)
    except msgspec.ValidationError as error:
        msg = f"{name}: {error}; `python -m regress config` prints the known keys"
        raise UsageError(msg) from error


def _parse_toml(text: str, name: str) -> dict[str, Any]:
    try:
        return msgspec.toml.decode(text, type=dict[str, Any])
    except (ValueError, RecursionError) as error:
        msg = f"{name} is no TOML: {error}"
        raise UsageError(msg) from error


def _infinite(values: dict[str, Any], prefix: str = "") -> Iterator[str]:
    """Name the settings that are no finite number: with those, everything would be SAME."""
    for key, value in values.items():
        if isinstance(value, dict):
            yield from _infinite(value, f"{prefix}{key}.")
            continue
        numbers = value if isinstance(value, list) else [value]
        if not all(isfinite(n) for n in numbers if isinstance(n, float)):
            yield f"{prefix}{key}"


def _override(into: dict[str, Any], values: dict[str, Any]) -> None:
    for key, value in values.items():
        if isinstance(value, dict) and isinstance(into.get(key), dict):
            _override(into[key], value)
        else:
            into[key] = value
