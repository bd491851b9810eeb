"""FlashAttention's split counts: static cap, splits a request, packing, limits."""

from dataclasses import replace

import pytest

from workloads.backend import PACKS, kvcache_name
from workloads.devices import parse_device
from workloads.kvlen import KvLengths
from workloads.planner import Batch, Schedule, plan_batch
from workloads.planner.fa3_tiles import Tile, fa3_tile
from workloads.planner.flash_attn_3 import Fa3Call, Fa3Rules, plan_flash_attn_3
from workloads.planner.waves import fills_sms, most_even_splits
from workloads.shape import AttentionShape, DType

H200 = parse_device("h200")
QWEN3 = AttentionShape(32, 4)
LLAMA3 = AttentionShape(32, 8)


def _skewed(batch: int, shape: AttentionShape = QWEN3) -> Batch:
    return Batch(KvLengths("skew40", batch, 262_144).lengths(), shape)


def test_the_example_in_the_source_comes_out() -> None:
    """48 tiles on 108 SMs: 2 splits, which the source's comment prefers to 3."""
    assert most_even_splits(48, 108, 64, skip_equal=False) == 2


def test_split_counts_that_change_no_chunk_are_skipped() -> None:
    """Of 64 blocks 12 splits make chunks as long as 11 do: FlashAttention-2 leaves them out.

    9 tiles times 12 splits would fill 108 SMs, so FlashAttention-3 wants 85 % of that and gets it
    with 11; without 12 the best is 11's 92 %, of which 10 reach 85 %.
    """
    assert most_even_splits(9, 108, 64, skip_equal=False) == 11
    assert most_even_splits(9, 108, 64, skip_equal=True) == 10


def test_there_are_at_most_128_splits() -> None:
    """One tile on 132 SMs fills 97 % with 128 splits, of which 109 are the first 85 %."""
    assert most_even_splits(1, 132, 1000, skip_equal=False) == 109


@pytest.mark.parametrize(("tiles", "full"), [(105, False), (106, True)])
def test_sms_are_full_from_80_percent_on(tiles: int, *, full: bool) -> None:
    """0.8 · 132 is 105.6."""
    assert fills_sms(tiles, 132) is full


def test_fa3_splits_up_to_992_requests() -> None:
    """12 chunks for the long request of 66 and of 992, one from 993 on."""
    splits = [plan_flash_attn_3(_skewed(n), H200).splits[0] for n in (66, 992, 993)]
    assert splits == [12, 12, 1]


def test_unsorted_rules_give_every_request_the_static_cap_beyond_992() -> None:
    """The older scheduler fell back to the cap of the whole batch, which is 1 for so many."""
    batch = _skewed(992)
    older = plan_flash_attn_3(batch, H200, rules=Fa3Rules.UNSORTED)
    assert older.splits == plan_flash_attn_3(batch, H200).splits
    assert not older.longest_first
    many = plan_flash_attn_3(_skewed(993), H200, Fa3Call(num_splits=4), Fa3Rules.UNSORTED)
    assert set(many.splits) == {4}


def test_a_request_gets_a_split_for_each_even_share_of_blocks() -> None:
    """The article's example: at 16 blocks an SM, 8 blocks are 1 split and 80 are 5."""
    device = replace(H200, sms=100)
    # 1.1 * 4 heads * 357 blocks / 100 SMs is 15.7, so 16 blocks an SM.
    blocks = (80, 8, *[8] * 33, 5)
    assert sum(blocks) == 357
    plan = plan_flash_attn_3(Batch(tuple(176 * n for n in blocks), QWEN3), device)
    assert plan.splits[:2] == (5, 1)


def test_fa3_queues_the_longest_chunks_first() -> None:
    """What counts is the chunk, not the request."""
    plan = plan_flash_attn_3(_skewed(66), H200)
    sizes = plan.items().kv_tokens
    assert plan.schedule is Schedule.QUEUE
    assert plan.items().request[:12].tolist() == [0] * 12
    assert sizes[0] == sizes.max()


