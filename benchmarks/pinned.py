"""The action `stacks pins`: the stack that holds some pins, published or made for them.

A pull request names versions and no stack. What it does not pin is completed from the published
list, so that base and head differ in nothing but what the pull request changes.
"""

import argparse
import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from benchmarks.errors import UserError
from benchmarks.paths import ADHOC
from benchmarks.stacks import Stack, load_stacks

if TYPE_CHECKING:
    from benchmarks.index import Index

__all__ = ["add_pins", "find_pinned", "make_pinned", "parse_pins"]

PREFIX: Final = "pins-"
"""Tags of the stacks made here begin with it: the published list may get the plain name later."""


def add_pins(actions: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `stacks pins`, which prints a tag and nothing else to stdout."""
    parser = actions.add_parser("pins", help="print the tag of the stack with these pins")
    parser.add_argument("pins", nargs="+", metavar="NAME==VERSION")
    parser.set_defaults(func=_run)


def _run(arguments: argparse.Namespace) -> None:
    from benchmarks.index import open_index
    from benchmarks.stackfile import add_stack

    pins, known = parse_pins(arguments.pins), load_stacks()
    stack = find_pinned(pins, known)
    if stack is None:
        with open_index() as index:
            stack = make_pinned(index, pins, tuple(s for s in known if not s.ad_hoc))
        add_stack(ADHOC / f"{stack.tag}.toml", stack)
        pinned = " ".join(f"{name}=={version}" for name, version in stack.pins.items())
        sys.stderr.write(f"made the ad-hoc stack {stack.tag}: {pinned}\n")
    sys.stdout.write(f"{stack.tag}\n")


def parse_pins(texts: Iterable[str]) -> dict[str, str]:
    """Return the version of each distribution.

    Parameters
    ----------
    texts
        `NAME==VERSION`, one for each distribution.

    Raises
    ------
    UserError
        If one is no exact pin of what this suite installs, a name comes twice, or nothing that is
        measured is pinned.
    """
    from benchmarks.companions import LIBRARIES, TVM_FFI

    pins: dict[str, str] = {}
    for text in texts:
        name, version = _parse_pin(text)
        if name in pins:
            msg = f"{name} is pinned twice: {pins[name]} and {version}"
            raise UserError(msg)
        if name not in {*LIBRARIES, TVM_FFI}:
            msg = f"{name} is no library that this suite measures: {', '.join(LIBRARIES)} are"
            raise UserError(msg)
        pins[name] = version
    if not pins.keys() & set(LIBRARIES):
        msg = f"{', '.join(pins)} alone measures nothing: pin one of {', '.join(LIBRARIES)} too"
        raise UserError(msg)
    return pins


def _parse_pin(text: str) -> tuple[str, str]:
    name, _, version = text.partition("==")
    try:
        return canonicalize_name(name, validate=True), str(Version(version))
    except ValueError as error:  # of the name or of the version
        told = "version" if isinstance(error, InvalidVersion) else "name"
        msg = f"{text!r} is no NAME==VERSION, e.g. flashinfer-python==0.6.5: wrong {told}"
        raise UserError(msg) from error


def find_pinned(pins: Mapping[str, str], known: tuple[Stack, ...]) -> Stack | None:
    """Return the stack with these pins and the fewest others; None if there is none.

    Local wheels and commits share version numbers with releases, so their stacks never count.
    """
    fitting = [
        stack
        for stack in known
        if all(_same(stack.pins.get(name), version) for name, version in pins.items())
        and not any(wheel.path for wheels in stack.wheels.values() for wheel in wheels)
    ]
    return min(fitting, key=lambda stack: (len(stack.pins), stack.ad_hoc), default=None)


def make_pinned(index: "Index", pins: Mapping[str, str], known: tuple[Stack, ...]) -> Stack:
    """Return an ad-hoc stack with these pins, completed as the published ones are.

    Parameters
    ----------
    index
        Asked for what no published stack holds; it gives the hashes.
    pins
        As of `parse_pins`.
    known
        The published stacks.

    Raises
    ------
    UserError
        If a version does not exist, or the index cannot be reached.
    """
    from benchmarks.companions import FLASHINFER, complete_stack, tag_of

    main = FLASHINFER if FLASHINFER in pins else next(iter(pins))
    stack = find_pinned({main: pins[main]}, known)
    if stack is None:
        release = index.load_release(main, pins[main])
        stack = complete_stack(index, release, tag_of(release.name, release.version), known)
    others = {n: v for n, v in pins.items() if not _same(stack.pins.get(n), v)}
    for name, version in others.items():
        stack = _with(stack, name, version, index, known)
    names = [stack.tag, *(f"{name}-{version}" for name, version in sorted(others.items()))]
    return replace(stack, tag=PREFIX + "_".join(names), ad_hoc=True)


def _with(stack: Stack, name: str, version: str, index: "Index", known: tuple[Stack, ...]) -> Stack:
    """Return a stack with one pin more, or another version of one."""
    of = find_pinned({name: version}, known)
    if of is not None:
        exact, wheels, cuda = of.pins[name], of.wheels[name], of.cuda.get(name)
    else:
        release = index.load_release(name, version)
        exact, wheels, cuda = release.version, release.wheels, None
    linked = {key: major for key, major in stack.cuda.items() if key != name}
    return replace(
        stack,
        pins={**stack.pins, name: exact},
        wheels={**stack.wheels, name: wheels},
        cuda={**linked, **({name: cuda} if cuda else {})},
    )


def _same(ours: str | None, theirs: str) -> bool:
    return ours is not None and Version(ours) == Version(theirs)
