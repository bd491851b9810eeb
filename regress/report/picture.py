"""The picture of a batch sweep, as SVG: one panel a backend, with the cliff marked."""

import hashlib
import re
from typing import Any, Final

import msgspec

from regress.model.sweep import BatchPoint, Curve, Sweep
from regress.report.drawing import MARK, as_svg, drawing

__all__ = ["drawn_from", "fingerprint", "render_picture"]

_TITLES: Final = {
    "flashinfer-decode-tc-fa2": "FlashInfer, tensor cores (fa2)",
    "flashinfer-decode-cuda": "FlashInfer, CUDA cores",
    "fa3-varlen": "FlashAttention-3, varlen *",
}
# Okabe and Ito's blue and vermilion: told apart with any colour vision; markers differ too.
_BLUE: Final = "#0072B2"
_VERMILION: Final = "#D55E00"
_GREY: Final = "#555555"
_BATCH_TICKS: Final = (8, 16, 32, 64, 128, 256, 512, 1024)
_US_TICKS: Final = (100, 200, 500, 1000, 2000, 5000, 10_000)
_SERIES: Final = ("skewed_us", "uniform_us")


def fingerprint(sweep: Sweep) -> str:
    """Return a hash of everything that is drawn from the data."""
    return hashlib.sha256(msgspec.json.encode(sweep)).hexdigest()


def drawn_from(svg: str) -> str:
    """Return the fingerprint of the data that a picture was drawn from; empty if it has none."""
    match = re.search(rf"{MARK}([0-9a-f]{{64}})", svg)
    return match[1] if match else ""


def render_picture(sweep: Sweep) -> str:
    """Return the picture; the same data and matplotlib give the same bytes.

    Raises
    ------
    UsageError
        If matplotlib is not installed.
    """
    settings, figure = drawing()
    with settings:
        canvas = figure.Figure(figsize=(10.4, 4.5), facecolor="white")
        panels = canvas.subplots(1, len(sweep.curves), sharey=True)
        for panel, curve in zip(panels, sweep.curves, strict=True):
            _draw_panel(panel, curve)
        _label(canvas, panels, sweep)
        return as_svg(canvas, fingerprint(sweep))


def _draw_panel(panel: Any, curve: Curve) -> None:
    batches = [p.batch for p in curve.points]
    skewed, uniform = ([getattr(p, name) for p in curve.points] for name in _SERIES)
    style = {"linewidth": 1.4, "markersize": 4.5}
    panel.plot(batches, skewed, color=_VERMILION, marker="s", **style)
    panel.plot(batches, uniform, color=_BLUE, marker="o", **style)
    panel.set_xscale("log", base=2)
    panel.set_yscale("log")
    panel.set_xticks(_BATCH_TICKS, [str(b) for b in _BATCH_TICKS])
    panel.set_yticks(_US_TICKS, [f"{us:,}" for us in _US_TICKS])
    panel.minorticks_off()
    panel.set_ylim(90, 15_000)
    panel.grid(color="#dddddd", linewidth=0.6)
    panel.set_title(_TITLES.get(curve.backend, curve.backend))
    panel.set_xlabel("requests in the batch")
    if curve.cliff:
        _mark(panel, curve.cliff[1])


def _mark(panel: Any, after: BatchPoint) -> None:
    """Draw the cliff, with its words on the side that has room."""
    panel.axvline(after.batch, color=_GREY, linestyle=":", linewidth=1.2)
    penalty = f"{after.penalty:.1f} x uniform"
    on_left = after.batch > _BATCH_TICKS[len(_BATCH_TICKS) // 2]
    panel.annotate(
        f"from {after.batch} on the long\nrequest is not split:\n{penalty}",
        (after.batch, 13_000),
        xytext=(-5 if on_left else 5, 0),
        textcoords="offset points",
        ha="right" if on_left else "left",
        va="top",
        multialignment="left",
        color=_GREY,
    )


def _label(canvas: Any, panels: Any, sweep: Sweep) -> None:
    panels[0].set_ylabel("kernel time, µs (log scale)")
    names = (f"one request holds {sweep.percent} % of the tokens", "uniform")
    canvas.legend(
        panels[0].get_lines()[:2],
        names,
        loc="upper center",
        ncols=2,
        frameon=False,
        bbox_to_anchor=(0.5, 0.945),
    )
    canvas.suptitle("Decode: what one long request in the batch costs", fontsize=12.5, y=0.985)
    pins = ", ".join(f"{name} {version}" for name, version in sweep.pins.items())
    canvas.text(
        0.01,
        0.012,
        f"{sweep.gpu}, stack {sweep.stack} ({pins}). {sweep.tokens:,} KV tokens in every batch, "
        f"{sweep.shape}.\nCold L2; medians of {sweep.rounds} rounds on {sweep.cards} cards.  "
        "* reads contiguous KV, the others paged KV: not like for like.",
        fontsize=8,
        color=_GREY,
    )
    canvas.subplots_adjust(left=0.08, right=0.99, top=0.81, bottom=0.22, wspace=0.06)
