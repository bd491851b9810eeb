"""FlashAttention-3's tile sizes on Hopper, for contiguous KV without soft cap or local attention.

Source: tile_size_fwd_sm90 in hopper/tile_size.h of Dao-AILab/flash-attention.
"""

from dataclasses import dataclass
from typing import Final

from workloads.shape import DType

__all__ = ["Tile", "fa3_tile"]


@dataclass(frozen=True, slots=True)
class Tile:
    """Rows of a query tile and KV tokens of a block (kBlockM, kBlockN)."""

    q: int
    kv: int


_BF16: Final = {64: Tile(192, 192), 96: Tile(192, 144), 128: Tile(128, 176), 192: Tile(128, 112)}
_FP8: Final = {64: Tile(192, 160), 96: Tile(192, 128), 128: Tile(128, 224), 192: Tile(128, 160)}
_BF16_WIDEST, _FP8_WIDEST = Tile(128, 80), Tile(128, 128)
_CAUSAL_BF16: Final = {64: Tile(192, 128), 128: Tile(128, 128)}
_WIDEST: Final = 256


def fa3_tile(head_dim: int, dtype: DType, *, causal: bool) -> Tile:
    """Return the tile for equal head dimensions of K and V.

    Raises
    ------
    ValueError
        If the head dimension is above 256.
    """
    if head_dim > _WIDEST:
        msg = f"FlashAttention-3 takes head dimensions up to {_WIDEST}, not {head_dim}"
        raise ValueError(msg)
    half = dtype is DType.BF16
    table = _BF16 if half else _FP8
    size = next((size for size in table if head_dim <= size), None)
    if size is None:
        return _BF16_WIDEST if half else _FP8_WIDEST
    if half and causal:
        return _CAUSAL_BF16.get(size, table[size])
    return table[size]
