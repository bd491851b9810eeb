"""Numbers, verdicts and workloads in words, as every page writes them."""

import re
from typing import Final

from regress.counted import bounded
from regress.model.finding import Ratio
from regress.model.verdict import Verdict
from workloads.backend import Layout, Mode, backend
from workloads.record import Case
from workloads.workload import Phase, Workload, parse

__all__ = [
    "MARKS",
    "bound",
    "interval",
    "kind_of_backend",
    "layout_of",
    "lower_first",
    "mode_of",
    "path_of_cell",
    "path_of_release",
    "sentence",
    "spread_words",
    "times",
    "us",
    "workload_words",
]

MARKS: Final = {
    Verdict.REGRESSION: "▲",
    Verdict.IMPROVEMENT: "▼",
    Verdict.SAME: "=",
    Verdict.UNDECIDED: "?",
    Verdict.BROKEN: "!",
    Verdict.VARIANCE: "≈",
    Verdict.NEW: "+",
    Verdict.GONE: "×",
    Verdict.NO_DATA: "∅",
    Verdict.WAIVED: "w",
}
"""A sign for each verdict, so that colour is never the only one."""

_TWO_DIGITS: Final = 10
_PATHS: Final = {"auto": "auto", "fa2": "fa2", "fa3": "fa3", "cuda": "CUDA cores"}
_LIBRARIES: Final = {
    "fa3-fwd": ("flash-attention-3", "FlashAttention-3"),
    "flash-attn": ("flash-attn", "flash-attn"),
    "torch": ("sdpa", "SDPA"),
}


def us(time_us: float | None) -> str:
    """Return microseconds as the round files have them, to a nanosecond at most."""
    if time_us is None:
        return "not measured"
    return f"{time_us:,.4f}".rstrip("0").rstrip(".")


def times(ratio: float | None) -> str:
    """Return a ratio, e.g. `1.023×`, `13.9×`."""
    if ratio is None:
        return "–"
    return f"{ratio:.1f}×" if ratio >= _TWO_DIGITS else f"{ratio:.3f}×"


def interval(ratio: Ratio | None) -> str:
    """Return the interval of a ratio, or why there is none."""
    if ratio is None:
        return "–"
    if ratio.low is None or ratio.high is None:
        return "unbounded"
    return f"{ratio.low:.3f} – {ratio.high:.3f}"


def bound(share: float) -> str:
    """Return an upper bound in percent, rounded up to two digits that count."""
    return bounded(share).replace("%", " %")


def sentence(text: str) -> str:
    """Return the text with a capital and a full stop; long names of error messages stay."""
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith(('.', '!', '?')) else '.'}"


def lower_first(text: str) -> str:
    """Return the text to stand within a sentence; names in capitals stay."""
    return text if text[:2].isupper() else f"{text[:1].lower()}{text[1:]}"


def spread_words(distribution: str) -> str:
    """Return how a batch shares its KV tokens."""
    if match := re.fullmatch(r"skew(\d+)", distribution):
        return f"one request holds {match[1]} % of the KV tokens"
    if match := re.fullmatch(r"two(\d+)", distribution):
        return f"two requests hold {match[1]} % of the KV tokens each"
    if match := re.fullmatch(r"lognormal\.s(.+)", distribution):
        return f"KV lengths log-normal, σ {match[1]}"
    return "equal KV lengths" if distribution == "uniform" else distribution


def workload_words(slug: str) -> str:
    """Return what a workload computes; the slug itself if it is none of this suite's."""
    try:
        workload = parse(slug)
    except ValueError:
        return slug
    return ", ".join(_parts(workload))


def _parts(workload: Workload) -> tuple[str, ...]:
    shape, kv = workload.shape, workload.kv
    what = "decode"
    if workload.phase is Phase.PREFILL:
        what = f"prefill of {workload.q_len:,} query tokens a request"
    kinds = shape.dtype.upper()
    if shape.kv_dtype is not shape.dtype:
        kinds += f", KV {shape.kv_dtype.upper()}"
    requests = "1 request" if kv.batch == 1 else f"{kv.batch:,} requests"
    return (
        what,
        requests,
        f"{kv.total:,} KV tokens in all",
        *((spread_words(kv.distribution),) if kv.batch > 1 else ()),
        f"{shape.q_heads}/{shape.kv_heads} heads of {shape.head_dim}",
        kinds,
        f"page {shape.page_size}",
    )


def kind_of_backend(name: str) -> tuple[str, str]:
    """Return what users of a backend call it, for addresses and in words.

    That is FlashInfer's own path (`("cuda", "CUDA cores")`), or the library; of a backend that
    this suite does not know, its name.
    """
    try:
        library = backend(name).library
    except ValueError:
        return name, name
    path = name.removesuffix("-serving").rpartition("-")[2]
    if library == "flashinfer-python":
        return path, _PATHS[path]
    return _LIBRARIES.get(library, (name, name))


def layout_of(name: str) -> Layout | None:
    """Return how a backend reads KV; None of one that this suite does not know."""
    try:
        return backend(name).layout
    except ValueError:
        return None


def mode_of(name: str) -> Mode | None:
    """Return how a backend plans; None of one that this suite does not know."""
    try:
        return backend(name).mode
    except ValueError:
        return None


def path_of_cell(case: Case) -> str:
    """Return where the page of a case lies, under the site's folder: part of links, so stable."""
    return f"cells/{case.workload}@{case.backend}.html"


def path_of_release(tag: str) -> str:
    """Return where the page of a stack lies, under the site's folder: part of links, so stable."""
    return f"releases/{tag}.html"
