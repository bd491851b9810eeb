"""The threshold page: ramp, threshold and cliff of each planner, release by release."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from regress.detect.threshold import numbers_of
from regress.model.line import Axis
from regress.model.thresholds import Bracket, Numbers
from regress.pipeline.thresholds.lines import lines_of, sort_rounds
from regress.pipeline.thresholds.predict import predicted_of
from regress.report.thresholds_rows import bracket_words
from regress.site.page import Page
from regress.site.subject import Subject
from regress.site.words import layout_of, spread_words
from workloads import catalog
from workloads.backend import Layout
from workloads.record import Round

__all__ = ["threshold_pages"]


@dataclass(frozen=True, slots=True)
class _AxisRow:
    """One axis: (first and last tag, numbers), equal neighbours together, oldest first."""

    axis: Axis
    told: tuple[tuple[str, str, Numbers], ...]

    @property
    def spread(self) -> str:
        """How the skewed batch shares its tokens."""
        return spread_words(self.axis.distribution)

    @property
    def contiguous(self) -> bool:
        """Whether its backend reads contiguous KV."""
        return layout_of(self.axis.backend) is Layout.CONTIGUOUS

    @property
    def batches(self) -> int:
        """The most batch sizes that a release holds."""
        return max(len(numbers.batches) for _, _, numbers in self.told)


def threshold_pages(subject: Subject) -> Iterator[Page]:
    """Yield the page."""
    numbers = _numbers(subject)
    rows = [_AxisRow(axis, tuple(_folded(found))) for axis, found in sorted(numbers.items())]
    axes = sorted(numbers)
    drawn = _densest(numbers)
    most = max((row.batches for row in rows), default=0)
    yield Page(
        "thresholds.html",
        "thresholds.html",
        "Thresholds",
        {
            "rows": [row for row in rows if row.batches * 3 > most],
            "others": [row for row in rows if row.batches * 3 <= most],
            "words": bracket_words,
            "drawn": drawn,
            "spread": spread_words(drawn[2]) if drawn else "",
            "swept": [r.tag for r in subject.measured if _swept(subject.rounds[r.tag])],
            "picture": {
                "tags": [release.tag for release in subject.measured],
                "axes": [_told(axis, numbers[axis]) for axis in axes if _same(axis) == drawn],
            },
        },
    )


def _swept(rounds: Iterable[Round]) -> bool:
    return any(r.tier == catalog.TIERS[-1] for r in rounds)


def _numbers(subject: Subject) -> dict[Axis, dict[str, Numbers]]:
    rule = subject.config.thresholds
    found: dict[Axis, dict[str, Numbers]] = {}
    for release in subject.measured:
        for axis, line in lines_of(sort_rounds(subject.rounds[release.tag])).items():
            predicted = predicted_of(axis, release.rounds, rule)
            found.setdefault(axis, {})[release.tag] = numbers_of(line, predicted, rule)
    return found


def _folded(found: Mapping[str, Numbers]) -> Iterator[tuple[str, str, Numbers]]:
    """Yield (first, last, numbers); neighbours whose brackets agree stand together."""
    last: tuple[str, str, Numbers] | None = None
    for tag, numbers in found.items():
        if last and _brackets(last[2]) == _brackets(numbers):
            last = (last[0], tag, numbers)
            continue
        if last:
            yield last
        last = (tag, tag, numbers)
    if last:
        yield last


def _brackets(numbers: Numbers) -> tuple[Bracket | None, ...]:
    return numbers.planned, numbers.measured, numbers.predicted, numbers.ramp


def _same(axis: Axis) -> tuple[str, int, str]:
    return axis.shape, axis.tokens, axis.distribution


def _densest(numbers: Mapping[Axis, Mapping[str, Numbers]]) -> tuple[str, int, str] | None:
    """Return shape, tokens and distribution of which the most batch sizes are known."""
    known: Counter[tuple[str, int, str]] = Counter()
    for axis, found in numbers.items():
        known[_same(axis)] += sum(len(told.batches) for told in found.values())
    return max(known, key=lambda same: (known[same], same), default=None)


def _told(axis: Axis, found: Mapping[str, Numbers]) -> Mapping[str, object]:
    return {
        "backend": axis.backend,
        "contiguous": layout_of(axis.backend) is Layout.CONTIGUOUS,
        "told": {
            tag: {
                "planned": _ends(numbers.planned),
                "measured": _ends(numbers.measured),
                "predicted": _ends(numbers.predicted),
                "ramp": _ends(numbers.ramp),
            }
            for tag, numbers in found.items()
        },
    }


def _ends(bracket: Bracket | None) -> list[int | None] | None:
    return None if bracket is None else [bracket.last, bracket.first]
