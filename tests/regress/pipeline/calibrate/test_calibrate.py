"""`calibrate` as a whole, on made-up rounds."""

import msgspec
import pytest

from regress.config import Config
from regress.errors import NoDataError
from regress.model.calibration import Calibration
from regress.model.finding import Metric
from regress.model.rates import Group, Scenario
from regress.pipeline.calibrate.calibrate import calibrate, digest_of, noise_of, setting_of
from regress.pipeline.calibrate.data import pick_rounds, strata_of_twins
from regress.pipeline.calibrate.null import POOLED, NullGate
from regress.pipeline.calibrate.quote import error_rate_of
from regress.pipeline.calibrate.rules import COMPARED
from regress.pipeline.calibrate.setting import run_jobs, workers_of
from tests.regress.builders import CONFIG, OTHER
from tests.regress.pipeline.twins import CASES, TAGS, twin_rounds, wanted


@pytest.fixture(scope="module")
def told() -> Calibration:
    return calibrate(twin_rounds(), wanted(), CONFIG)


def test_equal_input_and_seed_give_equal_results(told: Calibration) -> None:
    """Another seed draws other gates."""
    assert calibrate(twin_rounds(), wanted(), CONFIG) == told
    assert calibrate(twin_rounds(), wanted(seed=2), CONFIG).cells != told.cells


def test_two_processes_simulate_what_one_does() -> None:
    """Each gate has random numbers of its own, so it does not matter who draws it."""
    used = pick_rounds(twin_rounds(), TAGS)
    strata = strata_of_twins(used, TAGS, "gate")
    setting = setting_of(strata, noise_of(used, TAGS, CONFIG), wanted(), CONFIG)
    job = NullGate(setting, POOLED)
    with workers_of(2) as executor:
        assert run_jobs(job, range(10), executor) == run_jobs(job, range(10), None)


def test_it_reads_back(told: Calibration) -> None:
    """What is stored is what was found."""
    assert msgspec.json.decode(msgspec.json.encode(told), type=Calibration) == told


def test_power_grows_with_what_is_planted(told: Calibration) -> None:
    """In every scenario and group; five per cent in a quiet cell is always found."""
    for scenario in Scenario:
        found = [
            p.found.share
            for p in told.power
            if p.scenario is scenario and p.group == Group.QUIET and p.planted.startswith("+")
        ]
        assert found == sorted(found)
        assert found[-1] == 1.0


def test_gates_without_change_are_silent_and_short(told: Calibration) -> None:
    """Quiet rounds are equal at an early look; the time is that of the rounds."""
    pooled = next(n for n in told.null if n.draws == "pooled" and not n.campaign)
    assert pooled.alarm.hits == pooled.improvement.hits == 0
    # Eight rounds of 3 s and 5 cases of 1 s each are the least, and a look more is 32 s.
    assert 64 <= pooled.mean_seconds < 96
    assert {n.campaign for n in told.null} == {"", "c1", "c2"}


def test_noise_is_the_one_of_the_rounds(told: Calibration) -> None:
    """Pooled over campaigns and stacks, with an upper bound above it."""
    first = told.cells[0]
    figure = first.noise[Metric.KERNEL_TIME]
    assert figure.degrees == 2 * 2 * (6 - 1)
    assert figure.sd == pytest.approx(0.002, rel=0.5)
    assert figure.upper > figure.sd
    assert set(first.by_campaign) == {"c1", "c2"}
    assert told.noise[first.case][Metric.KERNEL_TIME] == figure.upper
    assert {c.case for c in told.cells} == set(CASES)


def test_the_smallest_change_found_lies_between_margin_and_floor(told: Calibration) -> None:
    """A quiet cell sees less than its floor of 1 %, and never less than the margin."""
    for cell in told.cells:
        assert cell.detectable_80 is not None
        assert cell.detectable_95 is not None
        assert CONFIG.ab.margin.minimum < cell.detectable_80 <= cell.detectable_95 < 0.012


def test_slow_passes_are_found_once_they_are_many(told: Calibration) -> None:
    """Half of the passes 5 % slower is plain; one of six is beneath the margin of the spread."""
    found = {p.planted: p.found.share for p in told.hidden if p.group == Group.QUIET}
    assert found["1/2 of passes +5%"] == 1.0
    assert found["1/6 of passes +5%"] < 0.1


def test_rules_stand_side_by_side(told: Calibration) -> None:
    """Ours are among them; all have every planted change."""
    names = [r.rule for r in told.rules]
    assert {"ab (ours)", "check (ours)"} <= set(names)
    assert all(tuple(r.power) == COMPARED for r in told.rules)


def test_missing_cases_are_told(told: Calibration) -> None:
    """Most cases of the tier have no made-up rounds."""
    assert any("of tier gate not simulated" in line for line in told.warnings)


def test_targets_need_enough_rounds(told: Calibration) -> None:
    """Twenty-four rounds of two campaigns are less than what is asked for."""
    recorded = told.targets[0]
    assert (recorded.found, recorded.met) == ("24 from 2", False)


def test_too_few_rounds_end_with_one_line() -> None:
    """Nothing can be drawn from three rounds a side."""
    with pytest.raises(NoDataError, match="no campaign has 8 rounds of v1 and v2"):
        calibrate(twin_rounds(rounds=3), wanted(), CONFIG)


def test_reports_quote_the_rates_of_their_own_rule(told: Calibration) -> None:
    """Cells that were not calibrated and other thresholds are told; other commands have none."""
    quoted = error_rate_of(told, "ab", CONFIG, [*CASES, OTHER])
    assert quoted is not None
    assert (quoted.rounds, quoted.campaigns) == (24, 2)
    assert quoted.alarms.of == told.gates
    assert quoted.uncalibrated == (OTHER not in CASES)
    assert quoted.same_thresholds
    assert set(quoted.power) == {"+1%", "+2%", "+5%"}
    check = error_rate_of(told, "check", _other_margin(), CASES)
    assert check is not None
    assert not check.same_thresholds
    assert check.rounds_a_side == "6"
    assert error_rate_of(told, "backends", CONFIG, CASES) is None


def _other_margin() -> Config:
    return msgspec.structs.replace(CONFIG, ab=msgspec.structs.replace(CONFIG.ab, margin=0.01))


def test_only_thresholds_that_decide_gates_count() -> None:
    """What is shown as evidence changes no error rate."""
    shown = msgspec.structs.replace(CONFIG.evidence, clock_difference=0.5)
    assert digest_of(msgspec.structs.replace(CONFIG, evidence=shown)) == digest_of(CONFIG)
    assert digest_of(_other_margin()) != digest_of(CONFIG)
