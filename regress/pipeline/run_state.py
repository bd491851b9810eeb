"""Finding a run among the round files, and how far it got."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from regress.config import Config
from regress.pipeline.cells import index
from regress.pipeline.noise import Noise, calibrated_noise
from regress.pipeline.replay import Replay, replay
from regress.pipeline.request import ANY_TIER, Request
from regress.pipeline.runs import FIRST, Run, find_runs
from regress.store.rounds import Loaded, load_machine
from regress.store.setup import setup
from regress.store.tree import scan
from workloads import catalog
from workloads.record import Case

__all__ = ["Sought", "State", "find_state"]


@dataclass(frozen=True, slots=True)
class Sought:
    """Two stacks to compare, where their rounds lie, and by which rules."""

    base: str
    head: str
    request: Request
    config: Config


@dataclass(frozen=True, slots=True)
class State:
    """A run as far as it was measured.

    Attributes
    ----------
    tier
        That of its first stage.
    wanted
        Every case it set out to measure, with its family.
    """

    machine: str
    loaded: Loaded
    run: Run
    tier: str
    wanted: Mapping[Case, str]
    noise: Noise
    told: Replay


def find_state(sought: Sought, run_id: str | None = None) -> State | None:
    """Read the run of this id, or the latest one; None if there is none.

    Raises
    ------
    UsageError
        If a round file is wrong.
    """
    tree = scan(sought.request.roots)
    machines = {name for name, tag in tree.files if tag in {sought.base, sought.head}}
    if sought.request.machine is not None:
        machines &= {sought.request.machine}
    states = []
    for machine in sorted(machines):
        loaded = load_machine(tree, machine)
        rounds = [r for tag in (sought.base, sought.head) for r in loaded.rounds.get(tag, ())]
        runs = find_runs(rounds, sought.base, sought.head)
        fitting = [run for run in runs if run_id in {None, run.id}]
        if fitting:
            states.append(_replayed(fitting[-1], machine, loaded, sought))
    return max(states, key=lambda state: state.run.rounds[0].started_at, default=None)


def _replayed(run: Run, machine: str, loaded: Loaded, sought: Sought) -> State:
    config = sought.config
    first = run.stages.get(FIRST)
    held = {case for stage in run.stages.values() for case in stage.cases}
    tiers = {r.tier for r in first.every} & set(catalog.TIERS) if first else set[str]()
    tier = min(tiers, default=ANY_TIER)
    wanted = replace(sought.request, tier=tier, pattern=None).cases(sorted(held))
    # Floors must not move while a run goes on: of its own rounds only the first stage tells noise.
    pairs = tuple(first.whole.values()) if first else ()
    known = index(base for base, _ in pairs), index(head for _, head in pairs)
    started = run.rounds[0].started_at
    calibrated = calibrated_noise(setup(run.rounds[0]), before=started)
    noise = Noise(known, (), config.noise, calibrated)
    told = replay(run, wanted, noise, config)
    return State(machine, loaded, run, tier, wanted, noise, told)
