"""Stacks as the site shows them: in order of their release, each with the one before it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from regress.store.stacks import PublishedStack
from workloads.record import Round

__all__ = ["Release", "releases_of"]


@dataclass(frozen=True, slots=True)
class Release:
    """One stack, measured or not.

    Attributes
    ----------
    released
        When it became available, UTC, ISO 8601; of a stack outside the list the start of its
        first round.
    published
        Whether the list of stacks has it; otherwise it is an ad-hoc stack.
    pins
        Libraries with their versions.
    rounds
        Those that may be compared with the other stacks', in order of their start; empty if it
        was not measured.
    previous
        Tag of the latest earlier measured stack of the same libraries; None without one.
    """

    tag: str
    released: str
    published: bool
    pins: tuple[tuple[str, str], ...]
    rounds: tuple[Round, ...]
    previous: str | None = None

    @property
    def day(self) -> str:
        """The date of the release, UTC, ISO 8601."""
        return self.released[:10]

    @property
    def libraries(self) -> frozenset[str]:
        """What it pins: stacks that pin the same are versions of one another."""
        return frozenset(name for name, _ in self.pins)

    def changed(self, other: "Release") -> tuple[tuple[str, str, str], ...]:
        """Return (library, version there, version here) where two stacks differ; `-` for none."""
        ours, theirs = dict(self.pins), dict(other.pins)
        return tuple(
            (name, theirs.get(name, "-"), ours.get(name, "-"))
            for name in dict.fromkeys((*ours, *theirs))
            if ours.get(name) != theirs.get(name)
        )


def releases_of(
    published: Iterable[PublishedStack], rounds: Mapping[str, Sequence[Round]]
) -> tuple[Release, ...]:
    """Return every stack of the list and every measured one, oldest first."""
    found = [
        Release(s.tag, s.released, published=True, pins=s.pins, rounds=tuple(rounds.get(s.tag, ())))
        for s in published
    ]
    listed = {release.tag for release in found}
    found += [_adhoc(tag, r) for tag, r in rounds.items() if r and tag not in listed]
    found.sort(key=lambda release: release.released)
    latest: dict[frozenset[str], str] = {}
    told = []
    for release in found:
        previous = latest.get(release.libraries)
        told.append(replace(release, previous=previous))
        if release.rounds:
            latest[release.libraries] = release.tag
    return tuple(told)


def _adhoc(tag: str, rounds: Sequence[Round]) -> Release:
    pins = tuple(rounds[0].stack.imported.items())
    return Release(tag, rounds[0].started_at, published=False, pins=pins, rounds=tuple(rounds))
