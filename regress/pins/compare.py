"""The pins of two commits, compared: what changed, and whether it can be measured."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from packaging.version import Version

from regress.model.bump import BumpCode, BumpReason, Direction, PinChange
from regress.pins.pin import LIBRARIES, Pin

__all__ = ["Compared", "Files", "compare", "moved"]

Files = Mapping[str, tuple[Pin, ...]]
"""Pins by file."""

_LONGEST: Final = 120


@dataclass(frozen=True, slots=True)
class Compared:
    """What became of the pins.

    Attributes
    ----------
    stop
        Why nothing is measured; None if both sides can be.
    changes
        Exact pins that differ.
    base_pins, head_pins
        `name==version` of what both sides pin exactly.
    notes
        What is left aside.
    """

    stop: BumpReason | None
    changes: tuple[PinChange, ...] = ()
    base_pins: tuple[str, ...] = ()
    head_pins: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def moved(base: Files, head: Files) -> bool:
    """Whether any library is asked for differently, in whichever file."""
    return any(_asked(base, library) != _asked(head, library) for library in LIBRARIES)


def compare(base: Files, head: Files) -> Compared:
    """Compare what all files of both commits say."""
    touched = [name for name in LIBRARIES if _asked(base, name) != _asked(head, name)]
    wrong = next((reason for name in touched for reason in _wrong(base, head, name)), None)
    if wrong:
        return Compared(wrong)
    pairs = {name: (_versions(base, name), _versions(head, name)) for name in LIBRARIES}
    changes = tuple(
        _change(name, *pairs[name], base, head) for name in touched if _differ(*pairs[name])
    )
    notes = tuple(note for name in touched for note in _inexact(base, head, name))
    both = {
        name: (before[0], after[0])
        for name, (before, after) in pairs.items()
        if len(before) == len(after) == 1
    }
    stop = _nothing_to_measure(changes, notes)
    return Compared(
        stop,
        changes,
        tuple(f"{name}=={before}" for name, (before, _) in both.items()),
        tuple(f"{name}=={after}" for name, (_, after) in both.items()),
        notes,
    )


def _pins(files: Files, library: str) -> Iterator[Pin]:
    return (pin for pins in files.values() for pin in pins if pin.library == library)


def _asked(files: Files, library: str) -> frozenset[str]:
    return frozenset(pin.version or pin.asked for pin in _pins(files, library))


def _versions(files: Files, library: str) -> tuple[str, ...]:
    """Return the exact versions; two spellings of one (`0.6`, `0.6.0`) are one."""
    versions = {Version(pin.version): pin.version for pin in _pins(files, library) if pin.version}
    return tuple(text for _, text in sorted(versions.items()))


def _differ(before: tuple[str, ...], after: tuple[str, ...]) -> bool:
    return [*map(Version, before)] != [*map(Version, after)]


def _wrong(base: Files, head: Files, library: str) -> Iterator[BumpReason]:
    """Yield why the pins of a library cannot be believed."""
    known = _asked(base, library)
    for pin in _pins(head, library):
        if pin.wrong and pin.asked not in known:
            told = f"{pin.file}: {_short(pin.asked)} does not pin {library} to a version (PEP 440)"
            yield BumpReason(BumpCode.BAD_VERSION, told)
    for side, files in (("head", head), ("base", base)):
        if len(_versions(files, library)) > 1:
            yield BumpReason(BumpCode.CONFLICT, _conflict(side, files, library))


def _conflict(side: str, files: Files, library: str) -> str:
    said = dict.fromkeys(f"{p.version} in {p.file}" for p in _pins(files, library) if p.version)
    return f"{side} pins {library} more than once: {', '.join(said)}; make them agree"


def _change(
    library: str, before: tuple[str, ...], after: tuple[str, ...], base: Files, head: Files
) -> PinChange:
    old, new = next(iter(before), None), next(iter(after), None)
    files = {p.file for side in (base, head) for p in _pins(side, library) if p.version}
    return PinChange(library, old, new, _direction(old, new), tuple(sorted(files)))


def _direction(old: str | None, new: str | None) -> Direction:
    if old is None or new is None:
        return Direction.ADDED if old is None else Direction.REMOVED
    return Direction.UPGRADE if Version(new) > Version(old) else Direction.DOWNGRADE


def _inexact(base: Files, head: Files, library: str) -> Iterator[str]:
    """Yield what head asks for that is no exact pin.

    A range beside an exact pin says nothing more; what is newly taken from elsewhere does.
    """
    known, is_exact = _asked(base, library), bool(_versions(head, library))
    for pin in _pins(head, library):
        if not is_exact or (pin.elsewhere and pin.asked not in known):
            yield f"{pin.file}: {_short(pin.asked)} is no exact pin and cannot be gated"


def _nothing_to_measure(changes: Iterable[PinChange], notes: tuple[str, ...]) -> BumpReason | None:
    sides = list(changes)
    if any(change.base and change.head for change in sides):
        return None
    if notes:
        told = "what changed is no exact pin on both sides: pin NAME==VERSION to have it gated"
        return BumpReason(BumpCode.INEXACT, told)
    if sides:
        told = ", ".join(f"{change.library} is {change.direction}" for change in sides)
        return BumpReason(BumpCode.ONE_SIDED, f"{told}: there is nothing to compare with")
    return BumpReason(BumpCode.UNCHANGED, f"no exact pin of {', '.join(LIBRARIES)} changed")


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
