"""The split count that fills waves best, as FlashAttention-2 and -3 both choose it.

Source: num_splits_heuristic in hopper/heuristics.h (FlashAttention-3) and in
csrc/flash_attn/flash_api.cpp (FlashAttention-2). Both compute in single precision, and so does
this: a quotient just at the threshold decides the same way.
"""

from functools import lru_cache
from typing import Final

import numpy as np

__all__ = ["MAX_SPLITS", "fills_sms", "most_even_splits"]

MAX_SPLITS: Final = 128
_GOOD_ENOUGH: Final = 0.85
_NEARLY_FULL: Final = np.float32(0.8)


def fills_sms(tiles: int, slots: int) -> bool:
    """Return whether so many query tiles nearly fill the SMs without any split."""
    return bool(tiles >= _NEARLY_FULL * np.float32(slots))


@lru_cache(maxsize=4096)
def most_even_splits(tiles: int, slots: int, blocks: int, *, skip_equal: bool) -> int:
    """Return the fewest splits whose last wave is filled to 85 % of the best possible.

    Parameters
    ----------
    tiles
        Query tiles of all requests and heads.
    slots
        CTAs that run at once.
    blocks
        KV blocks of the longest request; more splits are useless.
    skip_equal
        Whether to leave out counts that give chunks as long as one split fewer does.
    """
    splits = np.arange(1, min(MAX_SPLITS, slots, blocks) + 1)
    waves = (tiles * splits).astype(np.float32) / np.float32(slots)
    efficiency = waves / np.ceil(waves)
    if skip_equal:
        chunk = -(-blocks // splits)
        efficiency[1:][chunk[1:] == chunk[:-1]] = 0
    good = efficiency.astype(np.float64) >= _GOOD_ENOUGH * float(efficiency.max())
    return int(splits[good.argmax()])
