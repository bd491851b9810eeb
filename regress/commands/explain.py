"""The command `explain`: what planners make of a batch or a trace, and what that costs."""

import argparse
from pathlib import Path
from typing import Final

from packaging.version import InvalidVersion, Version

from regress.commands.deliver import view_of, write
from regress.errors import ExitCode, UsageError
from regress.output import write_file
from regress.pipeline.explain.explain import (
    DECODE_BACKENDS,
    PREFILL_BACKENDS,
    Explained,
    explain,
    explain_backend,
)
from regress.pipeline.explain.lengths import MOST_TOKENS, check_lengths, load_lengths, load_trace
from regress.pipeline.explain.measured import load_measured
from regress.pipeline.explain.subject import Subject
from regress.pipeline.explain.timed import MACHINE
from regress.pipeline.explain.trace import summarise_trace
from regress.report.explain_text import render_explain_text, render_model_label
from regress.report.json import render_json
from regress.report.timeline_picture import FORMATS, render_timeline_picture
from regress.report.trace_text import render_trace_text
from workloads.backend import backend
from workloads.devices import parse_device
from workloads.planner import Batch
from workloads.shape import AttentionShape, DType
from workloads.workload import Phase, parse

__all__ = ["add"]

_MOST_CTAS: Final = 32
"""That an SM of any GPU so far holds."""
_WIDEST: Final = 1024
"""Heads, and elements of a head: more than any model has."""
_DIGITS: Final = 10


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    parser = commands.add_parser(
        "explain", help="what planners make of a batch, and why it is slow"
    )
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument(
        "workload", metavar="WORKLOAD", nargs="?", help="slug of a workload, or of a cell"
    )
    what.add_argument("--kv-lens", type=Path, metavar="FILE", help="KV lengths of one batch")
    what.add_argument("--trace", type=Path, metavar="FILE", help="KV lengths of a batch a line")
    option = parser.add_argument
    option("--backend", action="append", metavar="NAME", help="may be given several times")
    option("--device", default=MACHINE, metavar="NAME", help="e.g. h20, or sms=78,bandwidth=4e12,…")
    option(
        "--flashinfer",
        metavar="VERSION",
        help="release whose rules apply (default: newest)",
    )
    option("--occupancy", metavar="N", help="CUDA-core CTAs that an SM holds")
    shape = parser.add_argument_group("the shape, with --kv-lens or --trace").add_argument
    shape("--heads", metavar="Q/KV", help="query and KV heads (default: 32/4)")
    shape("--head-dim", metavar="N", help="(default: 128)")
    shape("--kv-dtype", choices=("bf16", "fp8"), help="(default: bf16)")
    shape("--page-size", metavar="N", help="KV tokens of a page (default: 16)")
    option("--picture", type=Path, metavar="FILE", help="draw the SMs over time (.svg or .png)")
    option("--format", choices=("text", "json"), default="text")
    option("--output", type=Path, metavar="FILE", help="write there instead of to the terminal")
    parser.set_defaults(run=_run, all=False)


def _count(name: str, text: str | None, most: int) -> int | None:
    if text is None:
        return None
    if not (text.isascii() and text.isdecimal() and len(text) < _DIGITS and 1 <= int(text) <= most):
        msg = f"{name} {text}: give a whole number from 1 to {most:,}"
        raise UsageError(msg)
    return int(text)


def _release(text: str | None) -> str | None:
    try:
        return None if text is None else str(Version(text))
    except InvalidVersion as error:
        msg = f"--flashinfer {text}: give a version as 0.6.1"
        raise UsageError(msg) from error


def _run(options: argparse.Namespace) -> ExitCode:
    options.flashinfer = _release(options.flashinfer)
    options.occupancy = _count("--occupancy", options.occupancy, _MOST_CTAS)
    _split(options)
    try:
        names = _backends(options)
        if options.trace:
            _trace(options, names)
        else:
            _batch(options, names)
    except ValueError as error:
        raise UsageError(str(error)) from error
    return ExitCode.PASS


def _split(options: argparse.Namespace) -> None:
    """Take a cell as reports name it, WORKLOAD@BACKEND, for a workload and one backend."""
    if options.workload and "@" in options.workload:
        options.workload, _, name = options.workload.partition("@")
        options.backend = [name, *(options.backend or ())]


