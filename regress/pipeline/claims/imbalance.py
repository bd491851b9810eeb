"""The claims of article A, on load imbalance inside a decode batch: each is one small check."""

from regress.model.claims import Outcome
from regress.model.shape import ShapeKind
from regress.pipeline.claims.evidence import (
    CUDA,
    FA2,
    FA3,
    VARLEN,
    Evidence,
    LackingError,
    only,
    span,
)
from regress.pipeline.thresholds.lines import parsed
from regress.pipeline.thresholds.predict import device_of, occupancy_of
from workloads.planner import plan

__all__ = [
    "balanced_is_linear",
    "cuda_cores_hold_longer",
    "fa3_block_rule",
    "fa3_follows_its_splits",
    "fa3_is_slower_in_flashinfer",
    "fa3_ripples",
    "fa3_stops_at_992",
    "grids_are_flat",
    "packing_shares_reads",
    "prefill_kernel_decodes",
    "splitting_costs_a_merge",
    "threshold_exists",
    "thresholds_follow_formulas",
]

Checked = tuple[Outcome, str]
_SHARDS = {1: "decode-h16x1-d128-bf16-p16", 2: "decode-h16x2-d128-bf16-p16"}
_THREE = ("skew40", "skew60", "skew80")


def balanced_is_linear(seen: Evidence) -> Checked:
    """A1: fit a line at each batch size that was measured with several totals."""
    lines = [s for name in (CUDA, FA2, VARLEN) for s in seen.curves(ShapeKind.LINEARITY, name)]
    lines = [s for s in lines if s.line.startswith("decode-h32x4-d128-bf16-p16-")]
    r2, worst, intercept, slope = (
        [s.figures[key] for s in lines]
        for key in ("r_squared", "worst_deviation", "intercept_us", "slope_us_per_million_tokens")
    )
    told = (
        f"{len(lines)} lines (batch 16 and 128, three backends): R2 at least {min(r2):.4f}, at "
        f"most {max(worst):.1%} off the line, {span(slope, 0)} us per million tokens and "
        f"{span(intercept, 0)} us on top"
    )
    return (Outcome.FAILS if any(s.notable for s in lines) else Outcome.HOLDS), told


def threshold_exists(seen: Evidence) -> Checked:
    """A2: same cost below, time of the longest request above; look for a ramp in between."""
    told, steepest = [], 1.0
    follows = True
    for name in (FA2, CUDA):
        first = seen.threshold(name, "skew40")
        penalties = seen.penalties(name, "skew40")
        below = {b: p for b, p in penalties.items() if b < first}
        steepest = max(steepest, *below.values())
        at = max(below, key=below.__getitem__)
        ratio = seen.skew_us(name, 400, "skew80") / seen.skew_us(name, 400, "skew40")
        follows = follows and abs(ratio / 2 - 1) <= seen.rule.linear_margin
        told.append(
            f"{name}: {penalties[32]:.2f}x at 32, {below[at]:.2f}x at {at}, "
            f"{penalties[first]:.2f}x at {first}; twice as long a request "
            f"takes {ratio:.2f}x at 400"
        )
    if not follows:
        return Outcome.FAILS, "; ".join(told)
    ramp = steepest > seen.rule.ramp_above
    why = "; the cost ramps up before the threshold" if ramp else ""
    return (Outcome.PARTLY if ramp else Outcome.HOLDS), "; ".join(told) + why


def cuda_cores_hold_longer(seen: Evidence) -> Checked:
    """A3: compare the exact thresholds."""
    cuda, cores = seen.threshold(CUDA, "skew40"), seen.threshold(FA2, "skew40")
    outcome = Outcome.HOLDS if cuda > cores else Outcome.FAILS
    return outcome, f"{cuda} on CUDA cores, {cores} on tensor cores (32/4 heads)"


