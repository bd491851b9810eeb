"""The whole of `backends`: a stack tag in, a report on choosing a backend out."""

from collections import Counter
from collections.abc import Iterable, Sequence
from statistics import median

from regress.config import Config
from regress.counted import counted
from regress.detect.inversion import detect_rank_swaps
from regress.detect.regret import detect_regrets, sum_up
from regress.detect.versus import surely_above
from regress.errors import ExitCode, NoDataError, UsageError
from regress.model.backends import BACKENDS_SCHEMA, BackendsReport, BackendTime, Regret
from regress.model.cell import Observation
from regress.model.race import Race
from regress.pipeline.cells import choose_campaign, index
from regress.pipeline.noise import Index
from regress.pipeline.request import Request
from regress.store.rounds import load_machine
from regress.store.setup import comparable, setup
from regress.store.tree import load_known_tags, scan
from workloads import catalog
from workloads.backend import backend
from workloads.record import Case
from workloads.workload import Workload, parse

__all__ = ["backends", "races_of"]


def backends(
    stack: str, request: Request, config: Config, *, fail_over: float | None = None
) -> BackendsReport:
    """Compare the backends of one stack.

    Raises
    ------
    UsageError
        If the request or a round file is wrong.
    NoDataError
        If the stack was not measured, or none of the wanted cases was.
    """
    tree = scan(request.roots)
    machine = tree.choose_machine((stack,), request.machine, load_known_tags())
    loaded = load_machine(tree, machine)
    every = loaded.of(stack)
    shared = comparable(every, every)
    rounds = [r for r in every if setup(r) == shared]
    found = index(rounds)
    request = request.settle(rounds)
    wanted = request.cases(found)
    races = races_of(wanted, found)
    if not races:
        msg = f"no wanted case of {stack} was measured on {machine}: measure this tier first"
        raise NoDataError(msg)
    regrets = detect_regrets(races, config.backends)
    left_out = len(every) - len(rounds)
    return BackendsReport(
        schema=BACKENDS_SCHEMA,
        command=request.command,
        stack=stack,
        machine=machine,
        setup=dict(shared),
        tier=request.tier,
        pattern=request.pattern,
        fail_over=fail_over,
        exit_code=_exit_code(regrets, fail_over),
        families=sum_up(regrets, races, config.backends),
        regrets=regrets,
        swaps=detect_rank_swaps(races, config.backends),
        times=_times(wanted, found),
        aliases=_aliases({case.workload for case in wanted}),
        warnings=(
            *loaded.warnings,
            *(
                [f"{counted(left_out, 'round')} of {stack} with another set-up: not used"]
                if left_out
                else []
            ),
        ),
    )


def _exit_code(regrets: Iterable[Regret], fail_over: float | None) -> ExitCode:
    """Fail on a regret that is shown; one that only seems too high leaves it undecided."""
    if fail_over is None:
        return ExitCode.PASS
    high = [r for r in regrets if r.ratio.estimate > fail_over]
    if any(r.inverted is not None and surely_above(r.ratio, fail_over) for r in high):
        return ExitCode.REGRESSION
    return ExitCode.UNDECIDED if high else ExitCode.PASS


def races_of(wanted: Iterable[Case], found: Index) -> tuple[Race, ...]:
    """Return what is known of each workload's backends, of those that have a time.

    Raises
    ------
    UsageError
        If a case names a workload or backend that nobody knows.
    """
    by_workload: dict[str, list[Case]] = {}
    for case in wanted:
        if case in found:
            by_workload.setdefault(case.workload, []).append(case)
    races = (_race(slug, cases, found) for slug, cases in by_workload.items())
    return tuple(race for race in races if race.times_us)


def _race(slug: str, cases: Sequence[Case], found: Index) -> Race:
    """Take all backends of a workload from the campaign with most rounds of it."""
    campaign = choose_campaign([o for case in cases for o in found[case]])
    times: dict[str, list[float]] = {}
    resolved: dict[str, Counter[str]] = {}
    ids: dict[str, None] = {}
    for case in cases:
        for o in found[case]:
            if o.campaign != campaign or o.record.time_us is None:
                continue
            times.setdefault(case.backend, []).append(o.record.time_us)
            ids[o.round_id] = None
            if o.record.facts and o.record.facts.resolved_backend:
                became = resolved.setdefault(case.backend, Counter())
                became[o.record.facts.resolved_backend] += 1
    usual = {name: counts.most_common(1)[0][0] for name, counts in resolved.items()}
    return Race(_workload(slug, cases), times, usual, tuple(ids))


def _workload(slug: str, cases: Iterable[Case]) -> Workload:
    try:
        for case in cases:
            backend(case.backend)
        return parse(slug)
    except ValueError as error:
        raise UsageError(str(error)) from error


def _times(wanted: Iterable[Case], found: Index) -> tuple[BackendTime, ...]:
    return tuple(_time(case, found[case]) for case in sorted(wanted) if case in found)


def _time(case: Case, observations: Sequence[Observation]) -> BackendTime:
    campaign = choose_campaign(observations)
    chosen = [o.record for o in observations if o.campaign == campaign]
    times = [r.time_us for r in chosen if r.time_us is not None]
    usual = Counter(r.status for r in chosen).most_common(1)[0][0]
    named = backend(case.backend)
    return BackendTime(
        workload=case.workload,
        backend=case.backend,
        layout=named.layout,
        mode=named.mode,
        status=usual,
        reason=next((r.reason for r in reversed(chosen) if r.reason), ""),
        rounds=len(times),
        time_us=median(times) if times else None,
    )


def _aliases(workloads: set[str]) -> tuple[tuple[str, str], ...]:
    return tuple(
        (str(case), str(same)) for case, same in catalog.aliases() if case.workload in workloads
    )
