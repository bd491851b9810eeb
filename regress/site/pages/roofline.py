"""The roofline: achieved bandwidth and operations a second, against the most that was measured."""

from collections.abc import Iterator, Mapping
from typing import Final

from regress.pipeline.thresholds.predict import device_of
from regress.site.page import Page
from regress.site.subject import Subject
from workloads.cost import Cost, cost
from workloads.record import Case
from workloads.workload import parse

__all__ = ["roofline_pages"]

_PER_US: Final = 1e6


def roofline_pages(subject: Subject) -> Iterator[Page]:
    """Yield the page; times come from the script that `compare` loads too."""
    work = [_work(case) for case in subject.families]
    device = device_of(subject.measured[-1].rounds[-1].machine)
    yield Page(
        "roofline.html",
        "roofline.html",
        "Roofline",
        {
            "tags": [release.tag for release in subject.measured],
            "device": device,
            "most": {name: _most(subject, name) for name in ("bytes", "flops")},
            "picture": {
                "work": [[c.flops, c.bytes] if c else None for c in work],
                "ceilings": {
                    name: told[0] if (told := _most(subject, name)) else None
                    for name in ("bytes", "flops")
                },
                "datasheet": device.bandwidth if device else None,
            },
        },
    )


def _work(case: Case) -> Cost | None:
    try:
        return cost(parse(case.workload))
    except ValueError:
        return None


def _most(subject: Subject, name: str) -> tuple[float, str, Case] | None:
    """Return the highest rate of any cell, a second, with its release and case."""
    work: Mapping[Case, Cost | None] = {case: _work(case) for case in subject.families}
    return max(
        (
            (getattr(least, name) / time_us * _PER_US, tag, case)
            for tag, times in subject.times_us.items()
            for case, time_us in times.items()
            if (least := work[case])
        ),
        default=None,
        key=lambda told: told[0],
    )