def thresholds_follow_formulas(seen: Evidence) -> Checked:
    """A4: occupancy is read from a plan for serving, not assumed."""
    occupancy = occupancy_of(seen.axis(CUDA, "skew40").shape, seen.rounds)
    if occupancy is None:
        msg = "no recorded plan for serving tells the occupancy"
        raise LackingError(msg)
    cuda, cores = seen.threshold(CUDA, "skew40"), seen.threshold(FA2, "skew40")
    fits = cuda == occupancy * seen.sms // 4 and cores == 2 * seen.sms // 4
    told = [
        f"CUDA cores {cuda} x 4 heads = {cuda * 4} = {seen.sms} SMs x {occupancy} CTAs",
        f"tensor cores {cores} = 2 x {seen.sms} / 4",
    ]
    for heads, shape in _SHARDS.items():
        planned = seen.line(FA2, "skew40", shape).planned
        formula = 2 * seen.sms // heads
        if planned is None or planned.last is None or planned.first is None:
            continue
        fits = fits and planned.last < formula <= planned.first
        told.append(f"H_kv {heads}: above {planned.last}, at most {planned.first} ({formula})")
    return (Outcome.HOLDS if fits else Outcome.FAILS), "; ".join(told)


def grids_are_flat(seen: Evidence) -> Checked:
    """A5: the threshold must not depend on the imbalance; grids as CUPTI saw them."""
    kept = all(len({seen.threshold(name, d) for d in _THREE}) == 1 for name in (CUDA, FA2))
    flat = total = 0
    for name, axis, other in ((CUDA, 1, 2), (FA2, 2, 1)):
        for case, record in seen.records(name):
            if record.kernels:
                grid = record.kernels[0].grid
                total += 1
                flat += grid[axis] == parsed(case.workload).shape.kv_heads and grid[other] == 1
    if not total:
        msg = "no recorded round saw a launch"
        raise LackingError(msg)
    told = (
        f"thresholds {seen.threshold(FA2, 'skew40')} and {seen.threshold(CUDA, 'skew40')} whether "
        f"one request holds 40, 60 or 80 %; {flat} of {total} launches have grids "
        "(items, H_kv) on CUDA cores and (items, 1, H_kv) on tensor cores"
    )
    return (Outcome.HOLDS if kept and flat == total else Outcome.PARTLY), told


def fa3_follows_its_splits(seen: Evidence) -> Checked:
    """A6: with one split every batch must pay, with automatic splits none below the limit."""
    limit = seen.threshold(VARLEN, "skew40")
    one = seen.penalties(f"{VARLEN}-splits-1", "skew40")
    auto = {
        d: max(p for b, p in seen.penalties(VARLEN, d).items() if b < limit)
        for d in ("skew40", "skew80")
    }
    told = (
        f"one split: {span(list(one.values()))}x of uniform at batch {min(one)} to {max(one)}; "
        f"automatic: at most {auto['skew40']:.2f}x (40 %) and {auto['skew80']:.2f}x (80 %) up to "
        f"{limit - 1}; on an H200 and not an H20"
    )
    steady = max(auto.values()) < seen.rule.cliff_above < min(one.values())
    return (Outcome.HOLDS if steady else Outcome.PARTLY), told


def fa3_ripples(seen: Evidence) -> Checked:
    """A7: a larger uniform batch with as many tokens is faster."""
    where = "decode-h32x4-d128-bf16-p16-uniform-t262144"
    ripple = only([s for s in seen.curves(ShapeKind.RIPPLE, VARLEN) if s.line == where], where)
    others = [s for name in (FA2, CUDA) for s in seen.curves(ShapeKind.RIPPLE, name)]
    also = [f"{s.backend} {s.figures['worst']:.2f}x" for s in others if s.line == where]
    outcome = Outcome.HOLDS if ripple.notable else Outcome.FAILS
    return outcome, f"{ripple.message} (for comparison: {', '.join(also)})"


def fa3_block_rule(seen: Evidence) -> Checked:
    """A8: the rule as a model must give every split that FA3's scheduler recorded."""
    device = device_of(seen.rounds[-1].machine)
    if device is None:
        msg = "the table of devices lacks this GPU"
        raise LackingError(msg)
    version = seen.rounds[-1].stack.imported.get("fa3-fwd")
    facts = {case: r.facts for case, r in seen.records(VARLEN) if r.facts and r.facts.max_splits}
    if not facts:
        msg = f"no recorded round has the scheduler's splits of {VARLEN}"
        raise LackingError(msg)
    right = 0
    for case, told in facts.items():
        splits = plan(VARLEN, parsed(case.workload), device, version=version).splits
        right += (max(splits), sum(splits)) == (told.max_splits, told.work_items)
    outcome = Outcome.HOLDS if right == len(facts) else Outcome.PARTLY
    return outcome, f"the rule gives the recorded splits of {right} of {len(facts)} workloads"


