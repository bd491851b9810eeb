"""Digests of the releases' attention sources, kept beside the stacks, and what differs in them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import msgspec

from regress.errors import UsageError
from regress.model.cause import ChangedFile
from regress.store.stacks import PublishedStack, load_published
from regress.store.tree import RECORDED
from workloads.sources import SOURCES_SCHEMA, SourceFile, SourcesFile

__all__ = ["SOURCES_FILE", "Sources", "load_sources"]

SOURCES_FILE: Final = RECORDED / "sources.json"
_UNPINNED: Final = frozenset({"torch", "none"})
_SURROUNDINGS: Final = frozenset(
    f"flashinfer/{name}" for name in ("utils.py", "jit/core.py", "jit/cpp_ext.py")
)
_REMEDY: Final = "make it again: python -m benchmarks sources DIR"


@dataclass(frozen=True, slots=True)
class Sources:
    """What is known of the sources of releases.

    Attributes
    ----------
    releases
        Files of each `library==version`, by path.
    pins
        What each stack pins, by tag.
    """

    releases: Mapping[str, Mapping[str, SourceFile]] = field(default_factory=dict)
    pins: Mapping[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)

    def changed(self, before: str, after: str) -> tuple[ChangedFile, ...] | None:
        """Return the attention sources that differ between two stacks; None if one is unknown.

        Libraries of which no release is kept hold no attention kernel of FlashInfer.
        """
        if before not in self.pins or after not in self.pins:
            return None
        found: list[ChangedFile] = []
        one, other = dict(self.pins[before]), dict(self.pins[after])
        kept = {name.partition("==")[0] for name in self.releases}
        for library in kept & (one.keys() | other.keys()):
            if one.get(library) == other.get(library):
                continue
            sides = [self.releases.get(f"{library}=={pins.get(library)}") for pins in (one, other)]
            if sides[0] is None or sides[1] is None:
                return None
            found += _differences(sides[0], sides[1])
        return tuple(sorted(found, key=lambda file: file.path))

    def identical(self, library: str, before: str, after: str) -> bool:
        """Whether two stacks surely run the same code of a library that a backend needs.

        They do if both pin the same version, or no source that is kept differs. What needs no pin
        comes with the set-up.
        """
        if library in _UNPINNED:
            return True
        if before not in self.pins or after not in self.pins:
            return False
        versions = [dict(self.pins[tag]).get(library) for tag in (before, after)]
        if None in versions:
            return False
        is_kept = any(name.startswith(f"{library}==") for name in self.releases)
        return versions[0] == versions[1] or (is_kept and self.changed(before, after) == ())

    def same(self, before: str, after: str) -> bool | None:
        """Whether the attention sources of two stacks are identical; None if one is unknown.

        What builds modules, and helpers of the whole library, may differ all the same.
        """
        changed = self.changed(before, after)
        return None if changed is None else all(f.path in _SURROUNDINGS for f in changed)


def _differences(
    before: Mapping[str, SourceFile], after: Mapping[str, SourceFile]
) -> Iterator[ChangedFile]:
    for path in before.keys() | after.keys():
        one, other = before.get(path), after.get(path)
        if one is None or other is None:
            yield ChangedFile(path, "added" if one is None else "removed")
        elif one.digest != other.digest:
            names = one.functions.keys() | other.functions.keys()
            differ = (n for n in names if one.functions.get(n) != other.functions.get(n))
            yield ChangedFile(path, "changed", tuple(sorted(differ)))


def load_sources(
    path: Path = SOURCES_FILE, published: Sequence[PublishedStack] | None = None
) -> Sources:
    """Read the digests; without the file nothing is known.

    Raises
    ------
    UsageError
        If the file cannot be read, is damaged or of another schema.
    """
    try:
        told = msgspec.json.decode(path.read_bytes(), type=SourcesFile)
    except FileNotFoundError:
        return Sources()
    except OSError as error:
        msg = f"cannot read {path}: {error.strerror or error}"
        raise UsageError(msg) from error
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        msg = f"{path} holds no digests of sources: {error}; {_REMEDY}"
        raise UsageError(msg) from error
    if told.schema != SOURCES_SCHEMA:
        msg = f"{path} is of schema {told.schema}, not {SOURCES_SCHEMA}: {_REMEDY}"
        raise UsageError(msg)
    stacks = load_published() if published is None else published
    try:
        releases = {name: told.of(name) for name in told.releases}
    except (ValueError, IndexError) as error:
        msg = f"{path} contradicts itself: {_REMEDY}"
        raise UsageError(msg) from error
    return Sources(releases, {stack.tag: stack.pins for stack in stacks})
