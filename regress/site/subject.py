"""Everything that the pages show, loaded and judged once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from statistics import median

from regress.config import Config
from regress.counted import counted
from regress.errors import NoDataError, UsageError
from regress.model.calibration import Calibration
from regress.model.cell import Observation
from regress.model.history import History
from regress.model.rates import ErrorRate
from regress.pipeline.ab.runs import is_whole
from regress.pipeline.calibrate.quote import error_rate_of
from regress.pipeline.cells import index
from regress.pipeline.history.history import history
from regress.pipeline.noise import Index, calibrated_noise
from regress.pipeline.request import AUTO_TIER, Request
from regress.site.pairs import Pair, judge_pairs
from regress.site.releases import Release, releases_of
from regress.site.repeats import Repeats, count_repeats
from regress.site.steps import Step, steps_of
from regress.store.calibration import load_calibration
from regress.store.intact import load_intact
from regress.store.rounds import load_machine
from regress.store.setup import Setup, comparable, setup
from regress.store.stacks import load_published
from regress.store.tree import Tree, scan
from workloads import catalog
from workloads.record import Case, Machine, Round

__all__ = ["Subject", "load_subject"]


@dataclass(frozen=True, slots=True)
class Subject:
    """One machine's rounds, with what the suite says of them.

    Attributes
    ----------
    source
        Options of `regress` that read the same rounds, e.g. `--recorded`.
    machines
        The cards: distinct machines of the rounds.
    setup
        What all rounds shown share.
    releases
        Oldest first, measured or not.
    rounds
        Every round of that set-up by stack, also those in which `ab` looked again.
    families
        Every case that a round holds with its family, in the catalog's order.
    seen
        What all those rounds hold, by stack.
    whole
        What rounds hold that were not chosen by what was seen: only these make numbers.
    times_us
        Median kernel time over those rounds, by stack and case.
    pairs
        Every stack against every earlier one, by (base, head).
    repeats
        Each release against itself in another campaign.
    history
        Every change over all releases, with one error rate; None if there are no two releases.
    steps
        What it says of each release that has one before it.
    numbers
        A number for each round id, by which pages name rounds.
    warnings
        What was left aside, one line each.
    damaged
        Files that could not be read, one line each.
    """

    source: str
    machine: str
    machines: tuple[Machine, ...]
    setup: Setup
    config: Config
    releases: tuple[Release, ...]
    rounds: Mapping[str, tuple[Round, ...]]
    families: Mapping[Case, str]
    seen: Mapping[str, Index]
    whole: Mapping[str, Index]
    times_us: Mapping[str, Mapping[Case, float]]
    pairs: Mapping[tuple[str, str], Pair]
    repeats: Repeats
    history: History | None
    steps: Mapping[str, Step]
    numbers: Mapping[str, int]
    calibration: Calibration | None
    warnings: tuple[str, ...]
    damaged: tuple[str, ...]

    @property
    def measured(self) -> tuple[Release, ...]:
        """The stacks that have rounds, oldest first."""
        return tuple(release for release in self.releases if release.rounds)

    @property
    def check_rate(self) -> ErrorRate | None:
        """How often `check` errs on these cells; None if this GPU is not calibrated."""
        if self.calibration is None:
            return None
        return error_rate_of(self.calibration, "check", self.config, list(self.families))

    def release(self, tag: str) -> Release:
        """Return a stack by its tag."""
        return next(release for release in self.releases if release.tag == tag)

    def time_us(self, tag: str, case: Case) -> float | None:
        """Return the median kernel time over the whole rounds of a stack; None without one."""
        return self.times_us.get(tag, {}).get(case)

    def observations(self, tag: str, case: Case) -> tuple[Observation, ...]:
        """Return what the whole rounds of a stack say of a case."""
        return self.whole.get(tag, {}).get(case, ())


def load_subject(
    roots: Sequence[Path], machine: str | None, source: str, config: Config
) -> Subject:
    """Read and judge what the site shows; a damaged file is named, the rest stands.

    Raises
    ------
    UsageError
        If rounds contradict each other, or several machines measured and none is named.
    NoDataError
        If there is no round.
    """
    tree = scan(roots)
    name = _machine(tree, machine)
    tree, damaged = _intact(tree, name)
    loaded = load_machine(tree, name)
    every = [r for rounds in loaded.rounds.values() for r in rounds]
    if not every:
        msg = f"no rounds of {name} are results: measure a tier, then make the site"
        raise NoDataError(msg)
    shared = comparable(every, every)
    alike = {t: [r for r in rs if setup(r) == shared] for t, rs in loaded.rounds.items()}
    chosen = {tag: [r for r in rounds if is_whole(r)] for tag, rounds in alike.items()}
    releases = releases_of(load_published(), chosen)
    calibration = load_calibration(shared)
    whole = {tag: index(rounds) for tag, rounds in chosen.items() if rounds}
    seen = {tag: index(rounds) for tag, rounds in alike.items() if rounds}
    measured = [release for release in releases if release.rounds]
    calibrated = cache(partial(calibrated_noise, shared, or_first=True))
    told = _history(roots, name, source, config)
    return Subject(
        source=source,
        machine=name,
        machines=tuple({r.machine.gpu_uuid: r.machine for r in every}.values()),
        setup=shared,
        config=config,
        releases=releases,
        rounds={tag: tuple(rounds) for tag, rounds in alike.items()},
        families=_families(seen),
        seen=seen,
        whole=whole,
        times_us={tag: _medians(found) for tag, found in whole.items()},
        pairs=judge_pairs(measured, whole, calibrated, config),
        repeats=count_repeats(measured, whole, calibrated, config),
        history=told,
        steps=steps_of(told) if told else {},
        numbers=_numbers(alike),
        calibration=calibration,
        warnings=(*loaded.warnings, *_aside(loaded.rounds, alike)),
        damaged=damaged,
    )


def _numbers(alike: Mapping[str, Sequence[Round]]) -> dict[str, int]:
    ids = (r.id for rounds in alike.values() for r in rounds)
    return {name: number for number, name in enumerate(ids)}


def _medians(found: Index) -> dict[Case, float]:
    times = {
        case: [o.record.time_us for o in seen if o.record.time_us] for case, seen in found.items()
    }
    return {case: median(known) for case, known in times.items() if known}


def _intact(tree: Tree, machine: str) -> tuple[Tree, tuple[str, ...]]:
    """Leave out the files that cannot be used, and say why."""
    damaged = load_intact(tree, machine).damaged
    unfit = {file.path for file in damaged}
    left = {
        key: tuple(path for path in paths if str(path) not in unfit)
        for key, paths in tree.files.items()
    }
    files = {key: paths for key, paths in left.items() if paths}
    return replace(tree, files=files), tuple(file.problem for file in damaged)


def _history(roots: Sequence[Path], machine: str, source: str, config: Config) -> History | None:
    command = f"python -m regress history {source}".strip()
    try:
        return history(Request(tuple(roots), machine, AUTO_TIER, None, command), config)
    except NoDataError:
        return None


def _machine(tree: Tree, wanted: str | None) -> str:
    names = sorted({machine for machine, _ in tree.files})
    if not names:
        msg = "no rounds to show: measure first, or use --recorded"
        raise NoDataError(msg)
    if wanted is not None and wanted not in names:
        msg = f"no rounds of a machine {wanted!r}: there are {', '.join(names)}"
        raise UsageError(msg)
    if wanted is None and len(names) > 1:
        msg = f"rounds of several machines: choose with --machine {' or '.join(names)}"
        raise UsageError(msg)
    return wanted or names[0]


def _families(seen: Mapping[str, Index]) -> dict[Case, str]:
    held = dict.fromkeys(case for found in seen.values() for case in found)
    listed = {entry.case: entry.family for entry in catalog.cases()}
    known = {case: family for case, family in listed.items() if case in held}
    return known | {case: "uncatalogued" for case in sorted(held) if case not in listed}


def _aside(every: Mapping[str, Sequence[Round]], alike: Mapping[str, Sequence[Round]]) -> list[str]:
    return [
        f"{counted(others, 'round')} of {tag} with another set-up: not shown"
        for tag, rounds in every.items()
        if (others := len(rounds) - len(alike[tag]))
    ]
