"""CTAs of FlashInfer's decode kernel on an SM."""

from collections.abc import Iterable

import pytest
from packaging.version import Version

from workloads.devices import parse_device
from workloads.planner.occupancy import known_occupancy
from workloads.shape import AttentionShape, DType


@pytest.mark.parametrize(
    ("device", "kv_dtype", "by_group"),
    [
        # By the rules of CUDA's occupancy calculator: registers are the limit, but for group 1,
        # whose CTAs take 36 KiB of shared memory with BF16 KV and 18 KiB with FP8 KV.
        ("h200", DType.BF16, {1: 6, 2: 9, 3: 9, 4: 9, 6: 8, 8: 9}),
        ("h200", DType.FP8, {1: 6, 2: 7, 3: 7, 4: 7, 6: 6, 8: 7}),
        ("a100", DType.BF16, {1: 4, 2: 9, 3: 7, 4: 8, 6: 9, 8: 8}),
        ("l40s", DType.BF16, {1: 2, 2: 9, 3: 8, 4: 8, 6: 9, 8: 8}),
        ("b200", DType.BF16, {1: 6, 2: 9, 3: 9, 4: 9, 6: 9, 8: 8}),
        ("a100", DType.FP8, {1: 5, 2: 6, 3: 6, 4: 6, 6: 6, 8: 5}),
        ("l40s", DType.FP8, {1: 5, 2: 7, 3: 7, 4: 6, 6: 6, 8: 7}),
        ("b200", DType.FP8, {1: 7, 2: 7, 3: 7, 4: 7, 6: 7, 8: 6}),
    ],
)
def test_occupancy_follows_from_registers_and_shared_memory(
    device: str, kv_dtype: DType, by_group: dict[int, int]
) -> None:
    """Registers of a thread, bytes of a CTA and the limits of an SM give the table's numbers."""
    assert _told(device, kv_dtype, by_group, None) == by_group


@pytest.mark.parametrize(
    ("device", "kv_dtype", "by_group"),
    [
        ("h200", DType.BF16, {1: 6, 2: 9, 3: 9, 4: 8, 8: 9}),
        ("h200", DType.FP8, {1: 6, 2: 7, 3: 7, 4: 6, 8: 7}),
        ("a100", DType.BF16, {1: 4, 2: 8, 3: 7, 4: 8, 8: 8}),
        ("l40s", DType.BF16, {1: 2, 2: 9, 3: 8, 4: 8, 8: 8}),
        ("b200", DType.BF16, {1: 6, 2: 9, 3: 9, 4: 9, 8: 8}),
        ("a100", DType.FP8, {1: 5, 2: 6, 3: 6, 4: 6, 8: 5}),
        ("l40s", DType.FP8, {1: 5, 2: 7, 3: 7, 4: 6, 8: 7}),
        ("b200", DType.FP8, {1: 7, 2: 7, 3: 7, 4: 7, 8: 6}),
    ],
)
def test_releases_before_0_7_0_needed_other_registers(
    device: str, kv_dtype: DType, by_group: dict[int, int]
) -> None:
    """The same for the kernel as it was before its softmax changed."""
    assert _told(device, kv_dtype, by_group, Version("0.6.18.post1")) == by_group


def _told(
    device: str, kv_dtype: DType, groups: Iterable[int], release: Version | None
) -> dict[int, int | None]:
    shapes = {group: AttentionShape(8 * group, 8, kv_dtype=kv_dtype) for group in groups}
    card = parse_device(device)
    return {group: known_occupancy(shape, card, release) for group, shape in shapes.items()}


def test_hopper_cards_hold_equally_many() -> None:
    """H20, H100 and H200 run the same code."""
    shape = AttentionShape(32, 4)
    cards = ("h20", "h100", "h100-pcie", "h200")
    assert {known_occupancy(shape, parse_device(card)) for card in cards} == {9}


@pytest.mark.parametrize(
    ("shape", "device"),
    [
        (AttentionShape(128, 8), "h200"),
        (AttentionShape(32, 8, 64), "h200"),
        (AttentionShape(32, 8, dtype=DType.FP32, kv_dtype=DType.FP32), "h200"),
        (AttentionShape(32, 8), "sms=40,bandwidth=320e9,l2=4e6,capability=7.5"),
    ],
)
def test_what_nobody_looked_at_is_not_known(shape: AttentionShape, device: str) -> None:
    """Other groups, head dimensions, types and architectures."""
    assert known_occupancy(shape, parse_device(device)) is None
