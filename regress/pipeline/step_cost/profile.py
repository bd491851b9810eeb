"""Reading deployment profiles: every mistake is one line that names the field."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

from regress.errors import UsageError
from regress.model.profile import Deployment, Load, MixEntry, ModelFields, ProfileFile
from regress.pipeline.explain.lengths import Step, check_lengths, load_trace
from workloads.backend import Mode, alias_of, backend
from workloads.kvlen import KvLengths
from workloads.planner.plan import Batch
from workloads.shape import AttentionShape
from workloads.workload import Phase, Workload

__all__ = ["USUAL", "load_profile"]

USUAL: Final = {
    Mode.EAGER: (
        "flashinfer-decode-cuda",
        "flashinfer-decode-tc-fa2",
        "flashinfer-decode-tc-auto",
        "fa3-varlen",
    ),
    Mode.SERVING: (
        "flashinfer-decode-cuda-serving",
        "flashinfer-decode-tc-fa2-serving",
        "flashinfer-decode-tc-auto-serving",
    ),
}
"""Backends whose cost is wanted unless the profile names some."""
_MOST_BATCHES: Final = 200
"""Different batches of a trace that are priced; of more, every n-th step is."""


def load_profile(path: Path) -> Deployment:
    """Read a profile and, if it names one, its trace.

    Raises
    ------
    UsageError
        If a file cannot be read or anything in it is wrong; the message says what and where.
    """
    try:
        found = msgspec.toml.decode(path.read_bytes(), type=ProfileFile)
    except OSError as error:
        msg = f"cannot read the profile {path}: {error.strerror or error}"
        raise UsageError(msg) from error
    except msgspec.ValidationError as error:
        msg = f"{path}: {error}; regress/docs/step-cost.md lists the fields"
        raise UsageError(msg) from error
    except (ValueError, RecursionError) as error:
        msg = f"{path} is no TOML: {error}"
        raise UsageError(msg) from error
    if bool(found.mix) == (found.trace is not None):
        msg = f"{path}: give the load either as [[mix]] entries or as a trace, and not empty"
        raise UsageError(msg)
    shape = _shape(found.model, found.tp, path)
    steps: tuple[Step, ...] = ()
    if found.trace is None:
        loads = tuple(_mixed(found.mix, shape, path))
    else:
        steps = load_trace(path.parent / found.trace)
        loads = tuple(_traced(steps, shape))
    return Deployment(
        name=found.name,
        mode=found.mode,
        tp=found.tp,
        layers=found.model.layers,
        shape=shape,
        loads=loads,
        backends=_backends(found, shape, path),
        steps=len(steps),
    )


def _shape(model: ModelFields, tp: int, path: Path) -> AttentionShape:
    """Divide the heads over the GPUs; fewer KV heads than GPUs are copied, as engines do."""
    if model.q_heads % tp or (model.kv_heads % tp and tp % model.kv_heads):
        msg = (
            f"{path}: {model.q_heads} query and {model.kv_heads} KV heads "
            f"cannot be divided over tp = {tp} GPUs"
        )
        raise UsageError(msg)
    try:
        return AttentionShape(
            model.q_heads // tp,
            max(model.kv_heads // tp, 1),
            model.head_dim,
            model.dtype,
            model.kv_dtype,
            model.page_size,
        )
    except ValueError as error:
        msg = f"{path}: {error}"
        raise UsageError(msg) from error


def _mixed(entries: tuple[MixEntry, ...], shape: AttentionShape, path: Path) -> Iterator[Load]:
    for number, entry in enumerate(entries, 1):
        where = f"{path}, mix entry {number}"
        try:
            kv = KvLengths(entry.distribution, entry.batch, entry.kv_tokens)
            workload = Workload(Phase.DECODE, shape, kv)
        except (ValueError, ArithmeticError) as error:
            msg = f"{where}: {error}"
            raise UsageError(msg) from error
        check_lengths(kv.lengths(), where)
        yield Load(workload.slug, entry.weight, Batch.of(workload), workload)


def _traced(steps: tuple[Step, ...], shape: AttentionShape) -> Iterator[Load]:
    """Yield the different batches of a trace, named by the first line that has each."""
    different = len({step.kv_lens for step in steps})
    sample = steps[:: -(-different // _MOST_BATCHES)]
    counts = Counter(step.kv_lens for step in sample)
    first = {step.kv_lens: step.line for step in reversed(sample)}
    for lengths, count in counts.items():
        yield Load(f"line {first[lengths]}", count, Batch(lengths, shape))


def _backends(found: ProfileFile, shape: AttentionShape, path: Path) -> tuple[str, ...]:
    workload = Workload(Phase.DECODE, shape, KvLengths("uniform", 1, 1))
    names = []
    for name in found.backends or USUAL[found.mode]:
        try:
            known = backend(name)
        except ValueError as error:
            msg = f"{path}: {error}"
            raise UsageError(msg) from error
        if known.mode is not found.mode or Phase.DECODE not in known.phases:
            msg = f"{path}: {name} is no backend for decode with mode = {str(found.mode)!r}"
            raise UsageError(msg)
        names.append(alias_of(name, workload) or name)
    return tuple(dict.fromkeys(names))
