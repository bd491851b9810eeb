"""FlashInfer's planners: where splitting ends, what is launched, what cannot be planned."""

from dataclasses import replace

import pytest

from workloads.devices import Device, parse_device
from workloads.kvlen import KvLengths
from workloads.planner import Batch, Plan, Schedule, plan, plan_batch
from workloads.planner.flashinfer_cuda import plan_flashinfer_cuda
from workloads.planner.flashinfer_fa2 import fa2_budget, plan_flashinfer_fa2
from workloads.shape import AttentionShape, DType
from workloads.workload import Phase, Workload

H200 = parse_device("h200")
H20 = parse_device("h20")
A100 = parse_device("a100")
QWEN3 = AttentionShape(32, 4)


def _skewed(name: str, batch: int, device: Device, occupancy: int | None = None) -> Plan:
    lengths = KvLengths("skew40", batch, 262_144)
    return plan(name, Workload(Phase.DECODE, QWEN3, lengths), device, occupancy=occupancy)


@pytest.mark.parametrize(
    ("name", "device", "last"),
    [
        # 2 * 132 // 4 and 9 * 132 // 4; 2 * 78 // 4 = 39 and 9 * 78 // 4; 2 * 108 // 4.
        ("flashinfer-decode-tc-fa2", H200, 65),
        ("flashinfer-decode-tc-fa2-serving", H200, 65),
        ("flashinfer-decode-cuda", H200, 296),
        ("flashinfer-decode-tc-fa2", H20, 38),
        ("flashinfer-decode-cuda", H20, 174),
        ("flashinfer-decode-tc-fa2", A100, 53),
    ],
)
def test_splitting_ends_at_the_budget(name: str, device: Device, last: int) -> None:
    """The long request is split up to the last batch below the budget, and not from there on."""
    assert _skewed(name, last, device).splits_kv
    assert not _skewed(name, last + 1, device).splits_kv


@pytest.mark.parametrize(
    ("kv_heads", "threshold"), [(1, 264), (2, 132), (4, 66), (8, 33), (16, 16), (32, 8)]
)
def test_the_tensor_core_budget_shrinks_with_kv_heads(kv_heads: int, threshold: int) -> None:
    """Two CTAs on each of 132 SMs, over the KV heads."""
    assert fa2_budget(kv_heads, H200) == threshold


def test_below_the_threshold_the_split_weakens_gradually() -> None:
    """Chunks of the long request become fewer as the batch nears the budget: a ramp."""
    splits = [
        _skewed("flashinfer-decode-tc-fa2", n, H200).max_splits for n in (32, 48, 60, 64, 65, 66)
    ]
    assert splits == [21, 19, 7, 3, 2, 1]


@pytest.mark.parametrize(
    ("q_len", "group", "head_dim", "tile"),
    [
        (1, 8, 128, 16),
        (1, 16, 128, 16),
        (17, 1, 128, 64),
        (16, 4, 128, 64),
        (17, 4, 128, 128),
        (512, 4, 256, 64),
        (512, 4, 128, 128),
    ],
)
def test_query_tiles_follow_the_rows_of_a_request(
    q_len: int, group: int, head_dim: int, tile: int
) -> None:
    """Up to 16 rows: 16; up to 64, or wide heads: 64; else 128."""
    batch = Batch((4096,), AttentionShape(group, 1, head_dim), q_len)
    assert plan_flashinfer_fa2(batch, H200).q_tile == tile


def test_before_ampere_query_tiles_have_64_rows_at_least() -> None:
    """Turing has too little shared memory for the small tile."""
    turing = replace(H200, capability=(7, 5))
    assert plan_flashinfer_fa2(Batch((4096,), QWEN3), turing).q_tile == 64


