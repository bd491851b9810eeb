"""A/B on times: properties that hold for all data, and planted truths."""

from collections import Counter

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regress.config import Config
from regress.detect.ab import detect_kernel_time, detect_plan_time
from regress.model.cell import Cell
from regress.model.finding import Change, Finding
from regress.model.reason import ReasonCode
from regress.model.verdict import Verdict
from tests.regress.builders import (
    CASE,
    CONFIG,
    cell_from,
    cell_of,
    make_round,
    measured,
    rounds_of,
)
from workloads.record import Facts, Kernel, Round

MIRROR = {Verdict.REGRESSION: Verdict.IMPROVEMENT, Verdict.IMPROVEMENT: Verdict.REGRESSION}
near = st.floats(95, 110)
sides = st.lists(near, min_size=1, max_size=7)
QUIET = [100.0, 100.1, 99.9, 100.2, 99.8]


def _one(cell: Cell, config: Config = CONFIG) -> Finding:
    (finding,) = detect_kernel_time([cell], config)
    return finding


def _code(base: list[float], head: list[float]) -> ReasonCode:
    return _one(cell_of(base, head)).reason.code


@given(sides, sides)
def test_swapping_sides_mirrors_the_verdict(base: list[float], head: list[float]) -> None:
    """What is a regression one way is an improvement the other way, all else stays."""
    there, back = _one(cell_of(base, head)), _one(cell_of(head, base))
    assert back.verdict is MIRROR.get(there.verdict, there.verdict)
    assert there.measured
    assert back.measured
    assert there.measured.ratio.estimate == pytest.approx(1 / back.measured.ratio.estimate)
    assert there.measured.p_slower == back.measured.p_faster


@given(sides, sides, st.sampled_from([0.75, 2.0, 1024.0]))
def test_scaling_all_times_changes_nothing(
    base: list[float], head: list[float], factor: float
) -> None:
    """Only ratios count (as long as no time gets small enough for its own minimum)."""
    before = _one(cell_of(base, head))
    after = _one(cell_of([v * factor for v in base], [v * factor for v in head]))
    assert after.reason.code is before.reason.code


@given(st.lists(st.floats(1, 1e4), min_size=1, max_size=8))
def test_identical_samples_never_change(times: list[float]) -> None:
    """The same numbers on both sides are neither a regression nor an improvement."""
    assert _one(cell_of(times, times)).verdict in {Verdict.SAME, Verdict.UNDECIDED}


@given(sides, sides)
def test_too_few_rounds_decide_nothing(base: list[float], head: list[float]) -> None:
    """Below five rounds on a side the verdict is UNDECIDED whatever the numbers are."""
    assert _one(cell_of(base[:4], head)).reason.code is ReasonCode.TOO_FEW_ROUNDS
    assert _one(cell_of(base, head[:4])).verdict is Verdict.UNDECIDED


def test_too_few_rounds_says_how_many() -> None:
    """The message names the rounds needed and the rounds there are."""
    message = _one(cell_of(QUIET[:2], QUIET)).reason.message
    assert "needs 5 rounds a side, has 2 and 5" in message


@pytest.mark.parametrize(
    ("factor", "code"),
    [
        (1.03, ReasonCode.SLOWER),
        (0.97, ReasonCode.FASTER),
        (1.0, ReasonCode.EQUIVALENT),
        (1.002, ReasonCode.EQUIVALENT),
        (1.01, ReasonCode.WIDE_INTERVAL),
    ],
)
def test_planted_shifts_at_little_noise(factor: float, code: ReasonCode) -> None:
    """At 0.2 % noise, 3 % is found, nothing is SAME, and 1 % (the floor itself) stays open."""
    assert _code(QUIET, [v * factor for v in QUIET]) is code


