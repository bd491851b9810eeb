"""The stored calibration, computed again in part from the recorded rounds."""

from collections.abc import Iterable
from dataclasses import replace
from functools import cache

import msgspec
import pytest

from regress.config import load_config
from regress.model.calibration import Calibration, CellNoise
from regress.model.rates import Scenario
from regress.pipeline.calibrate.calibrate import Simulated, digest_of, noise_of, rounded, setting_of
from regress.pipeline.calibrate.data import pick_rounds, strata_of_twins
from regress.pipeline.calibrate.null import ACROSS, POOLED, NullGate, null_rates, trace_of
from regress.pipeline.calibrate.page import PAGE, page_blocks
from regress.pipeline.calibrate.setting import CONFIDENCE, Setting, run_jobs, workers_of
from regress.pipeline.calibrate.targets import beaten_by
from regress.pipeline.calibrate.twins import offsets
from regress.pipeline.documents import fill
from regress.stats.rates import acceptable
from regress.store.calibration import CALIBRATIONS
from regress.store.rounds import load_machine
from regress.store.tree import RECORDED, scan
from workloads.record import Round

CONFIG = load_config()
STALE = "run `make calibrate`"
GATES = 3000
RATE = 0.01


def _latest() -> Iterable[Calibration]:
    """Return the latest calibration of each GPU model: names sort by time."""
    paths = sorted(CALIBRATIONS.glob("*.json"))
    found = (msgspec.json.decode(path.read_bytes(), type=Calibration) for path in paths)
    return {told.setup["gpu"]: told for told in found}.values()


STORED = tuple(_latest())
each_stored = pytest.mark.parametrize("told", STORED, ids=lambda told: told.setup["gpu"])


@cache
def _rounds(machine: str) -> dict[str, tuple[Round, ...]]:
    return load_machine(scan((RECORDED,)), machine).rounds


def _used(told: Calibration) -> tuple[Round, ...]:
    """Return the rounds that a calibration rests on, however many were recorded since."""
    ids = set(told.rounds)
    rounds = {
        tag: [r for r in found if r.id in ids] for tag, found in _rounds(told.machine).items()
    }
    return pick_rounds(rounds, told.twins)


def _setting(told: Calibration) -> Setting:
    used = _used(told)
    wanted = Simulated(told.tier, told.gates, told.seed, 1, told.twins, told.command)
    strata = strata_of_twins(used, told.twins, told.tier)
    return setting_of(strata, noise_of(used, told.twins, CONFIG), wanted, CONFIG)


def test_a_calibration_is_stored() -> None:
    """Reports have something to quote."""
    assert STORED


@each_stored
def test_it_is_about_todays_thresholds_and_all_recorded_rounds(told: Calibration) -> None:
    """Error rates of other thresholds, or of older rounds, would be quoted otherwise."""
    assert told.thresholds == digest_of(CONFIG), STALE
    assert told.rounds == tuple(r.id for r in pick_rounds(_rounds(told.machine), told.twins)), STALE


@each_stored
def test_noise_and_floors_are_those_of_the_recorded_rounds(told: Calibration) -> None:
    """Every figure of every cell but the simulated ones."""

    def plain(cell: CellNoise) -> CellNoise:
        return msgspec.structs.replace(cell, detectable_80=None, detectable_95=None)

    found = {c.case: c for c in noise_of(_used(told), told.twins, CONFIG)}
    again = tuple(found[c.case] for c in told.cells)
    assert rounded(msgspec.structs.replace(told, cells=again)).cells == tuple(
        plain(c) for c in told.cells
    ), STALE


@each_stored
def test_the_first_gates_come_out_again(told: Calibration) -> None:
    """Suspects, looks and reason codes of single simulated gates."""
    gates = run_jobs(NullGate(_setting(told), POOLED), range(len(told.trace)), None)
    assert trace_of(gates) == told.trace, STALE


@each_stored
def test_offsets_come_out_again(told: Calibration) -> None:
    """What byte-identical stacks differ by, and that the margin covers it."""
    setting = _setting(told)
    again = offsets(setting.sources, setting.cases, CONFIG.ab.margin.minimum)
    assert rounded(msgspec.structs.replace(told, offsets=again)).offsets == told.offsets, STALE
    assert told.offsets[0].shown_beyond == 0


@each_stored
def test_no_rule_has_fewer_false_alarms_and_more_power(told: Calibration) -> None:
    """On the same rounds, at every planted change."""
    assert beaten_by(told.rules) == ()
    assert len(told.rules) > 10


@each_stored
def test_every_rate_that_was_asked_for_is_reached(told: Calibration) -> None:
    """False alarms, undecided cells and power; how much is recorded is no matter of code."""
    rates = [t for t in told.targets if not t.name.startswith("A/A rounds")]
    assert [t.name for t in rates if t.met is False] == []
    assert len(rates) > 5


@each_stored
def test_power_is_told_for_every_scenario_and_family(told: Calibration) -> None:
    """And for every planted change."""
    groups = {p.group for p in told.power}
    assert {c.family for c in told.cells if c.detectable_80 is not None} <= groups
    kinds = {(p.planted, p.scenario, p.group) for p in told.power}
    planted = {p.planted for p in told.power}
    assert len(kinds) == len(planted) * len(groups) * len(Scenario)


def test_the_page_shows_the_stored_calibration() -> None:
    """The tables in the documentation are generated."""
    (told,) = STORED
    text = PAGE.read_text(encoding="utf-8")
    blocks = page_blocks(told)
    assert [name for name in blocks if f"<!-- {name} -->" not in text] == []
    assert fill(text, blocks) == text, STALE


@pytest.mark.simulation
@each_stored
@pytest.mark.parametrize("draws", [POOLED, ACROSS])
def test_thousands_of_null_gates_hold_the_family_wise_rate(told: Calibration, draws: str) -> None:
    """At a true rate of 1 %, so many alarms or fewer come out 95 times in a hundred."""
    fresh = replace(_setting(told), seed=told.seed + 1)
    fresh = fresh.sided(CONFIG.kernel_time.min_rounds) if draws == ACROSS else fresh
    with workers_of(2) as executor:
        gates = run_jobs(NullGate(fresh, draws), range(GATES), executor)
    alarms = null_rates(gates, draws, fresh.families)[0].alarm
    most = acceptable(RATE, GATES, CONFIDENCE)
    assert most == 39
    assert alarms.hits <= most
