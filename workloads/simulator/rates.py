"""What the model of time must know of each path, and what that was fitted on."""

from functools import cache
from pathlib import Path
from typing import Annotated, Final

import msgspec

__all__ = ["RATES_FILE", "FittedRates", "PathRates", "Rates", "load_rates"]

RATES_FILE: Final = Path(__file__).with_name("rates.json")

_Positive = Annotated[float, msgspec.Meta(gt=0)]
_NotNegative = Annotated[float, msgspec.Meta(ge=0)]
_Share = Annotated[float, msgspec.Meta(gt=0, le=1)]


class Rates(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Speeds and overheads of one path on a card. A token here is K and V of 128 elements.

    Attributes
    ----------
    cta_tokens_us
        KV tokens that a CTA reads alone, in a microsecond. On CUDA cores each query head that
        shares them counts on its own.
    sm_tokens_us
        The same of all CTAs on an SM together.
    memory
        Share of the card's peak bandwidth that is reached.
    fp8
        Speed with an FP8 KV cache in tokens, relative to BF16.
    launch_us, item_us, prepare_us, merge_us
        Overhead of a launch, of a work item, of the kernel that prepares and of the one that
        merges, in microseconds.
    """

    cta_tokens_us: _Positive
    sm_tokens_us: _Positive
    memory: _Share
    fp8: _Positive
    launch_us: _NotNegative
    item_us: _Positive
    prepare_us: _NotNegative
    merge_us: _NotNegative


class PathRates(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Rates of one path, and how far the model was off when they were fitted.

    Attributes
    ----------
    fitted_cells
        Cells that they were fitted on.
    cells
        Cells of all recorded stacks that took 50 us or more.
    median_error, most_error
        Median, and 90th percentile, of |predicted / measured - 1| on those.
    """

    rates: Rates
    fitted_cells: int
    cells: int
    median_error: float
    most_error: float


class FittedRates(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Rates by path, as stored.

    Attributes
    ----------
    gpu, device
        Model of the card as the driver calls it, and its name in the table of devices.
    stack, tier
        Whose decode cells were fitted; all others only judge the result.
    rounds
        Rounds behind the times.
    """

    gpu: str
    device: str
    stack: str
    tier: str
    rounds: int
    paths: dict[str, PathRates]


@cache
def load_rates() -> FittedRates:
    """Read the fitted rates that come with this checkout."""
    return msgspec.json.decode(RATES_FILE.read_bytes(), type=FittedRates)