def test_power_and_false_alarms_in_simulation() -> None:
    """At 0.2 % noise: +3 % always found; no false alarm in 2,000 null cells, most are SAME."""
    rng = np.random.default_rng(20)

    def simulate(shift: float, cells: int) -> Counter[Verdict]:
        found: Counter[Verdict] = Counter()
        for _ in range(cells):
            base, head = np.exp(rng.normal(0, 0.002, (2, 5))) * 200
            found[_one(cell_of(list(base), list(head * (1 + shift)))).verdict] += 1
        return found

    assert simulate(0.03, 200)[Verdict.REGRESSION] == 200
    null = simulate(0.0, 2000)
    assert null[Verdict.REGRESSION] + null[Verdict.IMPROVEMENT] == 0
    assert null[Verdict.SAME] >= 1980


def test_a_noisy_cell_raises_its_own_floor() -> None:
    """One percent between processes is no regression at half a percent."""
    noisy = [100.0, 101.0, 99.3, 101.6, 98.8]
    finding = _one(cell_of(noisy, [v * 1.005 for v in noisy]))
    assert finding.measured
    assert finding.measured.floor > 0.03
    assert finding.verdict is Verdict.SAME


def test_no_noise_makes_a_cell_the_same_within_more_than_the_maximum() -> None:
    """A cell that jumps by a third is UNDECIDED, not SAME within its own noise."""
    jumping = [100.0, 130.0, 97.0, 125.0, 95.0, 128.0]
    finding = _one(cell_of(jumping, jumping))
    assert finding.measured
    assert finding.measured.floor == 0.1
    assert finding.verdict is Verdict.UNDECIDED


def test_what_became_noisy_does_not_widen_its_own_floor() -> None:
    """The quieter side tells the noise, whichever it is."""
    noisy = [100.0, 112.0, 97.0, 115.0, 95.0]
    for sides in ((QUIET, noisy), (noisy, QUIET)):
        finding = _one(cell_of(*sides))
        assert finding.measured
        assert finding.measured.floor == 0.01
        assert finding.verdict is Verdict.UNDECIDED


def test_a_wide_floor_does_not_hide_a_plain_shift() -> None:
    """Wholly separate sides within a noisy cell's floor are UNDECIDED, not SAME."""
    base, head = [100.0, 103.0, 100.5, 102.5, 101.5], [104.5, 107.5, 105.0, 107.0, 106.0]
    assert _code(base, head) is ReasonCode.INSIDE_NOISE


def test_small_times_have_their_own_minimum() -> None:
    """Below 50 us a shift of 1.3 % is within the floor of 1.5 %; above it is a regression."""
    quiet = [100.0, 100.01, 99.99, 100.02, 99.98]
    small = [v / 10 for v in quiet]
    assert _code(quiet, [v * 1.013 for v in quiet]) is ReasonCode.SLOWER
    assert _code(small, [v * 1.013 for v in small]) is ReasonCode.EQUIVALENT


def test_rounds_needed_grow_as_the_difference_nears_the_floor() -> None:
    """An undecided cell says how many rounds would probably decide."""
    noisy = [100.0, 101.8, 98.2, 101.2, 98.8]
    rule = msgspec.structs.replace(
        CONFIG.kernel_time,
        floor=msgspec.structs.replace(CONFIG.kernel_time.floor, noise_factor=0.0),
    )
    config = msgspec.structs.replace(CONFIG, kernel_time=rule)
    needed = []
    for factor in (1.0, 1.003):
        finding = _one(cell_of(noisy, [v * factor for v in noisy]), config)
        assert finding.reason.code is ReasonCode.WIDE_INTERVAL
        assert finding.measured
        needed.append(finding.measured.rounds_needed)
    assert 5 < needed[0] < needed[1]


def test_across_campaigns_needs_a_wider_margin() -> None:
    """Without a common campaign 2.5 % is no regression, and the message says why."""
    base = rounds_of("v1", {CASE: QUIET}, "c1")
    head = rounds_of("v2", {CASE: [v * 1.025 for v in QUIET]}, "c2")
    block = _one(cell_from(base, head))
    assert block.verdict is not Verdict.REGRESSION
    assert "across campaigns" in block.reason.message
    together = rounds_of("v2", {CASE: [v * 1.025 for v in QUIET]}, "c1")
    assert _one(cell_from(base, together)).verdict is Verdict.REGRESSION


