"""The claims of article B, on batch sizes under GQA: each is one small check."""

from typing import Final

from regress.model.claims import Outcome
from regress.model.shape import ShapeKind
from regress.pipeline.claims.evidence import CUDA, FA2, VARLEN, Evidence, LackingError, only, span
from regress.pipeline.thresholds.lines import parsed
from regress.pipeline.thresholds.predict import device_of
from workloads.backend import kvcache_name
from workloads.record import Case
from workloads.shape import AttentionShape

__all__ = [
    "advice_on_splits",
    "bandwidth_saturates",
    "fp8_relieves",
    "gqa_saves_memory_and_time",
    "length_decides_the_batch",
    "packing_helps_short_queries",
    "table_of_settings",
    "throughput_peaks",
]

Checked = tuple[Outcome, str]
_GQA: Final = "decode-h32x8-d128-bf16-p16"
_MHA: Final = "decode-h32x32-d128-bf16-p16"
_AUTO: Final = kvcache_name("true", "auto")
_LENGTHS: Final = (512, 2048, 8192)
_SMALL: Final = 32
_LARGE: Final = 128
"""Up to and from which batch size article B gives advice."""
_GAIN: Final = (1.5, 2.0)
"""What article B says GQA gains over MHA."""
_BEST_BATCH: Final = {512: 128, 8192: 32}
"""Batch size that article B advises for a KV length."""
_ALONE: Final = "kernel alone; tokens/s end to end is not measured"


def throughput_peaks(seen: Evidence) -> Checked:
    """B1: look for a peak at 2,048 KV tokens a request; A100 and GPT-2 are not at hand."""
    every = seen.curves(ShapeKind.THROUGHPUT, _AUTO)
    fitting = [s for s in every if s.line.startswith(_GQA) and ", 2048 " in s.line]
    curve = only(fitting, f"{_GQA}, 2,048 KV tokens a request")
    outcome = Outcome.HOLDS if curve.notable else Outcome.FAILS
    return outcome, f"{curve.message} ({_AUTO}, 32/8 heads, 2,048 KV tokens a request; {_ALONE})"


def table_of_settings(seen: Evidence) -> Checked:
    """B2: the four rows, as FA3 runs them: more than one split packs whatever is asked."""
    rows = ((16, "true", "1"), (64, "true", "1"), (128, "true", "2"), (256, "true", "4"))
    rates = [seen.rates(kvcache_name(p, s), _GQA, 2048)[b] for b, p, s in rows]
    told = ", ".join(f"{r:,.0f} at {row[0]}" for row, r in zip(rows, rates, strict=True))
    falls = rates[3] < rates[2]
    return (Outcome.PARTLY if falls else Outcome.FAILS), (
        f"tokens/s {told}: {rates[3] / rates[2] - 1:+.1%} from 128 to 256 where the article has "
        f"-14.1 % ({_ALONE})"
    )


def advice_on_splits(seen: Evidence) -> Checked:
    """B3: what the advised settings cost against the best measured ones."""
    costs: dict[str, list[float]] = {"small": [], "large": []}
    settings = [kvcache_name("true", s) for s in ("auto", "1", "2", "4")]
    for kv_len in _LENGTHS:
        rates = {name: seen.rates(name, _GQA, kv_len) for name in settings}
        for batch in rates[_AUTO]:
            best = max(of_name[batch] for of_name in rates.values())
            small = batch <= _SMALL
            advised = kvcache_name("true", "1" if small else "4")
            if small or batch >= _LARGE:
                costs["small" if small else "large"].append(best / rates[advised][batch])
    told = (
        f"batch up to 32: {span(costs['small'], 3)}x the best setting's time; from 128: "
        f"{span(costs['large'], 3)}x, with packing, which FA3 forces for more than one split"
    )
    near = 1 + seen.rule.peak_fall
    good = [max(c) <= near for c in costs.values()]
    return (Outcome.HOLDS if all(good) else Outcome.PARTLY if any(good) else Outcome.FAILS), told


def packing_helps_short_queries(seen: Evidence) -> Checked:
    """B4: decode has the shortest query there is; nothing tells of long ones."""
    plain = kvcache_name("false", "auto")
    gains = [
        rate / other[batch]
        for kv_len in _LENGTHS
        for other in [seen.rates(plain, _GQA, kv_len)]
        for batch, rate in seen.rates(_AUTO, _GQA, kv_len).items()
        if batch in other
    ]
    told = (
        f"decode (one query token): packed {span(gains)}x as fast over {len(gains)} workloads; "
        "long queries were not measured with and without packing"
    )
    helps = min(gains) > 1 - seen.rule.peak_fall
    return (Outcome.PARTLY if helps else Outcome.FAILS), told


