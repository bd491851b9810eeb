"""Plans in time: what the model must keep, and where its thresholds lie."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from workloads.devices import parse_device
from workloads.planner import Batch, plan, plan_batch
from workloads.shape import AttentionShape
from workloads.simulator import Simulation, simulate
from workloads.simulator.rates import load_rates
from workloads.workload import parse

BACKENDS = (
    "flashinfer-decode-cuda",
    "flashinfer-decode-cuda-serving",
    "flashinfer-decode-tc-fa2",
    "flashinfer-decode-tc-fa3",
    "fa3-varlen",
    "fa3-varlen-splits-1",
)
SHAPE = AttentionShape(32, 4)
H200 = parse_device("h200")


def simulated(name: str, slug: str, device: str = "h200") -> Simulation:
    known = parse_device(device)
    planned = plan(name, parse(f"decode-{slug}"), known)
    return simulate(planned, known, load_rates().paths[planned.path].rates)


@settings(max_examples=40)
@given(st.lists(st.integers(1, 20_000), min_size=1, max_size=80), st.sampled_from(BACKENDS))
def test_a_simulation_keeps_its_bounds(lengths: list[int], name: str) -> None:
    """Tokens are conserved; the makespan lies between an even spread and serial time."""
    planned = plan_batch(name, Batch(tuple(lengths), SHAPE), H200)
    run = simulate(planned, H200, load_rates().paths[planned.path].rates)
    read = np.bincount(run.request, weights=run.tokens, minlength=len(lengths))
    assert (read == np.array(lengths) * planned.heads).all()
    least = max(run.balanced_us, run.alone_us.max())
    assert least * (1 - 1e-9) <= run.makespan_us <= run.alone_us.sum() * (1 + 1e-9)
    assert 0 <= run.idle_share < 1
    assert run.imbalance >= 1 - 1e-9
    assert run.time_us >= run.makespan_us
    assert set(run.head) == set(range(planned.heads))


def test_one_request_drags_the_batch_beyond_the_threshold() -> None:
    """At 66 requests fa2 splits nothing, and the long request costs more than at 32."""
    at_32, at_66 = (
        simulated("flashinfer-decode-tc-fa2", f"h32x4-d128-bf16-p16-b{b}-skew40-t262144")
        for b in (32, 66)
    )
    assert at_66.time_us > 5 * at_32.time_us
    assert at_66.idle_share > 0.9 > at_32.idle_share
    assert at_66.tokens[at_66.longest] == 104_857


def test_a_slower_memory_takes_longer() -> None:
    """An H100 needs more time than an H200 for a batch that memory limits."""
    slug = "h32x4-d128-bf16-p16-b64-uniform-t262144"
    h100, h200 = (simulated("fa3-varlen", slug, name) for name in ("h100", "h200"))
    assert 1.2 < h100.makespan_us / h200.makespan_us < 1.5


def test_the_planned_occupancy_is_simulated() -> None:
    """An SM of the model holds as many CTAs as the planner counted with."""
    a100, slug = parse_device("a100"), "h32x4-d64-bf16-p16-b64-uniform-t262144"
    rates = load_rates().paths["cuda"].rates
    for ctas in (5, 8):
        planned = plan("flashinfer-decode-cuda", parse(f"decode-{slug}"), a100, occupancy=ctas)
        assert simulate(planned, a100, rates).slots == ctas * a100.sms


def test_every_recorded_path_has_rates() -> None:
    """The stored rates hold the paths that recorded rounds ran, and their errors are small."""
    paths = load_rates().paths
    assert set(paths) == {"cuda", "fa2", "fa3", "flash-attn-3"}
    assert all(path.median_error < 0.25 for path in paths.values())
