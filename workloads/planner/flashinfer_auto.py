"""What FlashInfer's `auto` becomes on tensor cores, release by release.

Source: flashinfer/decode.py and prefill.py (plan), flashinfer/utils.py (is_fa3_backend_supported,
determine_attention_backend) of releases 0.5.3, 0.6.0, 0.6.1, 0.6.3 and 0.6.4.
"""

from typing import Final

from packaging.version import Version

from workloads.devices import Device
from workloads.shape import AttentionShape, DType

__all__ = ["check_decode_fa3", "resolve_auto"]

_DECODE_FA3_SINCE: Final = Version("0.6.0")
_FA2_AGAIN_SINCE: Final = Version("0.6.4")


def check_decode_fa3(release: Version | None) -> None:
    """Raise ValueError if the decode wrapper of a release has no fa3; None is the newest."""
    if release is not None and release < _DECODE_FA3_SINCE:
        msg = f"FlashInfer {release} has no fa3 in its decode wrapper (since {_DECODE_FA3_SINCE})"
        raise ValueError(msg)


def resolve_auto(
    wrapper: str, shape: AttentionShape, device: Device, release: Version | None
) -> str:
    """Return `fa2` or `fa3`.

    Parameters
    ----------
    wrapper
        `decode` (with tensor cores) or `prefill`.
    release
        FlashInfer's release; None for the newest rules known, those of 0.6.4.
    """
    newest = release is None or release >= _FA2_AGAIN_SINCE
    fp8_kv_alone = shape.kv_dtype is DType.FP8 and shape.dtype is not DType.FP8
    # 0.6.4 noticed that fa3 has no kernel for FP8 KV under other queries.
    supported = device.hopper and not (newest and fp8_kv_alone)
    if wrapper == "decode":
        since_fa3 = release is None or release >= _DECODE_FA3_SINCE
        wanted = DType.FP8 in {shape.dtype, shape.kv_dtype} if newest else since_fa3
        return "fa3" if wanted and supported else "fa2"
    return "fa3" if supported else "fa2"
