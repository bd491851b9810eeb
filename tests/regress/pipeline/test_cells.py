"""Which rounds of a case are compared."""

import pytest

from regress.model.finding import Metric
from regress.pipeline.cells import build_cells, choose_campaign, index
from regress.pipeline.noise import Noise
from tests.regress.builders import CASE, CONFIG, cell_from, lost, make_round, rounds_of

TIMES = {CASE: [100.0, 101.0, 99.0]}


def _observations(tag: str, rounds: int, campaign: str) -> tuple[object, ...]:
    return index(rounds_of(tag, {CASE: [100.0] * rounds}, campaign))[CASE]


def test_the_campaign_with_most_rounds_of_the_weaker_side() -> None:
    """Ten rounds against one count as one."""
    base = (*_observations("v1", 10, "c1"), *_observations("v1", 3, "c2"))
    head = (*_observations("v2", 1, "c1"), *_observations("v2", 3, "c2"))
    assert choose_campaign(base, head) == "c2"


def test_of_equal_campaigns_the_latest() -> None:
    """With as many rounds the later campaign is taken."""
    sides = [(*_observations(tag, 3, "c1"), *_observations(tag, 3, "c2")) for tag in ("v1", "v2")]
    assert choose_campaign(*sides) == "c2"


def test_no_common_campaign() -> None:
    """Sides of different campaigns are compared as a block, over all their rounds."""
    assert choose_campaign(_observations("v1", 3, "c1"), _observations("v2", 3, "c2")) is None
    cell = cell_from(rounds_of("v1", TIMES, "c1"), rounds_of("v2", TIMES, "c2"))
    assert cell.block
    assert len(cell.base.chosen) == len(cell.head.chosen) == 3


def test_lost_rounds_count_for_the_campaign() -> None:
    """A case that fails in the larger campaign is not judged by the smaller one."""
    base = [*rounds_of("v1", TIMES, "c1"), *rounds_of("v1", {CASE: [1.0] * 5}, "c2")]
    head = [*rounds_of("v2", TIMES, "c1")]
    head += [make_round("v2", n, [lost(CASE)], "c2") for n in range(5)]
    assert {o.campaign for o in cell_from(base, head).head.chosen} == {"c2"}


def test_noise_comes_from_all_stacks_but_not_from_their_shifts() -> None:
    """A third stack's rounds tell the noise; the steps between stacks do not."""
    sides = [index(rounds_of(tag, {CASE: [t] * 5})) for tag, t in (("v1", 100), ("v2", 200))]
    third = index(rounds_of("v3", {CASE: [50.0, 52.0, 51.0, 53.0, 49.0, 54.0, 48.0, 55.0, 47.0]}))
    (quiet,) = build_cells({CASE: "f"}, *sides, Noise(sides, tuple, CONFIG.noise, {}))
    (noisy,) = build_cells({CASE: "f"}, *sides, Noise(sides, lambda: (third,), CONFIG.noise, {}))
    assert quiet.noise[Metric.KERNEL_TIME] == 0.0
    assert noisy.noise[Metric.KERNEL_TIME] == pytest.approx(0.04, rel=0.5)
    assert Metric.PLAN_TIME not in noisy.noise