def test_decode_on_tensor_cores_launches_the_prefill_kernel() -> None:
    """A profiler of decode names BatchPrefillWithPagedKVCacheKernel, planned at q_len = 1."""
    model = _skewed("flashinfer-decode-tc-fa2", 32, H200)
    assert model.kernel == "flashinfer::BatchPrefillWithPagedKVCacheKernel"
    assert model.grid == (52, 1, 4)
    assert (model.q_tiles, model.ctas) == (1, 52 * 4)


def test_serving_in_prefill_makes_room_for_one_long_request() -> None:
    """The grid holds as many query tiles as any split of the query tokens may need."""
    batch = Batch((4096,) * 100, QWEN3, q_len=16)
    model = plan_flashinfer_fa2(batch, H200, serving=True)
    assert model.q_tile == 128
    assert model.padded_batch == 100 * 16 * 8 // 128 + 99


@pytest.mark.parametrize(("page", "chunk"), [(1, 128), (16, 128), (96, 96), (256, 256)])
def test_no_chunk_is_shorter_than_128_tokens_or_a_page(page: int, chunk: int) -> None:
    """The minimum is 128 tokens rounded down to pages, and one page."""
    shape = AttentionShape(8, 1, page_size=page)
    assert plan_flashinfer_fa2(Batch((3000,), shape), H200).chunk_tokens == chunk


def test_fa3_gives_every_query_head_its_own_items() -> None:
    """Nothing is split or packed: 32 CTAs' work a request, on one CTA for each SM."""
    model = _skewed("flashinfer-decode-tc-fa3", 32, H200)
    assert model.splits == (1,) * 32
    assert (model.heads, model.grid) == (32, (132, 1, 1))
    assert model.schedule is Schedule.ASSIGNED
    assert model.items().kv_tokens.tolist() == sorted(model.batch.kv_lens, reverse=True)


@pytest.mark.parametrize(("q_len", "rows"), [(4096 * 128, 1), (4096 * 128 + 1, 32)])
def test_fa3_shares_one_schedule_among_heads_when_there_are_many_tiles(
    q_len: int, rows: int
) -> None:
    """Beyond 4,096 query tiles a head the grid has a row for each query head."""
    batch = Batch((600_000,), QWEN3, q_len=q_len, causal=True)
    assert plan_batch("flashinfer-prefill-fa3", batch, H200).grid == (132, rows, 1)


@pytest.mark.parametrize(("head_dim", "tile"), [(64, 192), (128, 128), (256, 128)])
def test_fa3_tiles_are_taller_for_narrow_heads(head_dim: int, tile: int) -> None:
    """192 query tokens for head dimension 64, else 128."""
    batch = Batch((4096,), AttentionShape(8, 8, head_dim), q_len=256)
    assert plan_batch("flashinfer-prefill-fa3", batch, H200).q_tile == tile


def test_fa3_starts_with_the_tiles_that_see_most() -> None:
    """Under a causal mask the last query tile of a request comes first."""
    batch = Batch((300, 600), QWEN3, q_len=300, causal=True)
    items = plan_batch("flashinfer-prefill-fa3", batch, H200).items()
    assert items.request.tolist() == [1, 1, 1, 0, 0, 0]
    assert items.q_tile.tolist() == [2, 1, 0, 2, 1, 0]
    assert items.kv_tokens.tolist() == [600, 556, 428, 300, 256, 128]


@pytest.mark.parametrize(
    ("version", "page", "prepares"),
    [("0.5.3", 16, True), ("0.5.3", 1, False), ("0.6.0", 16, False)],
)
def test_old_fa3_turns_page_tables_into_token_tables(
    version: str, page: int, *, prepares: bool
) -> None:
    """Before 0.6.0 one more kernel ran in every launch, unless pages had one token."""
    batch = Batch((4096,), replace(QWEN3, page_size=page), q_len=16)
    model = plan_batch("flashinfer-prefill-fa3", batch, H200, version=version)
    assert (model.prepare is not None) is prepares


