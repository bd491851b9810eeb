"""Simulated gates decide as `ab` does."""

from pathlib import Path

import numpy as np
import pytest

from regress.detect.screen import Limits
from regress.model.cell import value
from regress.model.finding import Metric
from regress.model.reason import ReasonCode
from regress.pipeline.calibrate.gate import Gate, decide_gate, draw_gate
from regress.stats.simulate import Pool, Sample
from regress.store.load import load_round
from tests.regress.builders import CONFIG
from tests.regress.pipeline.lab import BASE, CASES, HEAD, Lab, run_ab
from workloads.record import Round

RULE = CONFIG.ab
LIMITS = Limits(floor=0.01, margin=0.004, spread=0.02)


@pytest.mark.parametrize("seed", range(1, 7))
def test_a_gate_of_the_laboratory_is_decided_as_ab_decided_it(tmp_path: Path, seed: int) -> None:
    """The same rounds give the same verdict and the same last look of every cell."""
    factors = {CASES[0]: 1.02, CASES[1]: 0.98, CASES[2]: 1.006}
    lab = Lab(tmp_path, factors, slow_passes={CASES[3]: 2}, noise=0.004, seed=seed)
    report = run_ab(lab)
    times = {
        f.series.case: (f.reason.code, Limits(f.measured.floor, f.measured.margin, 0.02))
        for f in report.findings
        if f.series.metric is Metric.KERNEL_TIME and f.measured
    }
    rounds = [load_round(path) for path in tmp_path.rglob("*.json.gz")]
    fates, confirmed = decide_gate(_gate(rounds, [times[case][1] for case in CASES]))
    for cell, case in enumerate(CASES):
        told = confirmed[cell].code if cell in confirmed else ReasonCode.EQUIVALENT
        assert times[case][0] is told
        assert fates[cell].suspect == (cell in confirmed)


def _gate(rounds: list[Round], limits: list[Limits]) -> Gate:
    """Return the gate of the rounds of a run; what was not measured is not a number."""

    def side(tag: str, *, fresh: bool) -> Sample:
        found = [r for r in rounds if r.stack.tag == tag and r.design]
        found = [r for r in found if r.design and (r.design.stage == "confirm") == fresh]
        found.sort(key=lambda r: (r.design.stage, r.design.block) if r.design else ("", 0))
        most = RULE.confirm_rounds if fresh else RULE.looks[-1]
        rows = np.full((2, most, len(CASES)), np.nan)
        for number, r in enumerate(found):
            for record in r.cases:
                for row, metric in enumerate((Metric.KERNEL_TIME, Metric.SPREAD)):
                    read = value(record, metric)
                    assert read is not None
                    rows[row, number, CASES.index(record.case)] = np.log(read)
        return Sample(rows[0], rows[1])

    screen, fresh = ((side(BASE, fresh=f), side(HEAD, fresh=f)) for f in (False, True))
    return Gate(screen, fresh, limits, RULE)


def _drawn(noise: float, seed: int) -> Gate:
    rng = np.random.default_rng(seed)
    values = Sample(rng.normal(0, noise, (12, 3)), np.abs(rng.normal(0, 0.001, (12, 3))))
    pool = Pool(values)
    return draw_gate((pool, pool), [LIMITS] * 3, RULE, rng)[0]


@pytest.mark.parametrize("seed", range(20))
def test_a_larger_slow_down_is_not_missed_where_a_smaller_is_found(seed: int) -> None:
    """So "the smallest change that is found" has a meaning."""
    gate = _drawn(0.003, seed)
    found = [
        gate.fate(0, shift).suspect and gate.confirmed({0: shift})[0].code is ReasonCode.SLOWER
        for shift in np.arange(0, 0.03, 0.001)
    ]
    assert found == sorted(found)
    assert found[-1]


def test_other_suspects_raise_the_evidence_that_is_needed() -> None:
    """The confirmation is one family: what one suspect shows alone, one of many may not."""
    gates = [_drawn(0.004, seed) for seed in range(60)]
    alone, among = (
        sum(gate.confirmed(shifts)[0].code is ReasonCode.SLOWER for gate in gates)
        for shifts in ({0: 0.009}, {0: 0.009, 1: 0.0, 2: 0.0})
    )
    assert among < alone