@pytest.mark.parametrize("pack", PACKS)
def test_a_bound_above_one_packs_whatever_was_asked(pack: str) -> None:
    """The kernel for splits is compiled with packing only; recorded times agree."""
    batch = Batch((2048,) * 16, LLAMA3)
    for splits in ("auto", "2", "4"):
        plan = plan_batch(kvcache_name(pack, splits), batch, H200)
        assert plan.packed
        assert plan.heads == 8
        assert plan.merges


def test_without_splits_packing_is_what_was_asked() -> None:
    """One split, or KV of at most 4 blocks: unpacked tiles, one for each query head."""
    long, short = Batch((2048,) * 16, LLAMA3), Batch((512,) * 16, LLAMA3)
    for name, batch in ((kvcache_name("false", "1"), long), (kvcache_name("false", "auto"), short)):
        plan = plan_batch(name, batch, H200)
        assert (plan.packed, plan.heads, plan.merges) == (False, 32, False)


@pytest.mark.parametrize(
    ("q_len", "group", "varlen_q", "packed"),
    [
        (1, 4, False, True),
        (128, 4, False, False),
        (128, 4, True, True),
        (118, 4, False, False),
        (64, 4, False, True),
        (64, 1, True, False),
        # Filled 0.923 and 0.885 times as well.
        (236, 13, False, False),
        (225, 13, False, True),
    ],
)
def test_packing_follows_how_well_tiles_are_filled(
    q_len: int, group: int, *, varlen_q: bool, packed: bool
) -> None:
    """Below 0.9 of the packed filling, or with query lengths of their own, heads are packed."""
    batch = Batch((4096,) * 64, AttentionShape(8 * group, 8), q_len)
    call = Fa3Call(num_splits=1, varlen_q=varlen_q)
    assert plan_flash_attn_3(batch, H200, call).packed is packed


@pytest.mark.parametrize(
    ("name", "packed"),
    [
        ("fa3-varlen", True),
        ("fa3-varlen-metadata", True),
        ("fa3-kvcache-metadata", False),
        (kvcache_name("auto", "1"), False),
        (kvcache_name("true", "1"), True),
    ],
)
def test_only_the_variable_length_call_always_packs(name: str, *, packed: bool) -> None:
    """A cache with one query length for all is told apart: 128 query tokens fill a tile alone."""
    batch = Batch((512,) * 64, LLAMA3, q_len=128)
    assert plan_batch(name, batch, H200).packed is packed


def test_metadata_computed_ahead_saves_the_preparing_kernel() -> None:
    """Splits stay the same, one launch fewer."""
    batch = _skewed(64)
    plain, ahead = (plan_batch(f"fa3-varlen{s}", batch, H200) for s in ("", "-metadata"))
    assert plain.prepare == "flash::prepare_varlen_num_blocks_kernel"
    assert ahead == replace(plain, prepare=None)


def test_kv_beyond_the_l2_cache_may_be_split_for_very_many_query_tiles() -> None:
    """If nothing masks 143 MB of KV a head and enough tiles read it, the kernel for splits runs.

    The preparing kernel leaves the request whole nevertheless: it fills the SMs anyway.
    """
    batch = Batch((280_000,), AttentionShape(1, 1), q_len=40_000)
    plan = plan_flash_attn_3(batch, H200)
    assert (plan.merges, plan.max_splits) == (True, 1)
    assert not plan_flash_attn_3(replace(batch, causal=True), H200).merges
    assert not plan_flash_attn_3(replace(batch, q_len=30_000), H200).merges
    assert not plan_flash_attn_3(replace(batch, kv_lens=(90_000,)), H200).merges


