"""The catalog: which workloads run on which backends, in which tier.

Families are the questions the suite answers. Tiers are nested: every `gate` case is in
`nightly`, every `nightly` case in `sweep`. Each family is one function from a rank of tiers to
cases, so the reason for a choice stands beside it.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Final

from workloads.backend import PACKS, SPLITS, alias_of, kvcache_name
from workloads.kvlen import KvLengths
from workloads.record import Case
from workloads.shape import AttentionShape, DType
from workloads.workload import Phase, Workload

__all__ = ["FAMILIES", "TIERS", "Entry", "aliases", "cases"]

TIERS: Final = ("gate", "nightly", "sweep")

_QWEN3_30B: Final = AttentionShape(32, 4)
_LLAMA3_8B: Final = AttentionShape(32, 8)
_MHA: Final = AttentionShape(32, 32)
_TP_SHARDS: Final = (
    AttentionShape(16, 2),  # Qwen3-30B-A3B, tensor parallel 2
    AttentionShape(8, 1),  # Qwen3-30B-A3B, tensor parallel 4
    AttentionShape(16, 1),  # Qwen3-235B-A22B (64/4 heads, group 16), tensor parallel 4
)
_TOKENS: Final = 262_144
_CUDA: Final = "flashinfer-decode-cuda"
_FA2: Final = "flashinfer-decode-tc-fa2"
_FA3: Final = "flashinfer-decode-tc-fa3"
_AUTO: Final = "flashinfer-decode-tc-auto"
_VARLEN: Final = "fa3-varlen"
_SERVING: Final = "-serving"
_LIGHT: Final = ("uniform", "skew40")
_HEAVY: Final = ("skew60", "skew80", "two40")

_Chosen = Iterator[tuple[Workload, Iterable[str]]]


@dataclass(frozen=True, slots=True)
class Entry:
    """One case of the catalog.

    Attributes
    ----------
    case
        Workload and backend.
    family
        The question it belongs to, one of `FAMILIES`.
    tier
        The smallest tier that holds it.
    """

    case: Case
    family: str
    tier: str


def _decode(shape: AttentionShape, batch: int, distribution: str, total: int) -> Workload:
    return Workload(Phase.DECODE, shape, KvLengths(distribution, batch, total))


def _decode_sweep(tier: str) -> _Chosen:
    """Find where each planner stops splitting, and what a skewed batch costs then.

    Batch sizes are dense around the thresholds the planners' sources predict on 132 SMs at 4 KV
    heads: 66 on tensor cores, about 300 on CUDA cores, 992 in FlashAttention-3.
    """
    return {"gate": _sweep_gate, "nightly": _sweep_nightly, "sweep": _sweep_grid}[tier]()


def _skewed_qwen3(batch: int, distribution: str) -> Workload:
    return _decode(_QWEN3_30B, batch, distribution, _TOKENS)


def _sweep_gate() -> _Chosen:
    for batch, distribution in product((32, 66), _LIGHT):
        yield _skewed_qwen3(batch, distribution), (_CUDA, _FA2, _AUTO, _VARLEN)
    for distribution in _LIGHT:
        serving = [name + _SERVING for name in (_CUDA, _FA2, _AUTO)]
        yield _skewed_qwen3(66, distribution), [*serving, _FA3]
    yield _skewed_qwen3(66, "skew40"), ("fa3-varlen-metadata", _FA3 + _SERVING)
    yield _skewed_qwen3(64, "skew80"), (_FA2, "fa3-varlen-splits-1")
    yield _skewed_qwen3(400, "skew40"), (_CUDA,)
    for batch in (992, 993):
        yield _skewed_qwen3(batch, "skew40"), (_VARLEN,)
    yield _skewed_qwen3(66, "lognormal.s1"), (_CUDA, _FA2)


def _sweep_nightly() -> _Chosen:
    three = (_CUDA, _FA2, _VARLEN)
    for batch, distribution in product((8, 48, 60, 64, 256, 320, 400), _LIGHT):
        yield _skewed_qwen3(batch, distribution), three
    for batch, distribution in product((8, 64, 256), _LIGHT):
        yield _skewed_qwen3(batch, distribution), (_AUTO,)
    for batch, distribution in product((64, 66), _HEAVY):
        yield _skewed_qwen3(batch, distribution), three
    for batch, distribution in product((66, 256), ("lognormal.s1", "zipf.s1")):
        yield _skewed_qwen3(batch, distribution), three
    for batch, name in product((32, 320), (_CUDA, _FA2)):
        yield _skewed_qwen3(batch, "skew40"), (name + _SERVING,)


def _sweep_grid() -> _Chosen:
    batches: list[int] = [8, 16, 32, 48, 56, 60, 64, 65, 66, 67, 128, 256, 296, 297]
    batches += [320, 340, 360, 380, 400, 512, 992, 993, 1024]
    for batch, distribution in product(batches, (*_LIGHT, *_HEAVY)):
        yield _skewed_qwen3(batch, distribution), (_CUDA, _FA2, _VARLEN)
    for batch, distribution in product(batches, _LIGHT):
        yield _skewed_qwen3(batch, distribution), (_CUDA + _SERVING, _FA2 + _SERVING)
    for batch, distribution in product((16, 32, 64, 66, 128, 256, 512), _LIGHT):
        yield _skewed_qwen3(batch, distribution), (_AUTO, _FA3, "fa3-varlen-splits-1")


def _linearity(tier: str) -> _Chosen:
    """Check that the time of a balanced batch is proportional to its KV tokens."""
    thousands = {"gate": (), "nightly": (64, 512), "sweep": (32, 128, 256, 1024)}[tier]
    batches = (128,) if tier == "nightly" else (16, 128)
    for batch, kilo in product(batches, thousands):
        yield _decode(_QWEN3_30B, batch, "uniform", kilo * 1024), (_CUDA, _FA2, _VARLEN)


def _llama_decode(tier: str) -> _Chosen:
    """Run uniform decode with Llama-3-8B heads from a single request on."""
    eager, modes = (_CUDA, _FA2, _AUTO), (_CUDA, _FA2, _AUTO, _CUDA + _SERVING, _FA2 + _SERVING)
    if tier == "gate":
        yield _decode(_LLAMA3_8B, 1, "uniform", 8192), modes
        yield _decode(_LLAMA3_8B, 64, "uniform", 64 * 4096), (*eager, _VARLEN)
        yield _decode(_MHA, 16, "uniform", 16 * 2048), (_CUDA,)
    elif tier == "nightly":
        for batch in (4, 16):
            yield _decode(_LLAMA3_8B, batch, "uniform", batch * 4096), (*modes, _VARLEN)
        yield _decode(_LLAMA3_8B, 64, "uniform", 64 * 4096), (_CUDA + _SERVING, _FA2 + _SERVING)
        yield _decode(_LLAMA3_8B, 1, "uniform", 8192), (_VARLEN,)
    else:
        for batch in (1, 2, 8, 32, 128):
            yield _decode(_LLAMA3_8B, batch, "uniform", batch * 4096), (*modes, _FA3, _VARLEN)


def _tp_shards(tier: str) -> _Chosen:
    """Follow the thresholds up as tensor parallelism leaves 1 or 2 KV heads."""
    cells = {
        "gate": ((264, "skew40"),),
        "nightly": ((132, "uniform"), (132, "skew40"), (264, "uniform")),
        "sweep": ((64, "uniform"), (64, "skew40"), (528, "uniform"), (528, "skew40")),
    }[tier]
    shapes = _TP_SHARDS[-1:] if tier == "gate" else _TP_SHARDS
    for shape, (batch, distribution) in product(shapes, cells):
        yield _decode(shape, batch, distribution, _TOKENS), (_CUDA, _FA2, _VARLEN)


def _prefill_workload(q_len: int, kv_len: int, batch: int, page: int) -> Workload:
    shape = AttentionShape(_LLAMA3_8B.q_heads, _LLAMA3_8B.kv_heads, page_size=page)
    kv = KvLengths("uniform", batch, batch * kv_len)
    return Workload(Phase.PREFILL, shape, kv, q_len, causal=True)


def _prefill(tier: str) -> _Chosen:
    """Set FA2 against FA3 on Hopper: long, many short, chunked, short queries; two page sizes."""
    paths = [f"flashinfer-prefill-{path}" for path in ("fa2", "fa3", "auto")]
    long, chunked = ((8192, 8192, 1),), ((512, 8192, 4),)
    short = ((16, 4096, 16), (2, 4096, 64))
    rest = ((4096, 4096, 2), (1024, 1024, 8), (1, 4096, 64), (64, 4096, 16), (128, 4096, 16))
    if tier == "gate":
        for lengths in (*long, *chunked, *short):
            yield _prefill_workload(*lengths, 16), paths
        yield _prefill_workload(*long[0], 16), (_VARLEN, "sdpa")
        yield _prefill_workload(*short[0], 1), paths[:1]
    elif tier == "nightly":
        for lengths in rest:
            yield _prefill_workload(*lengths, 16), paths
        yield _prefill_workload(1024, 1024, 8, 16), ("sdpa", _VARLEN)
        yield _prefill_workload(*chunked[0], 16), (_VARLEN,)
        for lengths in (*long, *short):
            yield _prefill_workload(*lengths, 1), paths
    else:
        for lengths in (*long, *chunked, *short, *rest, (256, 256, 32)):
            yield _prefill_workload(*lengths, 1), paths
            yield _prefill_workload(*lengths, 16), (*paths, _VARLEN)


def _gqa(tier: str) -> _Chosen:
    """Watch throughput rise with batch, and what pack_gqa and num_splits do to it.

    Multi-head attention stands beside it up to the KV memory that an 80 GB card can spare.
    """
    every = [kvcache_name(pack, splits) for pack, splits in product(PACKS, SPLITS)]
    batches = (16, 32, 64, 128, 256, 512)
    if tier == "gate":
        yield _decode(_LLAMA3_8B, 128, "uniform", 128 * 2048), every[4:10]
        yield _decode(_LLAMA3_8B, 64, "uniform", 64 * 2048), ("fa3-kvcache-metadata",)
        # flash-attn takes pages of 256 tokens only.
        pages = AttentionShape(_LLAMA3_8B.q_heads, _LLAMA3_8B.kv_heads, page_size=256)
        yield _decode(pages, 64, "uniform", 64 * 2048), ("flash-attn-paged", _FA2)
        yield _decode(_MHA, 64, "uniform", 64 * 2048), (kvcache_name("false", "auto"),)
    elif tier == "nightly":
        for batch in batches:
            yield _decode(_LLAMA3_8B, batch, "uniform", batch * 2048), (every[4],)
        yield _decode(_LLAMA3_8B, 16, "uniform", 16 * 2048), every[6:9]
        yield _decode(_MHA, 128, "uniform", 128 * 2048), (every[8], _FA2)
    else:
        for batch, kv_len in product(batches, (512, 2048, 8192)):
            yield _decode(_LLAMA3_8B, batch, "uniform", batch * kv_len), every
            if batch * kv_len <= 512 * 2048:
                auto, one = kvcache_name("false", "auto"), kvcache_name("false", "1")
                yield _decode(_MHA, batch, "uniform", batch * kv_len), (auto, one)


def _fp8_kv(tier: str) -> _Chosen:
    """Run decode with an FP8 KV cache under a BF16 query."""
    shape = AttentionShape(_QWEN3_30B.q_heads, _QWEN3_30B.kv_heads, kv_dtype=DType.FP8)
    cells = {
        "gate": ((64, "uniform"),),
        "nightly": ((16, "uniform"), (66, "skew40")),
        "sweep": ((64, "skew40"), (128, "uniform"), (256, "uniform")),
    }[tier]
    for batch, distribution in cells:
        yield _decode(shape, batch, distribution, _TOKENS), (_CUDA, _FA2, _AUTO)
    if tier == "gate":
        yield _decode(shape, 64, "uniform", _TOKENS), (_FA2 + _SERVING, _VARLEN)


def _cpu(tier: str) -> _Chosen:
    """Choose work small enough to measure on a CPU, where there is no GPU."""
    if tier != "gate":
        return
    tiny = AttentionShape(8, 2, 64, DType.FP32, DType.FP32)
    yield _decode(tiny, 4, "uniform", 4096), ("sdpa",)
    yield _decode(tiny, 4, "skew40", 4096), ("sdpa",)
    kv = KvLengths("uniform", 2, 512)
    yield Workload(Phase.PREFILL, tiny, kv, 256, causal=True), ("sdpa",)


_FAMILY_CASES: Final[dict[str, Callable[[str], _Chosen]]] = {
    "decode-sweep": _decode_sweep,
    "linearity": _linearity,
    "llama-decode": _llama_decode,
    "tp-shards": _tp_shards,
    "prefill-paths": _prefill,
    "gqa-throughput": _gqa,
    "fp8-kv": _fp8_kv,
    "cpu": _cpu,
}
FAMILIES: Final = tuple(_FAMILY_CASES)


@cache
def _catalog() -> tuple[tuple[Entry, ...], tuple[tuple[Case, Case], ...]]:
    entries: dict[Case, Entry] = {}
    same: dict[Case, Case] = {}
    for tier, (family, choose) in product(TIERS, _FAMILY_CASES.items()):
        for workload, backends in choose(tier):
            for name in backends:
                case = Case(workload.slug, name)
                if alias := alias_of(name, workload):
                    same[case] = Case(workload.slug, alias)
                else:
                    entries.setdefault(case, Entry(case, family, tier))
    return tuple(entries.values()), tuple(same.items())


def cases(tier: str = "sweep") -> tuple[Entry, ...]:
    """Return every case of a tier, smaller tiers first; a case has one family.

    Raises
    ------
    ValueError
        If there is no such tier.
    """
    if tier not in TIERS:
        msg = f"unknown tier {tier!r}: use one of {', '.join(TIERS)}"
        raise ValueError(msg)
    wanted = TIERS[: TIERS.index(tier) + 1]
    return tuple(entry for entry in _catalog()[0] if entry.tier in wanted)


def aliases() -> tuple[tuple[Case, Case], ...]:
    """Return (case, the case that runs the very same kernel); the first is never measured."""
    return _catalog()[1]
