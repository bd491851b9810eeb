"""The names of backends and what can be said of them without running one.

A backend is one way to run a workload: library, path and mode. Its adapter is in
`benchmarks.backends`; judging needs only what stands here.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from workloads.workload import Phase, Workload

__all__ = ["BACKENDS", "Backend", "Layout", "Mode", "alias_of", "backend", "kvcache_name"]

PACKS: Final = ("auto", "true", "false")
SPLITS: Final = ("auto", "1", "2", "4")


class Layout(StrEnum):
    """How a backend reads the KV cache; times across layouts are not like for like."""

    PAGED = "paged"
    CONTIGUOUS = "contiguous"


class Mode(StrEnum):
    """How the library plans; different plans are different cells."""

    EAGER = "eager"
    """Planned for exactly this batch."""
    SERVING = "serving"
    """Wrapper built with `use_cuda_graph=True`: a padded grid, as engines run it."""


@dataclass(frozen=True, slots=True)
class Backend:
    """One way to run a workload.

    Attributes
    ----------
    name
        Identity, e.g. `flashinfer-decode-tc-fa2-serving`.
    library
        Distribution it needs, e.g. `flashinfer-python`; `torch` or `none` need no pin.
    phases
        Phases it can run.
    layout, mode
        See `Layout` and `Mode`.
    chooses
        Whether the library itself picks the kernel (`auto`), so that it has regret.
    """

    name: str
    library: str
    phases: frozenset[Phase]
    layout: Layout
    mode: Mode = Mode.EAGER
    chooses: bool = False


def kvcache_name(pack: str, splits: str) -> str:
    """Name of the FA3 `flash_attn_with_kvcache` backend with these two settings."""
    return f"fa3-kvcache-pack-{pack}-splits-{splits}"


def _flashinfer() -> Iterator[Backend]:
    for mode in Mode:
        suffix = "-serving" if mode is Mode.SERVING else ""
        for path in ("cuda", "tc-fa2", "tc-fa3", "tc-auto"):
            yield Backend(
                f"flashinfer-decode-{path}{suffix}",
                "flashinfer-python",
                frozenset({Phase.DECODE}),
                Layout.PAGED,
                mode,
                chooses=path == "tc-auto",
            )
    for path in ("fa2", "fa3", "auto"):
        yield Backend(
            f"flashinfer-prefill-{path}",
            "flashinfer-python",
            frozenset(Phase),
            Layout.PAGED,
            chooses=path == "auto",
        )


def _fa3() -> Iterator[Backend]:
    names = ["fa3-varlen", "fa3-varlen-splits-1", "fa3-varlen-metadata", "fa3-kvcache-metadata"]
    names += [kvcache_name(pack, splits) for pack in PACKS for splits in SPLITS]
    for name in names:
        yield Backend(name, "fa3-fwd", frozenset(Phase), Layout.CONTIGUOUS)


BACKENDS: Final[tuple[Backend, ...]] = (
    *_flashinfer(),
    *_fa3(),
    Backend("flash-attn-paged", "flash-attn", frozenset(Phase), Layout.PAGED),
    Backend("sdpa", "torch", frozenset(Phase), Layout.CONTIGUOUS),
    Backend("scripted", "none", frozenset(Phase), Layout.CONTIGUOUS),
)

_BY_NAME: Final = {b.name: b for b in BACKENDS}


def backend(name: str) -> Backend:
    """Return the backend of this name.

    Raises
    ------
    ValueError
        If there is none.
    """
    if name not in _BY_NAME:
        msg = f"unknown backend {name!r}: `python -m benchmarks list backends` shows all"
        raise ValueError(msg)
    return _BY_NAME[name]


def alias_of(name: str, workload: Workload) -> str | None:
    """Return the backend that runs the very same kernel here, or None if this one is itself.

    FlashAttention-3's `get_pack_gqa` (hopper/flash_api.cpp) packs whenever KV lengths are
    given per request or KV is split, and has nothing to pack without a group of query heads.
    So `auto` is `true`, `false` with more than one split is `true`, and a group of 1 is `false`.
    `false` with automatic splits packs where the heuristic allows more than one split and not
    where it allows one only; which that is depends on the GPU, so it is measured for itself.
    """
    if not name.startswith("fa3-kvcache-pack-"):
        return None
    pack, splits = name.removeprefix("fa3-kvcache-pack-").split("-splits-")
    may_not_pack = workload.shape.group == 1 or (pack == "false" and splits in {"1", "auto"})
    effective = "false" if may_not_pack else "true"
    return None if effective == pack else kvcache_name(effective, splits)
