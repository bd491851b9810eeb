"""What FlashInfer's `auto` becomes on tensor cores, release by release.

Source: flashinfer/decode.py and prefill.py (plan, _determine_auto_backend), flashinfer/utils.py
(is_fa3_backend_supported, determine_attention_backend) of releases 0.5.3 to 0.7.4.
"""

from typing import Final

from packaging.version import Version

from workloads.devices import Device
from workloads.planner.plan import Batch
from workloads.shape import DType

__all__ = ["check_decode_fa3", "resolve_auto"]

_DECODE_FA3_SINCE: Final = Version("0.6.0")
_FA2_AGAIN_SINCE: Final = Version("0.6.4")
_SHORT_ON_FA2_SINCE: Final = Version("0.7.4")
_SHORT_QUERY: Final = 64
"""Query tokens of the longest request up to which 0.7.4 prefers fa2 in prefill."""


def check_decode_fa3(release: Version | None) -> None:
    """Raise ValueError if the decode wrapper of a release has no fa3; None is the newest."""
    if not _since(_DECODE_FA3_SINCE, release):
        msg = f"FlashInfer {release} has no fa3 in its decode wrapper (since {_DECODE_FA3_SINCE})"
        raise ValueError(msg)


def resolve_auto(wrapper: str, batch: Batch, device: Device, release: Version | None) -> str:
    """Return `fa2` or `fa3`.

    Parameters
    ----------
    wrapper
        `decode` (with tensor cores) or `prefill`.
    release
        FlashInfer's release; None for the newest rules known, those of 0.7.4.
    """
    shape = batch.shape
    fp8_kv_alone = shape.kv_dtype is DType.FP8 and shape.dtype is not DType.FP8
    # 0.6.4 noticed that fa3 has no kernel for FP8 KV under other queries.
    supported = device.hopper and not (_since(_FA2_AGAIN_SINCE, release) and fp8_kv_alone)
    if wrapper == "decode":
        wanted = _decode_wants_fa3(batch, release)
    else:
        short = batch.q_len <= _SHORT_QUERY and shape.dtype is not DType.FP8
        wanted = not (_since(_SHORT_ON_FA2_SINCE, release) and short)
    return "fa3" if wanted and supported else "fa2"


def _decode_wants_fa3(batch: Batch, release: Version | None) -> bool:
    if _since(_FA2_AGAIN_SINCE, release):
        return DType.FP8 in {batch.shape.dtype, batch.shape.kv_dtype}
    return _since(_DECODE_FA3_SINCE, release)


def _since(first: Version, release: Version | None) -> bool:
    return release is None or release >= first