def _backends(options: argparse.Namespace) -> tuple[str, ...]:
    """Return what to explain, each once."""
    prefill = options.workload is not None and parse(options.workload).phase is Phase.PREFILL
    usual = PREFILL_BACKENDS if prefill else DECODE_BACKENDS
    names = tuple(dict.fromkeys(options.backend or usual))
    for name in names:
        backend(name)
    kind = options.picture and options.picture.suffix.removeprefix(".").lower()
    if options.picture and (kind not in FORMATS or options.trace):
        msg = f"--picture {options.picture}: a batch is drawn to a file named .svg or .png"
        raise UsageError(msg)
    if options.picture and options.backend is None:
        msg = "--picture draws one backend: name it with --backend"
        raise UsageError(msg)
    if options.picture and len(names) > 1:
        msg = f"--picture draws one backend, not {len(names)}: give --backend once"
        raise UsageError(msg)
    return names


def _trace(options: argparse.Namespace, names: tuple[str, ...]) -> None:
    steps = load_trace(options.trace)
    subject = _subject(options, str(options.trace), Batch(steps[0].kv_lens, _shape(options)))
    summary = summarise_trace(subject, steps, names, options.command)
    if options.format == "json":
        write(render_json(summary), options.output)
    else:
        write(render_trace_text(summary, view_of(options)), options.output)


def _batch(options: argparse.Namespace, names: tuple[str, ...]) -> None:
    subject = _batch_subject(options)
    recorded = options.workload is not None and subject.device.name == MACHINE
    measured = load_measured(options.workload, options.flashinfer) if recorded else {}
    parts = [explain_backend(subject, name, measured) for name in names]
    if all(part.told.refused for part in parts):
        raise UsageError(parts[0].told.refused)
    report = explain(subject, parts, options.command)
    if options.picture:
        write_file(_picture(options, subject, parts[0]), options.picture)
    if options.format == "json":
        write(render_json(report), options.output)
        return
    runs = {part.told.backend: part.run for part in parts}
    write(render_explain_text(report, view_of(options), runs), options.output)


def _batch_subject(options: argparse.Namespace) -> Subject:
    if options.kv_lens:
        lengths = load_lengths(options.kv_lens)
        return _subject(options, str(options.kv_lens), Batch(lengths, _shape(options)))
    for name in ("heads", "head_dim", "kv_dtype", "page_size"):
        if getattr(options, name) is not None:
            msg = f"--{name.replace('_', '-')} is for --kv-lens and --trace: a slug has its shape"
            raise UsageError(msg)
    workload = parse(options.workload)
    check_lengths(workload.kv.lengths(), options.workload)
    return _subject(options, workload.slug, Batch.of(workload))


def _subject(options: argparse.Namespace, name: str, batch: Batch) -> Subject:
    device = parse_device(options.device)
    return Subject(name, batch, device, options.flashinfer, options.occupancy)


def _shape(options: argparse.Namespace) -> AttentionShape:
    heads = options.heads or "32/4"
    query, slash, kv = heads.partition("/")
    if not slash:
        msg = f"--heads {heads}: give query and KV heads as 32/4"
        raise UsageError(msg)
    q_heads, kv_heads = (_count("--heads", text, _WIDEST) or 1 for text in (query, kv))
    head_dim = _count("--head-dim", options.head_dim, _WIDEST) or 128
    page_size = _count("--page-size", options.page_size, MOST_TOKENS) or 16
    kv_dtype = DType(options.kv_dtype or DType.BF16)
    return AttentionShape(q_heads, kv_heads, head_dim, kv_dtype=kv_dtype, page_size=page_size)


def _picture(options: argparse.Namespace, subject: Subject, part: Explained) -> bytes:
    if part.run is None or part.told.predicted is None:
        msg = f"--picture: {part.told.backend} has no time to draw: "
        raise UsageError(msg + (part.told.refused or part.told.unpredicted))
    label = render_model_label(part.told.predicted.error, subject.device.name)
    kind = options.picture.suffix.removeprefix(".").lower()
    return render_timeline_picture(part.run, part.told.backend, subject.name, label, kind)
