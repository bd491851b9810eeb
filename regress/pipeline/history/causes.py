"""The likely cause of a change: what the rounds say ran, and what differs in the sources."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import msgspec

from regress.counted import counted
from regress.model.cause import Cause, ChangedFile
from regress.model.finding import Change, Metric, Scalar
from regress.model.history_series import Drift, Step
from regress.store.columns import Ran
from regress.store.sources import Sources
from workloads.record import Case, Facts

__all__ = ["Signature", "cause_of", "coverage_cause", "fact_changes", "ran_changes", "sign"]

_MOST_NAMED: Final = 3
_PATHS: Final = {
    "decode": ("decode",),
    "prefill": ("prefill",),
    "fa2": ("prefill",),
    "fa3": ("sm90", "hopper", "prefill"),
    "cuda": ("decode",),
}
"""Words in the names of files that a phase or a path uses, the most telling first."""


class Sort(StrEnum):
    """What sort of thing differs, the one that explains most first."""

    BACKEND = "backend"
    KERNELS = "kernels"
    PLAN = "plan"
    CODE = "code"
    UNKNOWN = "unknown"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Signature:
    """What changes with one cause have in common.

    Attributes
    ----------
    detail
        For a backend both names, else phase and path of the cases.
    """

    sort: Sort
    detail: str


def fact_changes(before: Ran | None, after: Ran | None) -> tuple[Change, ...]:
    """Return the plan facts that differ; the hash of the device code is none of them."""
    names = [name for name in Facts.__struct_fields__ if name != "cubin"]
    return tuple(_facts(before, after, names))


def ran_changes(before: Ran | None, after: Ran | None) -> tuple[Change, ...]:
    """Return everything that differs between what two releases told: facts, kernels, code."""
    found = _facts(before, after, Facts.__struct_fields__)
    launches = [" + ".join(map(str, ran.kernels)) if ran else "" for ran in (before, after)]
    if all(launches) and launches[0] != launches[1]:
        found.append(Change("kernels", *launches))
    return tuple(found)


def _facts(before: Ran | None, after: Ran | None, names: Sequence[str]) -> list[Change]:
    if before is None or after is None or before.facts is None or after.facts is None:
        return []
    sides = [msgspec.structs.asdict(facts) for facts in (before.facts, after.facts)]
    return [Change(n, sides[0][n], sides[1][n]) for n in names if sides[0][n] != sides[1][n]]


def sign(case: Case, metric: Metric, before: Ran | None, after: Ran | None) -> Signature:
    """Return what a change of a case has in common with others of the same cause."""
    facts = {change.name: change for change in fact_changes(before, after)}
    backend = facts.get("resolved_backend")
    if backend is not None and backend.base and backend.head:
        return Signature(Sort.BACKEND, f"{backend.base} to {backend.head}")
    return Signature(_sort(metric, before, after, plan=bool(facts)), _path(case, after))


def _sort(metric: Metric, before: Ran | None, after: Ran | None, *, plan: bool) -> Sort:
    if before is None or after is None:
        return Sort.UNKNOWN
    if _names(before) != _names(after):
        return Sort.KERNELS
    if plan or before.kernels != after.kernels:
        return Sort.PLAN
    if metric is not Metric.KERNEL_TIME or not (before.known and after.known):
        return Sort.UNKNOWN
    return Sort.NOTHING if before == after else Sort.CODE


def _names(ran: Ran) -> tuple[str, ...]:
    return tuple(kernel.name for kernel in ran.kernels)


def _path(case: Case, ran: Ran | None) -> str:
    """Return e.g. `decode fa2`: cases of one phase and path share their sources."""
    phase = case.workload.partition("-")[0]
    resolved = ran.facts.resolved_backend if ran and ran.facts else None
    return f"{phase} {resolved or case.backend.removesuffix('-serving').rpartition('-')[2]}"


def cause_of(
    signature: Signature, step: Step | Drift, sources: Sources, pair: tuple[str, str]
) -> Cause:
    """Put the cause into words, with the files that differ; `step` is the largest of its kind."""
    changed = sources.changed(*pair)
    evidence = step.evidence if isinstance(step, Step) else ()
    phase = step.series.case.workload.partition("-")[0]
    # Which kernel runs is decided in Python; what it does, in its sources.
    chooses = (f"{phase}.py", "utils.py")
    words = [word for part in signature.detail.split() for word in _PATHS.get(part, ())]
    files = _ordered(changed or (), chooses if signature.sort is Sort.BACKEND else words)
    told = _told(signature, evidence)
    explained = signature.sort not in {Sort.UNKNOWN, Sort.NOTHING}
    return Cause(f"{told}; {_sources_told(changed, files)}", explained, evidence, files)


def coverage_cause(why: str, sources: Sources, pair: tuple[str, str]) -> Cause:
    """Return the cause of a case that was lost or appeared: what was said of it."""
    changed = sources.changed(*pair)
    return Cause(why, explained=True, evidence=(), files=_ordered(changed or (), ()))


def _told(signature: Signature, evidence: Sequence[Change]) -> str:
    changes = {change.name: change for change in evidence}
    match signature.sort:
        case Sort.BACKEND:
            change = changes["resolved_backend"]
            return f"the backend resolves to {change.head}, was {change.base}"
        case Sort.KERNELS:
            kernels = changes["kernels"]
            return f"other kernels run: {_short(kernels.head)}, was {_short(kernels.base)}"
        case Sort.PLAN:
            plan = [c for c in evidence if c.name not in {"kernels", "cubin"}]
            told = ", ".join(f"{c.name} {c.head}, was {c.base}" for c in plan[:_MOST_NAMED])
            return f"the plan differs: {told or 'launch shape'}"
        case Sort.CODE:
            return "the same kernels under the same plan, compiled to other device code"
        case Sort.UNKNOWN:
            return "the rounds do not tell what ran in both"
        case Sort.NOTHING:
            return "nothing that the rounds tell differs: unexplained"


def _short(launches: Scalar) -> str:
    """Return the names of kernels without namespaces and launch shapes."""
    names = [part.partition("<<<")[0].rpartition("::")[2] for part in str(launches).split(" + ")]
    return " + ".join(names)


def _sources_told(changed: tuple[ChangedFile, ...] | None, files: Sequence[ChangedFile]) -> str:
    if changed is None:
        return "the sources are not kept"
    if not changed:
        return "no attention source differs"
    named = ", ".join(_named(file) for file in files[:_MOST_NAMED])
    rest = len(files) - _MOST_NAMED
    return f"sources that differ: {named}" + (
        f" and {counted(rest, 'file')} more" if rest > 0 else ""
    )


def _named(file: ChangedFile) -> str:
    name = file.path.rpartition("/")[2]
    functions = ", ".join(f.rpartition(".")[2] for f in file.functions[:_MOST_NAMED])
    return f"{name} ({functions})" if functions else f"{name} ({file.change})"


def _ordered(files: Sequence[ChangedFile], words: Sequence[str]) -> tuple[ChangedFile, ...]:
    """Return the files, first those whose path holds the first of these words, and so on."""

    def rank(file: ChangedFile) -> tuple[int, bool, str]:
        fitting = [n for n, word in enumerate(words) if word in file.path]
        return min(fitting, default=len(words)), not file.functions, file.path

    return tuple(sorted(files, key=rank))