def fa3_stops_at_992(seen: Evidence) -> Checked:
    """A9: exact thresholds of FA3 by its own metadata."""
    found = {d: seen.threshold(VARLEN, d) for d in (*_THREE, "two40")}
    told = ", ".join(f"{first} ({name})" for name, first in found.items())
    outcome = Outcome.HOLDS if set(found.values()) == {993} else Outcome.FAILS
    return outcome, f"first batch without a split: {told}"


def prefill_kernel_decodes(seen: Evidence) -> Checked:
    """A10: the first kernel that CUPTI saw of each launch."""
    names = [r.kernels[0].name for _, r in seen.records(FA2) if r.kernels]
    if not names:
        msg = "no recorded round saw a launch"
        raise LackingError(msg)
    reused = sum(name.endswith("BatchPrefillWithPagedKVCacheKernel") for name in names)
    fa3 = {r.kernels[0].name.rpartition("::")[2] for _, r in seen.records(FA3) if r.kernels}
    told = f"{reused} of {len(names)} launches of {FA2}; {FA3} runs {' and '.join(sorted(fa3))}"
    return (Outcome.HOLDS if reused == len(names) else Outcome.PARTLY), told


def packing_shares_reads(seen: Evidence) -> Checked:
    """A12: with one split, packing must save time; tile sizes are in no record."""
    packed, plain = (
        seen.rates(f"fa3-kvcache-pack-{p}-splits-1", "decode-h32x8-d128-bf16-p16", 2048)
        for p in ("true", "false")
    )
    gains = [packed[b] / plain[b] for b in packed if b in plain]
    told = (
        f"packed is {span(gains)}x as fast at batch {min(packed)} to {max(packed)} (32/8 heads, "
        "one split); sizes of tiles are in no record and not tested"
    )
    return (Outcome.HOLDS if min(gains) > 1 else Outcome.FAILS), told


def splitting_costs_a_merge(seen: Evidence) -> Checked:
    """A13: which launches have a merge kernel, and thresholds by KV heads."""
    split, merged, plain, idle = 0, 0, 0, 0
    for name in (CUDA, FA2):
        for _, record in seen.records(name):
            if record.kernels and record.facts and record.facts.splits_kv is not None:
                merge = len(record.kernels) > 1
                split += record.facts.splits_kv
                merged += record.facts.splits_kv and merge
                plain += not record.facts.splits_kv
                idle += not record.facts.splits_kv and merge
    first = seen.threshold(FA2, "skew40")
    places = {h: seen.line(FA2, "skew40", shape).planned for h, shape in _SHARDS.items()}
    lasts = {h: b.last for h, b in places.items() if b is not None and b.last is not None}
    cost = seen.curves(ShapeKind.MERGE)[0].figures
    shards = "".join(f", {h} still at {last}" for h, last in sorted(lasts.items(), reverse=True))
    told = (
        f"a merge kernel runs in {merged} of {split} launches that split and {idle} of {plain} "
        f"that do not; FA3 with a merge it does not need: {cost['median_us']:+.1f} us (median), "
        f"{cost['highest_ratio']:.2f}x at most; 4 KV heads split up to batch {first - 1}{shards}"
    )
    rising = lasts.get(1, 0) >= first
    return (Outcome.HOLDS if merged == split and rising else Outcome.PARTLY), told


def fa3_is_slower_in_flashinfer(seen: Evidence) -> Checked:
    """A14: FlashInfer's two backends on the same workloads, decode and prefill apart."""
    ratios: dict[str, list[float]] = {"decode": [], "prefill": []}
    for phase, fa3, fa2 in (
        ("decode", FA3, FA2),
        ("prefill", "flashinfer-prefill-fa3", "flashinfer-prefill-fa2"),
    ):
        cases = dict.fromkeys(case for case, _ in seen.records(fa3))
        for case in cases:
            other = type(case)(case.workload, fa2)
            if other in seen.found:
                ratios[phase].append(seen.us(case) / seen.us(other))
    if not all(ratios.values()):
        msg = "the recorded rounds do not hold both backends"
        raise LackingError(msg)
    told = "; ".join(
        f"{phase}: FA3 takes {span(r)}x of FA2's time, "
        f"slower in {sum(x > 1 for x in r)} of {len(r)}"
        for phase, r in ratios.items()
    )
    every = all(x > 1 for r in ratios.values() for x in r)
    return (Outcome.HOLDS if every else Outcome.PARTLY), f"{told} workloads"