@pytest.mark.parametrize(
    ("head_dim", "dtype", "causal", "tile"),
    [
        (128, DType.BF16, False, Tile(128, 176)),
        (128, DType.BF16, True, Tile(128, 128)),
        (64, DType.BF16, False, Tile(192, 192)),
        (64, DType.BF16, True, Tile(192, 128)),
        (80, DType.BF16, True, Tile(192, 144)),
        (192, DType.BF16, False, Tile(128, 112)),
        (256, DType.BF16, False, Tile(128, 80)),
        (128, DType.FP8, True, Tile(128, 224)),
        (192, DType.FP8, True, Tile(128, 160)),
        (256, DType.FP8, False, Tile(128, 128)),
    ],
)
def test_tiles_are_those_of_the_source(
    head_dim: int, dtype: DType, *, causal: bool, tile: Tile
) -> None:
    """hopper/tile_size.h, equal head dimensions."""
    assert fa3_tile(head_dim, dtype, causal=causal) == tile


def test_one_query_token_needs_no_mask() -> None:
    """Causal or not, the blocks of a single query token are those without a mask."""
    batch = Batch((8192,) * 8, LLAMA3)
    masked = plan_flash_attn_3(replace(batch, causal=True), H200)
    assert masked.block_tokens == 176
    assert masked.splits == plan_flash_attn_3(batch, H200).splits


def test_flash_attention_2_splits_the_whole_batch_alike() -> None:
    """33 % of two CTAs on each SM: three splits for every request, long or short."""
    shape = replace(QWEN3, page_size=256)
    plan = plan_batch("flash-attn-paged", Batch((100_000, *[300] * 21), shape), H200)
    assert plan.splits == (3,) * 22
    assert plan.grid == (1, 3, 22 * 4)
    assert plan.items().kv_tokens.tolist()[3:6] == [128, 128, 44]


def test_flash_attention_2_packs_single_query_tokens_only() -> None:
    """With two query tokens each query head reads its KV on its own."""
    shape = replace(QWEN3, page_size=256)
    plans = [plan_batch("flash-attn-paged", Batch((9000,), shape, q), H200) for q in (1, 2)]
    assert [(p.packed, p.heads) for p in plans] == [(True, 4), (False, 32)]


def test_flash_attention_2_cuts_a_request_before_it_masks_it() -> None:
    """Chunks are of the whole request, so the first query tile leaves the last ones empty."""
    shape = AttentionShape(1, 1, page_size=256)
    batch = Batch((512,), shape, q_len=512, causal=True)
    items = plan_batch("flash-attn-paged", batch, H200).items()
    first = items.kv_tokens[items.q_tile == 0]
    assert first.tolist() == [64, 0, 0, 0]
    assert items.kv_tokens[items.q_tile == 7].tolist() == [128] * 4


def test_flash_attention_2_stops_splitting_at_80_percent() -> None:
    """0.8 · 264 CTAs at 4 KV heads: 53 requests are enough."""
    shape = replace(QWEN3, page_size=256)
    plans = [plan_batch("flash-attn-paged", Batch((9000,) * n, shape), H200) for n in (52, 53)]
    assert [p.splits_kv for p in plans] == [True, False]
    assert [p.merges for p in plans] == [True, False]
    assert plans[1].grid == (1, 53, 4)


@pytest.mark.parametrize(
    ("name", "shape", "device", "message"),
    [
        ("fa3-varlen", QWEN3, "a100", "modelled for Hopper only, not for a100"),
        ("fa3-varlen", replace(QWEN3, kv_dtype=DType.FP8), "h200", "of one type"),
        ("fa3-varlen", AttentionShape(8, 8, 512), "h200", "up to 256, not 512"),
        ("flash-attn-paged", QWEN3, "h200", "multiple of 256, not 16"),
        ("flash-attn-paged", AttentionShape(8, 8, dtype=DType.FP8), "h200", "no kernel for fp8"),
    ],
)
def test_what_flash_attention_cannot_do_is_said(
    name: str, shape: AttentionShape, device: str, message: str
) -> None:
    """One line says which GPU, type, page size or head dimension does not fit."""
    with pytest.raises(ValueError, match=message):
        plan_batch(name, Batch((4096,), shape), parse_device(device))


def test_a_number_of_splits_is_checked() -> None:
    """Between 0, which leaves it to FlashAttention-3, and 256."""
    with pytest.raises(ValueError, match="0 to 256 splits, not 257"):
        Fa3Call(num_splits=257)
