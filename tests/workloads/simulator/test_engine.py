"""Work items in time obey what any schedule must."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workloads.simulator.engine import Machine, Run, assign, run_assigned, run_grid, run_queue

works = st.lists(st.floats(0.01, 1e4), min_size=1, max_size=60).map(np.array)
machines = st.builds(
    Machine,
    sms=st.integers(1, 8),
    occupancy=st.integers(1, 4),
    sm_share=st.floats(1, 4),
    memory_share=st.floats(1, 40),
)


def every_run(alone_us: np.ndarray, machine: Machine) -> list[Run]:
    return [
        run_grid(alone_us, machine),
        run_queue(alone_us, machine),
        run_assigned(alone_us, assign(alone_us, machine.sms), machine),
    ]


@given(works, machines)
def test_makespan_is_bounded(alone_us: np.ndarray, machine: Machine) -> None:
    """No schedule beats an even spread or its longest item, and none is worse than serial."""
    least = max(alone_us.sum() / machine.throughput, alone_us.max())
    for run in every_run(alone_us, machine):
        assert least * (1 - 1e-9) <= run.end_us.max() <= alone_us.sum() * (1 + 1e-9)


@given(works, machines)
def test_items_take_at_least_their_time_alone(alone_us: np.ndarray, machine: Machine) -> None:
    """Sharing an SM or memory never makes an item faster."""
    for run in every_run(alone_us, machine):
        assert (run.end_us - run.start_us >= alone_us * (1 - 1e-9)).all()


@given(works, machines)
def test_an_sm_never_holds_more_than_fits(alone_us: np.ndarray, machine: Machine) -> None:
    """At every start, the SM holds no more CTAs than its occupancy."""
    run = run_grid(alone_us, machine)
    for cta in range(len(alone_us)):
        now = run.start_us[cta] + 1e-6
        here = (run.sm == run.sm[cta]) & (run.start_us < now) & (run.end_us > now)
        assert here.sum() <= machine.occupancy


@given(works, st.integers(1, 8))
def test_more_sms_are_never_slower(alone_us: np.ndarray, sms: int) -> None:
    """With one CTA on each SM and memory to spare, another SM only helps."""
    few, more = (Machine(n, 1, 1, 1e9) for n in (sms, sms + 1))
    for run in (run_grid, run_queue):
        slower, faster = (float(run(alone_us, m).end_us.max()) for m in (few, more))
        assert faster <= slower * (1 + 1e-9)


def test_one_wave_and_many_agree() -> None:
    """Both ways to time a grid give the same where either would do."""
    rng = np.random.default_rng(1)
    alone_us = rng.uniform(1, 100, 24)
    crowded, roomy = Machine(6, 4, 2.5, 9), Machine(6, 5, 2.5, 9)
    one_wave = run_grid(alone_us, crowded)
    # The last item starts late only if it does not fit: an item of no length takes that place.
    waves = run_grid(np.append(alone_us, 1e-9), crowded)
    np.testing.assert_allclose(waves.end_us[:-1], one_wave.end_us)
    np.testing.assert_allclose(run_grid(alone_us, roomy).end_us, one_wave.end_us)


def test_ctas_share_their_sm() -> None:
    """Two CTAs on an SM that can serve one and a half run at three quarters of their speed."""
    run = run_grid(np.array([30.0, 30.0]), Machine(1, 2, 1.5, 100))
    np.testing.assert_allclose(run.end_us, [40.0, 40.0])


def test_ctas_share_memory() -> None:
    """Four SMs on memory for two take twice as long, and the one left over is at full speed."""
    run = run_queue(np.array([10.0, 10.0, 10.0, 40.0]), Machine(4, 1, 1, 2))
    np.testing.assert_allclose(run.end_us, [20.0, 20.0, 20.0, 50.0])


def test_equal_ctas_spread_over_sms() -> None:
    """What is left after a full wave of equal CTAs goes to as many SMs as possible."""
    run = run_grid(np.full(14, 5.0), Machine(4, 3, 3, 100))
    assert sorted(run.sm[12:]) == [0, 1]


@pytest.mark.parametrize("name", ["sms", "occupancy", "sm_share", "memory_share"])
def test_a_machine_serves_at_least_one_cta(name: str) -> None:
    """A machine without room for one CTA is refused by name."""
    numbers = {"sms": 2, "occupancy": 1, "sm_share": 1, "memory_share": 1, name: 0}
    with pytest.raises(ValueError, match=f"{name} must be at least 1, not 0"):
        Machine(**numbers)
