"""The year in one picture: kernel time of a few telling cells over the releases."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import Final

from regress.model.year import Year, YearLine, YearPoint, YearRelease
from regress.pipeline.ab.runs import is_whole
from regress.store.stacks import load_published
from workloads.backend import Layout, backend
from workloads.record import Case, Round

__all__ = ["TELLING", "recorded_year", "year_of"]

_LIBRARY: Final = "flashinfer-python"

_DECODE: Final = "decode-h32x4-d128-bf16-p16-b66"
_PREFILL: Final = "prefill-h32x8-d128-bf16-p16"

TELLING: Final = (
    (
        "decode on auto, one long request",
        Case(f"{_DECODE}-skew40-t262144", "flashinfer-decode-tc-auto-serving"),
    ),
    (
        "decode on auto, uniform",
        Case(f"{_DECODE}-uniform-t262144", "flashinfer-decode-tc-auto-serving"),
    ),
    (
        "decode on fa2, one long request",
        Case(f"{_DECODE}-skew40-t262144", "flashinfer-decode-tc-fa2-serving"),
    ),
    (
        "prefill on auto, 2 query tokens",
        Case(f"{_PREFILL}-q2-b64-uniform-t262144", "flashinfer-prefill-auto"),
    ),
    (
        "prefill on auto, 8,192 query tokens",
        Case(f"{_PREFILL}-q8192-b1-uniform-t8192", "flashinfer-prefill-auto"),
    ),
    ("FA3 varlen, one long request", Case(f"{_DECODE}-skew40-t262144", "fa3-varlen")),
)
"""(what it is, case): what `auto` decides, one backend that it may pick, and a control.

Decode is planned as engines serve it.
"""


def recorded_year(rounds: Mapping[str, Sequence[Round]]) -> Year:
    """Return the telling cells over FlashInfer's published releases.

    Parameters
    ----------
    rounds
        By stack tag.

    Raises
    ------
    UsageError
        If the list of stacks is damaged.
    """
    stacks = (stack for stack in load_published() if _LIBRARY in stack.libraries)
    return year_of(rounds, {stack.tag: stack.released[:10] for stack in stacks})


def year_of(rounds: Mapping[str, Sequence[Round]], days: Mapping[str, str]) -> Year:
    """Return the telling cells over releases.

    Parameters
    ----------
    rounds
        By stack tag; those that hold only cases chosen by what was seen are left aside.
    days
        Date of each stack that counts as a release, oldest first.
    """
    chosen = {tag: [r for r in rounds.get(tag, ()) if is_whole(r)] for tag in days}
    measured = [tag for tag, found in chosen.items() if found]
    gpus = dict.fromkeys(r.machine.gpu for tag in measured for r in chosen[tag])
    return Year(
        gpu=", ".join(gpus),
        releases=tuple(YearRelease(tag, days[tag]) for tag in measured),
        lines=tuple(
            YearLine(
                label,
                case,
                backend(case.backend).layout is Layout.PAGED,
                _points(case, {tag: chosen[tag] for tag in measured}),
            )
            for label, case in TELLING
        ),
    )


def _points(case: Case, chosen: Mapping[str, Iterable[Round]]) -> tuple[YearPoint, ...]:
    times: dict[str, list[float]] = defaultdict(list)
    for tag, rounds in chosen.items():
        for r in rounds:
            found = (record.time_us for record in r.cases if record.case == case)
            times[tag] += [time for time in found if time is not None]
    return tuple(
        YearPoint(tag, median(known), min(known), max(known), len(known))
        for tag, known in times.items()
        if known
    )