def bandwidth_saturates(seen: Evidence) -> Checked:
    """B5: KV bytes read a second, against the card's peak."""
    device = device_of(seen.rounds[-1].machine)
    if device is None:
        msg = "the table of devices lacks this GPU"
        raise LackingError(msg)
    shares: dict[int, float] = {}
    for case in seen.found:
        workload = parsed(case.workload)
        kv = workload.kv
        if case == Case(f"{_GQA}-b{kv.batch}-uniform-t{kv.batch * 4096}", VARLEN):
            read_bytes = kv.total * workload.shape.kv_token_bytes
            shares[kv.batch] = read_bytes / (seen.us(case) * 1e-6) / device.bandwidth
    if not shares:
        msg = "no recorded round has uniform batches of 4,096 KV tokens a request"
        raise LackingError(msg)
    told = ", ".join(f"{share:.0%} at batch {b}" for b, share in sorted(shares.items()))
    rises = shares[max(shares)] > 2 * shares[min(shares)]
    return (Outcome.HOLDS if rises else Outcome.FAILS), (
        f"{VARLEN} reads KV at {told} of the peak of {device.bandwidth / 1e12:.1f} TB/s (32/8 "
        "heads, 4,096 KV tokens a request); how busy SMs are is not measured"
    )


def gqa_saves_memory_and_time(seen: Evidence) -> Checked:
    """B6: memory is arithmetic; time is that of MHA over GQA at equal batch and length."""
    gqa, mha = AttentionShape(32, 8), AttentionShape(32, 32)
    saved = 1 - gqa.kv_token_bytes / mha.kv_token_bytes
    gains = []
    for kv_len in _LENGTHS:
        rates = seen.rates(kvcache_name("false", "auto"), _MHA, kv_len)
        packed = seen.rates(_AUTO, _GQA, kv_len)
        gains += [packed[b] / rate for b, rate in rates.items() if b in packed]
    within = min(gains) >= _GAIN[0] and max(gains) <= _GAIN[1]
    return (Outcome.HOLDS if within else Outcome.PARTLY), (
        f"32/8 heads need {saved:.0%} less KV memory; {span(gains)}x the throughput of 32/32 "
        f"heads ({_ALONE})"
    )


def length_decides_the_batch(seen: Evidence) -> Checked:
    """B7: at which batch throughput is highest, long and short."""
    best, told = {}, []
    for kv_len, batch in _BEST_BATCH.items():
        rates = seen.rates(_AUTO, _GQA, kv_len)
        best[kv_len] = max(rates, key=rates.__getitem__)
        told.append(
            f"{kv_len} KV tokens: highest at batch {best[kv_len]}, "
            f"{rates[best[kv_len]] / rates[batch]:.2f}x that at {batch}"
        )
    outcome = Outcome.HOLDS if best == _BEST_BATCH else Outcome.FAILS
    return outcome, f"{'; '.join(told)} ({_AUTO}, {_ALONE}, nor latency limits)"


def fp8_relieves(seen: Evidence) -> Checked:
    """B8: FP8 KV against BF16 KV; the rest needs other hardware or a whole model."""
    gains: dict[str, list[float]] = {FA2: [], CUDA: []}
    for name, values in gains.items():
        for batch in (16, 64, 128, 256):
            slug = f"-p16-b{batch}-uniform-t262144"
            fp8 = Case(f"decode-h32x4-d128-bf16-kvfp8{slug}", name)
            bf16 = Case(f"decode-h32x4-d128-bf16{slug}", name)
            values.append(seen.us(bf16) / seen.us(fp8))
    told = "; ".join(f"{name}: {span(values)}x as fast" for name, values in gains.items())
    good = [min(values) > 1 for values in gains.values()]
    outcome = Outcome.HOLDS if all(good) else Outcome.PARTLY if any(good) else Outcome.FAILS
    return outcome, (
        f"FP8 instead of BF16 KV, uniform batches of 16 to 256: {told}; Ampere, utilisation of "
        "70 to 90 % and blocking synchronisation are not tested"
    )
