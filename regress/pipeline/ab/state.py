"""Finding a run among the round files, and how far it got."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from regress.config import Config
from regress.errors import UsageError
from regress.pipeline.ab.replay import Replay, replay
from regress.pipeline.ab.runs import FIRST, Run, find_runs
from regress.pipeline.cells import index
from regress.pipeline.noise import Noise, calibrated_noise
from regress.pipeline.request import ANY_TIER, Request
from regress.store.rounds import Loaded, load_machine
from regress.store.setup import differences, setup
from regress.store.tree import scan
from workloads import catalog
from workloads.record import Case
from workloads.rehearsal import REHEARSAL

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


def find_state(
    sought: Sought, run_id: str | None = None, cases: Collection[Case] | None = None
) -> State | None:
    """Read the run of this id, or the latest one; None if there is none.

    Parameters
    ----------
    cases
        Only a run that set out to measure just these; None for any.

    Raises
    ------
    UsageError
        If a round file is wrong, or the run was measured with different set-ups.
    """
    tree = scan(sought.request.roots)
    machines = {name for name, tag in tree.files if tag in {sought.base, sought.head}}
    named = sought.request.machine
    machines = machines - {REHEARSAL} if named is None else machines & {named}
    states = []
    for machine in sorted(machines):
        loaded = load_machine(tree, machine)
        rounds = [r for tag in (sought.base, sought.head) for r in loaded.rounds.get(tag, ())]
        runs = find_runs(rounds, sought.base, sought.head)
        fitting = [
            (run, tier, wanted)
            for run in runs
            for tier, wanted in (_meant(run, sought.request),)
            if run_id in {None, run.id} and (cases is None or wanted.keys() == {*cases})
        ]
        if fitting:
            states.append(_replayed(*fitting[-1], machine, loaded, sought.config))
    return max(states, key=lambda state: state.run.rounds[0].started_at, default=None)


def _meant(run: Run, request: Request) -> tuple[str, Mapping[Case, str]]:
    """Return the tier of a run's first stage and the cases that the run set out to measure."""
    first = run.stages.get(FIRST)
    held = {case for stage in run.stages.values() for case in stage.cases}
    tiers = {r.tier for r in first.every} & set(catalog.TIERS) if first else set[str]()
    tier = min(tiers, default=ANY_TIER)
    return tier, replace(request, tier=tier, pattern=None, families=()).cases(sorted(held))


def _check_setup(run: Run) -> None:
    """Refuse a run that went on with another card model, driver branch or toolchain."""
    first, *later = run.rounds
    other = next((r for r in later if setup(r) != setup(first)), None)
    if other is not None:
        msg = (
            f"run {run.id} was measured with different set-ups: {differences(first, other)} in "
            f"round {other.id}; begin another with --new"
        )
        raise UsageError(msg)


def _replayed(  # noqa: PLR0913, PLR0917 - what a state is made of
    run: Run,
    tier: str,
    wanted: Mapping[Case, str],
    machine: str,
    loaded: Loaded,
    config: Config,
) -> State:
    _check_setup(run)
    first = run.stages.get(FIRST)
    # Floors must not move while a run goes on: of its own rounds only the first stage tells noise.
    pairs = tuple(first.whole.values()) if first else ()
    known = index(base for base, _ in pairs), index(head for _, head in pairs)
    started = run.rounds[0].started_at
    calibrated = calibrated_noise(setup(run.rounds[0]), before=started)
    noise = Noise(known, tuple, config.noise, calibrated)
    told = replay(run, wanted, noise, config)
    return State(machine, loaded, run, tier, wanted, noise, told)
