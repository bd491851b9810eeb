"""How many CTAs of FlashInfer's CUDA-core decode kernel an SM holds.

FlashInfer asks cudaOccupancyMaxActiveBlocksPerMultiprocessor. The same number follows from
registers a thread, shared memory and threads of a CTA, and what an SM has. Registers are what
nvcc 13.0 gives the kernel for BF16 queries and head dimension 128; another compiler may need more
or fewer. They were looked up in FlashInfer 0.6.1 (on sm_90a also 0.5.3, 0.6.4 and 0.6.18.post1,
which are equal) and, since 0.7.0 changed the kernel's softmax, in 0.7.4 (0.7.0.post1 differs in
group 1 on sm_100 only, to no effect). Plans that were recorded on H200 in serving mode say the same
of groups 4 and 8 with BF16 KV, among them the step of group 4 at 0.7.0. That 0.7.0 reserves no less
shared memory than an FP32 output takes changes nothing with two stages.
"""

from typing import Final

from packaging.version import Version

from workloads.devices import Device
from workloads.shape import AttentionShape, DType

__all__ = ["known_occupancy"]

_HEAD_DIM: Final = 128
_THREADS: Final = 128
_STAGES: Final = 2
_KIB: Final = 1024

_NEW_SOFTMAX_SINCE: Final = Version("0.7.0")
_Registers = dict[tuple[int, int], dict[DType, dict[int, int]]]
"""Registers of a thread, by compute capability, KV type and group."""
_UP_TO_0_6: Final[_Registers] = {
    (8, 0): {
        DType.BF16: {1: 72, 2: 58, 3: 65, 4: 64, 8: 64},
        DType.FP8: {1: 86, 2: 80, 3: 79, 4: 80, 8: 86},
    },
    (8, 9): {
        DType.BF16: {1: 72, 2: 56, 3: 60, 4: 63, 8: 64},
        DType.FP8: {1: 72, 2: 72, 3: 72, 4: 80, 8: 72},
    },
    (9, 0): {
        DType.BF16: {1: 72, 2: 52, 3: 56, 4: 59, 8: 56},
        DType.FP8: {1: 76, 2: 72, 3: 72, 4: 77, 8: 72},
    },
    (10, 0): {
        DType.BF16: {1: 72, 2: 56, 3: 56, 4: 56, 8: 63},
        DType.FP8: {1: 72, 2: 72, 3: 72, 4: 72, 8: 80},
    },
}
_SINCE_0_7: Final[_Registers] = {
    (8, 0): {
        DType.BF16: {1: 78, 2: 56, 3: 65, 4: 64, 6: 56, 8: 62},
        DType.FP8: {1: 86, 2: 80, 3: 78, 4: 80, 6: 80, 8: 86},
    },
    (8, 9): {
        DType.BF16: {1: 78, 2: 55, 3: 61, 4: 63, 6: 56, 8: 62},
        DType.FP8: {1: 72, 2: 72, 3: 72, 4: 80, 6: 80, 8: 72},
    },
    (9, 0): {
        DType.BF16: {1: 68, 2: 51, 3: 56, 4: 56, 6: 61, 8: 56},
        DType.FP8: {1: 76, 2: 72, 3: 72, 4: 72, 6: 76, 8: 72},
    },
    (10, 0): {
        DType.BF16: {1: 68, 2: 56, 3: 56, 4: 56, 6: 56, 8: 63},
        DType.FP8: {1: 72, 2: 72, 3: 72, 4: 72, 6: 72, 8: 80},
    },
}
_SM: Final = {
    (8, 0): (164 * _KIB, 2048),
    (8, 9): (100 * _KIB, 1536),
    (9, 0): (228 * _KIB, 2048),
    (10, 0): (228 * _KIB, 2048),
}
"""Bytes of shared memory and threads of an SM: CUDA C++ Programming Guide, table of technical
specifications by compute capability."""
_SM_REGISTERS: Final = 65_536
_WARP_REGISTER_UNIT: Final = 256
_WARP_UNIT: Final = 4
_WARP_THREADS: Final = 32


def known_occupancy(
    shape: AttentionShape, device: Device, release: Version | None = None
) -> int | None:
    """Return how many CTAs of the decode kernel an SM holds; None where nobody looked.

    Parameters
    ----------
    release
        FlashInfer's release; None for the newest code known.
    """
    if shape.head_dim != _HEAD_DIM or shape.dtype is not DType.BF16:
        return None
    registers = _UP_TO_0_6 if release and release < _NEW_SOFTMAX_SINCE else _SINCE_0_7
    by_group = registers.get(device.capability, {}).get(shape.kv_dtype, {})
    if shape.group not in by_group:
        return None
    shared_bytes, threads = _SM[device.capability]
    return min(
        _by_registers(by_group[shape.group]),
        shared_bytes // (_shared_bytes(shape) + _KIB),  # CUDA keeps 1 KiB of each CTA
        threads // _THREADS,
    )


def _by_registers(registers: int) -> int:
    warp = -(-registers * _WARP_THREADS // _WARP_REGISTER_UNIT) * _WARP_REGISTER_UNIT
    warps = _SM_REGISTERS // warp // _WARP_UNIT * _WARP_UNIT
    return warps // (_THREADS // _WARP_THREADS)


def _shared_bytes(shape: AttentionShape) -> int:
    """Shared memory of a CTA (BatchDecodeWithPagedKVCacheWorkEstimationDispatched)."""
    size, group = shape.kv_dtype.size_bytes, shape.group
    lanes = _HEAD_DIM // max(16 // size, _HEAD_DIM // 32)
    depth = _THREADS // (lanes * group)
    tile = (2 if size == 1 else 4) if group == 1 else 1
    stages = 2 * _STAGES * tile * group * depth * _HEAD_DIM * size
    return stages + max(tile * _THREADS * 8, 2 * group * depth * 4)