AUTO = [
    # decode, then prefill: BF16 throughout; FP8 KV under BF16 queries; FP8 throughout.
    ("flashinfer-decode-tc-auto", "0.5.3", ("fa2", "fa2", "fa2")),
    ("flashinfer-decode-tc-auto", "0.6.0", ("fa3", "fa3", "fa3")),
    ("flashinfer-decode-tc-auto", "0.6.3", ("fa3", "fa3", "fa3")),
    ("flashinfer-decode-tc-auto", "0.6.4", ("fa2", "fa2", "fa3")),
    ("flashinfer-decode-tc-auto-serving", None, ("fa2", "fa2", "fa3")),
    ("flashinfer-prefill-auto", "0.5.3", ("fa3", "fa3", "fa3")),
    ("flashinfer-prefill-auto", "0.6.4", ("fa3", "fa2", "fa3")),
    ("flashinfer-prefill-auto", "0.7.2.post1", ("fa3", "fa2", "fa3")),
    ("flashinfer-prefill-auto", "0.7.4", ("fa2", "fa2", "fa3")),
    ("flashinfer-prefill-auto", None, ("fa2", "fa2", "fa3")),
]


@pytest.mark.parametrize(("name", "version", "paths"), AUTO)
def test_auto_becomes_what_the_release_chose(
    name: str, version: str | None, paths: tuple[str, str, str]
) -> None:
    """Decode: fa3 in 0.6.0 to 0.6.3, then for FP8 only, as short prefill does since 0.7.4."""
    types = ((DType.BF16, DType.BF16), (DType.BF16, DType.FP8), (DType.FP8, DType.FP8))
    shapes = [replace(QWEN3, dtype=q, kv_dtype=kv) for q, kv in types]
    for shape, path in zip(shapes, paths, strict=True):
        batch = Batch((4096,), shape)
        assert plan_batch(name, batch, H200, version=version).path == path
        assert plan_batch(name, batch, A100, version=version).path == "fa2"


@pytest.mark.parametrize(("q_len", "path"), [(1, "fa2"), (64, "fa2"), (65, "fa3"), (512, "fa3")])
def test_prefill_takes_fa2_for_short_queries_since_0_7_4(q_len: int, path: str) -> None:
    """Up to 64 query tokens in the longest request, unless the query is FP8."""
    batch = Batch((4096,), QWEN3, q_len=q_len)
    assert plan_batch("flashinfer-prefill-auto", batch, H200, version="0.7.4").path == path
    assert plan_batch("flashinfer-prefill-auto", batch, H200, version="0.7.2").path == "fa3"


@pytest.mark.parametrize(
    ("version", "requests", "padded", "merges"),
    [
        # Budget 2 * 132 / 4 = 66; B tiles, or ceil(B * 8 / 16) + B - 1 where lengths may differ.
        ("0.7.2.post1", 66, 98, True),
        ("0.7.2.post1", 16, 66, True),
        ("0.7.4", 66, 66, True),
        ("0.7.4", 67, 67, False),
        ("0.7.4", 16, 66, True),
    ],
)
def test_serving_decode_knows_its_query_length_since_0_7_4(
    version: str, requests: int, padded: int, *, merges: bool
) -> None:
    """Its grid has no room for uneven queries, and beyond the budget no kernel merges."""
    batch = Batch((4096,) * requests, QWEN3)
    for name in ("flashinfer-decode-tc-fa2-serving", "flashinfer-decode-tc-auto-serving"):
        model = plan_batch(name, batch, H200, version=version)
        assert (model.padded_batch, model.merges) == (padded, merges)


def test_prefill_never_promises_a_query_length() -> None:
    """The rule of decode does not hold for the prefill wrapper, nor without CUDA graphs."""
    batch = Batch((4096,) * 80, QWEN3)
    eager = plan_batch("flashinfer-decode-tc-fa2", batch, H200, version="0.7.4")
    assert (eager.padded_batch, eager.merges) == (80, False)
    assert plan_flashinfer_fa2(batch, H200, serving=True).merges


