"""Stacks: sets of exact pins of the attention libraries under test.

The published list is `stacks.toml`, each ad-hoc stack of a machine is a file in `.asv/adhoc`;
all have the same form. The list says what a stack is, never how it performed.
"""

import difflib
import hashlib
import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import msgspec

from benchmarks.errors import UserError
from benchmarks.paths import ADHOC, STACKS

__all__ = [
    "Stack",
    "Wheel",
    "check_tag",
    "expected_versions",
    "find_stack",
    "format_time",
    "load_stacks",
    "parse_stacks",
]

_TAG: Final = re.compile(r"[A-Za-z0-9]+([._+-][A-Za-z0-9]+)*")
_SHA256: Final = re.compile(r"[0-9a-f]{64}")


class Wheel(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A wheel file that may be installed for a pin.

    Attributes
    ----------
    file
        File name.
    sha256
        Its SHA-256 in hexadecimal.
    path
        Where a local wheel of an ad-hoc stack lies; empty for one from the index.
    """

    file: str
    sha256: str
    path: str = ""


class _Release(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    version: str
    wheels: tuple[Wheel, ...]
    cuda: str = ""


class _Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    tag: str
    time: datetime
    pins: dict[str, str]


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    stack: tuple[_Entry, ...] = ()
    release: tuple[_Release, ...] = ()


@dataclass(frozen=True, slots=True)
class Stack:
    """One set of exact pins.

    Attributes
    ----------
    tag
        Name; it says what changed, e.g. `v0.6.1` or `fa3-fwd-0.0.2`.
    time
        UTC, when the release that names it was uploaded.
    pins
        Version of each distribution.
    wheels
        Wheel files of each distribution, for any of the supported Pythons and processors.
    cuda
        For each distribution with prebuilt GPU code, the major CUDA version it is linked to.
    ad_hoc
        Whether it is known on this machine only.
    """

    tag: str
    time: datetime
    pins: Mapping[str, str]
    wheels: Mapping[str, tuple[Wheel, ...]]
    cuda: Mapping[str, str] = field(default_factory=dict)
    ad_hoc: bool = False

    @property
    def digest(self) -> str:
        """SHA-256 over the pins and the hashes of their wheels, in hexadecimal."""
        hashes = {name: sorted(w.sha256 for w in files) for name, files in self.wheels.items()}
        canonical = json.dumps({"pins": dict(self.pins), "wheels": hashes}, sort_keys=True)
        return hashlib.sha256(canonical.encode()).hexdigest()

    def requirements(self) -> str:
        """Return the pins as a requirements file with a hash for every wheel."""
        return "".join(self._requirement(name) for name in sorted(self.pins))

    def _requirement(self, name: str) -> str:
        wheels = self.wheels[name]
        local = next((wheel.path for wheel in wheels if wheel.path), "")
        target = f"{name} @ {Path(local).as_uri()}" if local else f"{name}=={self.pins[name]}"
        hashes = sorted(f" \\\n    --hash=sha256:{wheel.sha256}" for wheel in wheels)
        return target + "".join(hashes) + "\n"


def expected_versions(stack: Stack) -> dict[str, str]:
    """Version that each distribution must report once the stack is imported."""
    return dict(stack.pins)


def format_time(time: datetime) -> str:
    """Return a time as UTC ISO 8601 to the second, e.g. `2026-01-14T05:40:25Z`."""
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def check_tag(tag: str) -> str:
    """Return the tag if it can name a stack.

    Raises
    ------
    UserError
        If it could not be a git tag beside the branch `main`, or part of a path.
    """
    if not _TAG.fullmatch(tag) or tag.endswith(".lock") or tag == "main":
        msg = f"{tag!r} cannot name a stack: use letters and digits joined by . _ + or -"
        raise UserError(msg)
    return tag


def parse_stacks(text: str, source: str, *, ad_hoc: bool = False) -> tuple[Stack, ...]:
    """Return the stacks written in TOML, oldest first.

    Raises
    ------
    UserError
        If the text is malformed; `source` is named in the message.
    """
    try:
        file = msgspec.convert(tomllib.loads(text), _File)
        stacks = _join(file, ad_hoc=ad_hoc)
    except (ValueError, OverflowError, RecursionError, UserError) as error:
        msg = f"{source} is malformed: {error}"
        raise UserError(msg) from error
    return tuple(sorted(stacks, key=lambda stack: stack.time))


def _join(file: _File, *, ad_hoc: bool) -> list[Stack]:
    releases = {(release.name, release.version): release for release in file.release}
    tags = [entry.tag for entry in file.stack]
    if len(set(tags)) < len(tags):
        msg = f"two stacks are called {max(tags, key=tags.count)}"
        raise ValueError(msg)
    return [_stack(entry, releases, ad_hoc=ad_hoc) for entry in file.stack]


def _stack(entry: _Entry, releases: Mapping[tuple[str, str], _Release], *, ad_hoc: bool) -> Stack:
    unknown = [f"{n}=={v}" for n, v in entry.pins.items() if (n, v) not in releases]
    if unknown:
        msg = f"stack {entry.tag} pins {', '.join(unknown)}, which has no release table"
        raise ValueError(msg)
    if not entry.pins or entry.time.tzinfo is None:
        msg = f"stack {entry.tag} needs pins and a time with a time zone"
        raise ValueError(msg)
    chosen = {name: releases[name, version] for name, version in entry.pins.items()}
    return Stack(
        check_tag(entry.tag),
        entry.time.astimezone(UTC),
        entry.pins,
        {name: _checked(release) for name, release in chosen.items()},
        {name: release.cuda for name, release in chosen.items() if release.cuda},
        ad_hoc,
    )


def _checked(release: _Release) -> tuple[Wheel, ...]:
    if not release.wheels or not all(_SHA256.fullmatch(w.sha256) for w in release.wheels):
        msg = f"{release.name}=={release.version} needs wheels, each with its sha256"
        raise ValueError(msg)
    return release.wheels


def load_stacks(published: Path = STACKS, adhoc: Path = ADHOC) -> tuple[Stack, ...]:
    """Read the published list, oldest first, then the ad-hoc stacks of this machine.

    Raises
    ------
    UserError
        If a file cannot be read or is malformed, or an ad-hoc stack takes a published tag.
    """
    stacks = parse_stacks(_read(published), str(published))
    files = sorted(adhoc.glob("*.toml"))
    local = tuple(s for f in files for s in parse_stacks(_read(f), str(f), ad_hoc=True))
    taken = {stack.tag for stack in stacks} & {stack.tag for stack in local}
    if taken:
        msg = f"{adhoc}: {', '.join(sorted(taken))} is a published stack: rename the ad-hoc one"
        raise UserError(msg)
    return stacks + tuple(sorted(local, key=lambda stack: stack.time))


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        msg = f"cannot read the list of stacks {path}: {error}"
        raise UserError(msg) from error


def find_stack(tag: str, stacks: tuple[Stack, ...] | None = None) -> Stack:
    """Return the stack of this tag, from the given ones or from the lists on disk.

    Raises
    ------
    UserError
        If there is none; near matches are named.
    """
    known = {stack.tag: stack for stack in (load_stacks() if stacks is None else stacks)}
    if tag in known:
        return known[tag]
    near = difflib.get_close_matches(tag, known, n=3)
    hint = f"did you mean {', '.join(near)}?" if near else "`stacks list` shows all"
    msg = f"no stack is called {tag!r}: {hint}"
    raise UserError(msg)