def test_evidence_tells_what_else_changed() -> None:
    """Changed facts and clocks stand beside the verdict, as values."""

    def side(tag: str, backend: str, mhz: int) -> list[object]:
        record = measured(CASE, 100.0, facts=Facts(resolved_backend=backend), sm_mhz=(mhz,) * 3)
        return [make_round(tag, n, [record]) for n in range(5)]

    finding = _one(cell_from(side("v1", "fa2", 1980), side("v2", "fa3", 1700)))
    assert finding.evidence == (
        Change("resolved_backend", "fa2", "fa3"),
        Change("sm_mhz", 1980.0, 1700.0),
    )


@pytest.mark.parametrize(
    ("head", "evidence"),
    [
        (("throttled",), ()),
        ((), (Change("throttled", 1.0, 0.0),)),
    ],
)
def test_equal_warnings_are_no_evidence(
    head: tuple[str, ...], evidence: tuple[Change, ...]
) -> None:
    """Only a warning that one side lacks can explain a difference."""
    sides = [
        [make_round(tag, n, [measured(CASE, 100.0, warnings=codes)]) for n in range(5)]
        for tag, codes in (("v1", ("throttled",)), ("v2", head))
    ]
    assert _one(cell_from(*sides)).evidence == evidence


def test_a_clock_of_zero_is_no_evidence() -> None:
    """A card that reads 0 MHz has no clock to compare."""
    sides = [
        [make_round(tag, n, [measured(CASE, 100.0, sm_mhz=(mhz,) * 3)]) for n in range(5)]
        for tag, mhz in (("v1", 0), ("v2", 1700))
    ]
    assert _one(cell_from(*sides)).evidence == ()


def test_too_few_rounds_are_counted_once() -> None:
    """The message says what is needed and what is there, and nothing twice."""
    message = _one(cell_of([100.0, 100.1], [100.0, 100.2])).reason.message
    assert message == "needs 5 rounds a side, has 2 and 2"


def test_plan_time_is_information() -> None:
    """plan() host time has its own wide margin and does not gate."""

    def side(tag: str, plan_us: float) -> list[object]:
        times = [(plan_us * f,) for f in (0.99, 1.0, 1.01, 1.02, 0.98)]
        return [make_round(tag, n, [measured(CASE, 1.0, plan_us=t)]) for n, t in enumerate(times)]

    (doubled,) = detect_plan_time([cell_from(side("v1", 50), side("v2", 100))], CONFIG)
    (close,) = detect_plan_time([cell_from(side("v1", 50), side("v2", 60))], CONFIG)
    assert (doubled.verdict, doubled.gates) == (Verdict.REGRESSION, False)
    assert close.verdict is Verdict.SAME


def test_plan_time_is_no_kernel() -> None:
    """The same kernel excuses no slower plan(), and plan() has no SM cycles."""
    facts, kernel = Facts(cubin="0123456789ab"), Kernel("Attention", (1, 1, 1), (128, 1, 1))

    def side(tag: str, plan_us: float) -> list[Round]:
        fields = {"facts": facts, "kernels": (kernel,), "sm_mhz": (1980,) * 3}
        return [
            make_round(tag, n, [measured(CASE, us, plan_us=(plan_us * us,) * 3, **fields)])
            for n, us in enumerate(QUIET)
        ]

    cell = cell_from(side("vbase", 1.0), side("vhead", 10.0))
    (plan,) = detect_plan_time([cell], CONFIG)
    assert plan.reason.code is ReasonCode.SLOWER
    assert plan.measured
    assert plan.measured.cycles is None
    (kernel_time,) = detect_kernel_time([cell], CONFIG)
    assert kernel_time.measured
    assert kernel_time.measured.cycles
