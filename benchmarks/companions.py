"""Which stack a release makes: the release itself and what it is pinned beside."""

from typing import Final

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from benchmarks.errors import UserError
from benchmarks.index import Index, Release
from benchmarks.stacks import Stack, Wheel, check_tag
from workloads.backend import BACKENDS

__all__ = ["complete_stack", "make_stack", "tag_of"]

FLASHINFER: Final = "flashinfer-python"
FA3: Final = "fa3-fwd"
FA3_VERSION: Final = "0.0.3"
"""Held constant, so that a step between FlashInfer stacks is a change of FlashInfer alone and
the FlashAttention-3 cells are controls. It is the build for CUDA 13."""
TVM_FFI: Final = "apache-tvm-ffi"
TVM_FFI_FIRST: Final = "0.1.7"
LIBRARIES: Final = tuple(
    dict.fromkeys(b.library for b in BACKENDS if b.library not in {"torch", "none"})
)
"""What is measured; torch is the host's, and companions are no stack by themselves."""


def tag_of(name: str, version: str) -> str:
    """Return the tag of a release: `v0.6.1` for FlashInfer, else name and version."""
    return check_tag(f"v{version}" if name == FLASHINFER else f"{name}-{version}")


def make_stack(
    index: Index, name: str, version: str, known: tuple[Stack, ...], cuda: str = ""
) -> Stack:
    """Return the stack that a stable release makes.

    FlashInfer is pinned beside one build of FlashAttention-3 and beside the version of
    apache-tvm-ffi of the stack before it, as long as the release admits that version; then
    beside the newest stable one of its day. Any other release is pinned alone.

    Parameters
    ----------
    index
        Package index.
    name, version
        The release.
    known
        The published stacks so far, oldest first.
    cuda
        Major CUDA version that the release's prebuilt GPU code is linked to, if it has any.

    Raises
    ------
    UserError
        If the release is of no library that is measured, known already, no stable one, yanked,
        or cannot be had.
    """
    _check(name, version)
    release = index.load_release(canonicalize_name(name), version)
    tag = tag_of(release.name, release.version)
    _refuse(release, tag, known)
    return complete_stack(index, release, tag, known, cuda)


def complete_stack(
    index: Index, release: Release, tag: str, known: tuple[Stack, ...], cuda: str = ""
) -> Stack:
    """Return a release with what it is pinned beside, as a stack of this tag.

    Parameters
    ----------
    index, known, cuda
        As of `make_stack`.
    release
        What the stack is made for; any release will do.
    tag
        Name of the stack.

    Raises
    ------
    UserError
        If a companion cannot be had.
    """
    releases, linked = [release], {release.name: cuda} if cuda else {}
    if release.name == FLASHINFER:
        before = [stack for stack in known if stack.time <= release.time and TVM_FFI in stack.pins]
        kept = before[-1].pins[TVM_FFI] if before else TVM_FFI_FIRST
        releases += [index.load_release(FA3, FA3_VERSION), _tvm_ffi(index, release, kept)]
        linked[FA3] = "13"
    return Stack(
        tag,
        release.time,
        {r.name: r.version for r in releases},
        {r.name: _wheels(r, known) for r in releases},
        linked,
    )


def _check(name: str, version: str) -> None:
    if canonicalize_name(name) not in LIBRARIES:
        msg = f"{name} is no library that this suite measures: {', '.join(LIBRARIES)} are"
        raise UserError(msg)
    try:
        Version(version)
    except InvalidVersion as error:
        msg = f"{version!r} is no version of {name}"
        raise UserError(msg) from error


def _refuse(release: Release, tag: str, known: tuple[Stack, ...]) -> None:
    what = f"{release.name}=={release.version}"
    if tag in {stack.tag for stack in known}:
        msg = f"{what} is in the list already, as {tag}"
        raise UserError(msg)
    if release.prerelease:
        msg = f"{what} is a pre-release: measure it as an ad-hoc stack (`stacks adhoc`)"
        raise UserError(msg)
    if release.yanked:
        msg = f"{what} was yanked from the package index: measure it as an ad-hoc stack"
        raise UserError(msg)


def _wheels(release: Release, known: tuple[Stack, ...]) -> tuple[Wheel, ...]:
    """Return the wheels of the list if it has the release: files that the index got later stay out.

    A stack's digest follows from its wheels, and what was measured must stay the same stack.
    """
    for stack in known:
        if stack.pins.get(release.name) == release.version:
            return stack.wheels[release.name]
    return release.wheels


def _tvm_ffi(index: Index, release: Release, kept: str) -> Release:
    admitted = _admitted(index.load_requirements(release))
    if kept in admitted:
        return index.load_release(TVM_FFI, kept)
    candidates = [
        candidate
        for candidate in index.load_releases(TVM_FFI)
        if candidate.time <= release.time
        and not candidate.yanked
        and not candidate.prerelease
        and candidate.version in admitted
    ]
    if not candidates:
        msg = f"no {TVM_FFI} of its day satisfies {release.name}=={release.version} ({admitted})"
        raise UserError(msg)
    return candidates[-1]


def _admitted(requirements: tuple[str, ...]) -> SpecifierSet:
    parsed = [Requirement(line) for line in requirements]
    named = [r.specifier for r in parsed if canonicalize_name(r.name) == TVM_FFI]
    return named[0] if named else SpecifierSet()