@pytest.mark.parametrize(("version", "padded"), [("0.6.18.post1", 132), ("0.7.0", 148)])
def test_cuda_cores_hold_one_more_cta_of_group_4_since_0_7_0(version: str, padded: int) -> None:
    """8 and 9 CTAs on each of 132 SMs, over 8 KV heads; recorded in serving mode."""
    batch = Batch((8192,), AttentionShape(32, 8))
    name = "flashinfer-decode-cuda-serving"
    model = plan_batch(name, batch, H200, version=version)
    assert (model.padded_batch, model.grid) == (padded, (padded, 8, 1))
    assert model.occupancy == padded * 8 // 132 + (padded == 148)


@pytest.mark.parametrize(
    ("group", "since", "before"), [(6, "0.6.18", "0.6.17"), (16, "0.7.1", "0.7.0")]
)
def test_head_groups_have_a_cuda_core_kernel_since_some_release(
    group: int, since: str, before: str
) -> None:
    """Groups 6 and 16 came later than the others."""
    batch, name = Batch((4096,), AttentionShape(group, 1)), "flashinfer-decode-cuda"
    assert plan_batch(name, batch, H200, version=since, occupancy=4).path == "cuda"
    with pytest.raises(ValueError, match=f"no CUDA-core decode for head group {group}"):
        plan_batch(name, batch, H200, version=before, occupancy=4)


def test_occupancy_can_be_given_and_must_be_where_nobody_looked() -> None:
    """Turing's code was never compiled here: the message says what to give."""
    turing = parse_device("sms=40,bandwidth=320e9,l2=4e6,capability=7.5")
    with pytest.raises(ValueError, match=r"SM of custom holds is not known.*give the occupancy"):
        _skewed("flashinfer-decode-cuda", 32, turing)
    assert _skewed("flashinfer-decode-cuda", 79, turing, occupancy=8).splits_kv
    assert not _skewed("flashinfer-decode-cuda", 80, turing, occupancy=8).splits_kv


@pytest.mark.parametrize(
    ("batch", "occupancy", "message"),
    [
        (Batch((4096,), AttentionShape(20, 4)), None, "group 5 .only 1, 2, 3, 4, 6, 8, 16"),
        (Batch((4096,), AttentionShape(64, 4)), None, "group 16, bf16 over bf16 KV"),
        (Batch((4096,), QWEN3, q_len=2), None, "1 query token a request, not 2"),
        (Batch((4096,), QWEN3), 0, "at least 1 CTA, not 0"),
        (Batch((4096,), AttentionShape(8, 1, 64)), None, "head dimension 64"),
    ],
)
def test_what_cuda_cores_cannot_do_is_said(
    batch: Batch, occupancy: int | None, message: str
) -> None:
    """One line says which group, query length or occupancy is wrong."""
    with pytest.raises(ValueError, match=message):
        plan_flashinfer_cuda(batch, H200, occupancy=occupancy)


@pytest.mark.parametrize(
    ("name", "batch", "device", "version", "message"),
    [
        ("flashinfer-decode-tc-fa3", Batch((9,), QWEN3), H200, "0.5.3", "0.5.3 has no fa3"),
        ("flashinfer-decode-tc-fa3", Batch((9,), QWEN3), A100, None, "Hopper only, not on a100"),
        ("flashinfer-decode-tc-fa2", Batch((9,), QWEN3, 2), H200, None, "decodes 1 query token"),
        ("flashinfer-prefill-auto", Batch((9,), QWEN3), H200, "new", "'new' is no version"),
    ],
)
def test_what_a_release_or_gpu_cannot_do_is_said(
    name: str, batch: Batch, device: Device, version: str | None, message: str
) -> None:
    """One line says which release, GPU or query length does not fit."""
    with pytest.raises(ValueError, match=message):
        plan_batch(name, batch, device, version=version)
