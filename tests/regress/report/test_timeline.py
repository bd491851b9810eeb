"""SMs over time, for the terminal and as a picture."""

import pytest

from regress.report.timeline import of_longest, render_timeline, stretches
from regress.report.timeline_picture import render_timeline_picture
from workloads.devices import parse_device
from workloads.planner import Batch, plan_batch
from workloads.shape import AttentionShape
from workloads.simulator import Simulation, simulate
from workloads.simulator.rates import load_rates

H200 = parse_device("h200")
UNEVEN = (100_000, *((2000,) * 65))
PNG = b"\x89PNG"


def simulated(lengths: tuple[int, ...], name: str = "flashinfer-decode-tc-fa2") -> Simulation:
    plan = plan_batch(name, Batch(lengths, AttentionShape(32, 4)), H200)
    return simulate(plan, H200, load_rates().paths[plan.path].rates)


@pytest.mark.parametrize(
    "name", ["flashinfer-decode-tc-fa2", "flashinfer-decode-cuda", "fa3-varlen"]
)
def test_stretches_hold_every_ctas_time(name: str) -> None:
    """Crowd times length, over all stretches, is the time of all CTAs together."""
    run = simulated(UNEVEN, name)
    held = sum(one.crowd * (one.end_us - one.begin_us) for one in stretches(run))
    assert held == pytest.approx(float((run.run.end_us - run.run.start_us).sum()))
    busy = sum(one.end_us - one.begin_us for one in stretches(run))
    assert busy == pytest.approx(float(run.busy_us.sum()))


def test_the_longest_request_is_marked() -> None:
    """Two rows hold it to the end, all others are idle most of the time."""
    rows = render_timeline(simulated(UNEVEN)).plain.splitlines()
    marked = [row for row in rows if "L" in row]
    assert len(marked) == 2
    assert all(row.endswith("L" * 72) for row in marked)
    assert sum("███" in row for row in rows) == 10
    assert rows[-1].rstrip().endswith("us")


def test_requests_that_are_as_long_are_marked_too() -> None:
    """Two longest requests are both marked; of many equal ones only one is."""
    two, equal = simulated((9000, 9000, 10)), simulated((9000,) * 66)
    assert set(two.request[of_longest(two)]) == {0, 1}
    assert set(equal.request[of_longest(equal)]) == {0}


def test_a_picture_tells_what_it_is() -> None:
    """It names backend, device, workload and model, and the same run gives the same bytes."""
    pytest.importorskip("matplotlib")
    run = simulated(UNEVEN)
    words = ("flashinfer-decode-tc-fa2", "my batch", "predicted by a model")
    svg = render_timeline_picture(run, *words, "svg")
    assert svg == render_timeline_picture(run, *words, "svg")
    assert svg.startswith(b"<?xml")
    assert render_timeline_picture(run, *words, "png").startswith(PNG)
