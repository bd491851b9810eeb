"""All of a night's evidence as one assessment; whatever cannot be judged is a signal itself."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path

from regress.config import Config
from regress.errors import RegressError
from regress.model.alert import Assessment
from regress.pipeline.alerts.data import assess_data
from regress.pipeline.alerts.host import assess_host, stacks_of_both_nights
from regress.pipeline.alerts.jobs import assess_jobs, broken_step, judged_step
from regress.pipeline.alerts.releases import assess_releases, load_history
from regress.pipeline.request import ANY_TIER, Request
from regress.store.rounds import load_machine
from regress.store.tree import Tree, scan

__all__ = ["Evidence", "assess_night"]


@dataclass(frozen=True, slots=True)
class Evidence:
    """What there is to judge a night by.

    Attributes
    ----------
    root
        Folder of all rounds that are kept, tonight's among them.
    machines
        Those that should have measured.
    since, now
        When the night began, and when it is judged.
    within_days
        So old a machine's newest round may be.
    results
        GitHub's result by job.
    said
        What jobs wrote of their faults.
    histories
        Files of the history of each machine.
    """

    root: Path
    machines: tuple[str, ...]
    since: datetime
    now: datetime
    within_days: int
    results: Mapping[str, str]
    said: tuple[str, ...] = ()
    histories: tuple[Path, ...] = ()


def assess_night(
    evidence: Evidence, config: Config, standing: Mapping[str, datetime]
) -> Assessment:
    """Return what the night shows.

    Parameters
    ----------
    standing
        Since when an alert stands that a machine is slow, by machine.

    Raises
    ------
    UsageError
        If the folder of rounds cannot be read at all.
    """
    found = assess_jobs(evidence.results, evidence.said)
    tree = scan((evidence.root,))
    for machine in evidence.machines:
        rounds = partial(_machine, evidence, tree, machine, config, standing.get(machine))
        found += _judged(f"rounds of {machine}", rounds)
    for path in evidence.histories:
        found += _judged(f"history {path.stem}", partial(_history, path))
    return found


def _judged(step: str, judge: Callable[[], Assessment]) -> Assessment:
    try:
        return judge() + Assessment(cleared=(judged_step(step),))
    except RegressError as error:
        return broken_step(step, str(error))


def _machine(
    evidence: Evidence, tree: Tree, machine: str, config: Config, before: datetime | None
) -> Assessment:
    """Judge one machine: its data first, then its stacks of tonight and of the night before."""
    loaded = load_machine(tree, machine)
    every = [r for rounds in loaded.rounds.values() for r in rounds]
    found = assess_data(machine, every, evidence.now, evidence.within_days)
    tags = stacks_of_both_nights(loaded.rounds, evidence.since, before or evidence.since)
    request = Request((evidence.root,), machine, ANY_TIER, None, "")
    return found + assess_host(tags, evidence.since, request, config, before)


def _history(path: Path) -> Assessment:
    return assess_releases(load_history(path))
