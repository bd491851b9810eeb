"""What the rounds of a stack tell of a case, for `step-cost`: one kernel and one plan() time."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median

from regress.model.cell import Observation
from regress.pipeline.cells import choose_campaign
from regress.pipeline.noise import Index
from regress.pipeline.thresholds.lines import parsed
from workloads.backend import backend
from workloads.record import Case, CaseRecord, Round
from workloads.shape import AttentionShape
from workloads.workload import Phase, Workload

__all__ = ["RoundTimes", "Shelf", "Timed", "choose_main"]

RoundTimes = Mapping[tuple[str, str], tuple[float, float]]
"""Kernel and plan() time in microseconds by (campaign, round)."""


@dataclass(frozen=True, slots=True)
class Timed:
    """One case of one stack in one campaign.

    Attributes
    ----------
    kernel_us, plan_us
        Medians over rounds.
    by_round
        The same round by round.
    resolved
        Kernels that `auto` became.
    """

    case: Case
    kernel_us: float
    plan_us: float
    by_round: RoundTimes
    resolved: tuple[str, ...]


@dataclass(frozen=True)
class Shelf:
    """The rounds of one stack, case by case.

    Attributes
    ----------
    rounds
        In order of their start; rounds that `ab` chose by what it saw are not among them.
    found
        What they hold.
    others
        The same of the stack to compare with, which should be read in the same campaign.
    main
        The campaign to prefer.
    """

    tag: str
    rounds: Sequence[Round]
    found: Index
    others: Index
    main: str | None

    def timed(self, case: Case) -> Timed | None:
        """Return the times of a case, or None if no round of its campaign has them."""
        chosen = self._chosen(case)
        times = {
            (o.campaign, o.round_id): both for o in chosen if (both := _times(o.record)) is not None
        }
        if not times:
            return None
        facts = [o.record.facts for o in chosen]
        kernels = dict.fromkeys(f.resolved_backend for f in facts if f and f.resolved_backend)
        return Timed(
            case,
            median(kernel for kernel, _ in times.values()),
            median(planned for _, planned in times.values()),
            times,
            tuple(kernels),
        )

    def refused(self, case: Case) -> str:
        """Return why a case that was tried has no time in any round; empty if it was not tried."""
        records = [o.record for o in self.found.get(case, ())]
        if not records or any(r.time_us is not None for r in records):
            return ""
        return records[-1].reason or str(records[-1].status)

    def _chosen(self, case: Case) -> list[Observation]:
        ours, theirs = self.found.get(case, ()), self.others.get(case, ())
        campaign = self.main
        if campaign not in {o.campaign for o in ours}:
            shared = choose_campaign(ours, theirs) if ours and theirs else None
            campaign = shared or choose_campaign(ours)
        return [o for o in ours if o.campaign == campaign]

    @cached_property
    def workloads(self) -> Mapping[tuple[str, AttentionShape, str], tuple[Workload, ...]]:
        """Decode workloads with times, by backend, shape and distribution.

        Where stacks are compared, only those that both have: neighbours must be the same ones.
        """
        found: dict[tuple[str, AttentionShape, str], list[Workload]] = defaultdict(list)
        for case, observations in self.found.items():
            if self.others and not any(o.measured for o in self.others.get(case, ())):
                continue
            workload = parsed(case.workload)
            if workload.phase is Phase.DECODE and any(o.measured for o in observations):
                key = case.backend, workload.shape, workload.kv.distribution
                found[key].append(workload)
        return {key: tuple(every) for key, every in found.items()}

    def plan_us_near(self, name: str, requests: int) -> float | None:
        """Return plan()'s time of a backend at the recorded batch of the nearest size."""
        if not _plans(name):
            return 0.0
        every = (w for (one, _, _), group in self.workloads.items() if one == name for w in group)
        for workload in sorted(every, key=lambda w: abs(w.kv.batch - requests)):
            timed = self.timed(Case(workload.slug, name))
            if timed is not None:
                return timed.plan_us
        return None


def _times(record: CaseRecord) -> tuple[float, float] | None:
    """Return kernel and plan() time; a plan() that should have been timed and was not is none."""
    planned = record.plan_time_us
    if planned is None and not _plans(record.case.backend):
        planned = 0.0
    if record.time_us is None or planned is None:
        return None
    return record.time_us, planned


def _plans(name: str) -> bool:
    """Whether a backend has host work to do once a step."""
    return backend(name).library == "flashinfer-python" or name.endswith("-metadata")


def choose_main(cases: Iterable[Case], *sides: Index) -> str | None:
    """Return the campaign that holds most of the cases on every side; ties: more rounds, later.

    None if no campaign holds any case on every side.
    """
    wanted = tuple(cases)
    held = [_held(wanted, side) for side in sides]
    shared = set.intersection(*(set(side) for side in held))

    def rank(campaign: str) -> tuple[int, int, str]:
        both = [side[campaign] for side in held]
        common = set.intersection(*(set(counts) for counts in both))
        fewest = min((counts[case] for counts in both for case in common), default=0)
        return len(common), fewest, campaign

    return max(shared, key=rank, default=None)


def _held(cases: Sequence[Case], side: Index) -> Mapping[str, Mapping[Case, int]]:
    """Return how many rounds of each campaign hold each case."""
    counts: dict[str, dict[Case, int]] = defaultdict(lambda: defaultdict(int))
    for case, o in _observed(cases, side):
        counts[o.campaign][case] += 1
    return counts


def _observed(cases: Sequence[Case], side: Index) -> Iterator[tuple[Case, Observation]]:
    for case in cases:
        for o in side.get(case, ()):
            yield case, o
