"""The picture of a run: each SM a row, what it holds over time, the longest request in colour."""

from importlib import import_module
from io import BytesIO
from typing import Any, Final

import numpy as np

from regress.report.drawing import drawing
from regress.report.timeline import Stretch, of_longest, stretches
from workloads.planner import Schedule
from workloads.simulator import Simulation

__all__ = ["FORMATS", "render_timeline_picture"]

FORMATS: Final = ("svg", "png")
# Okabe and Ito's blue and vermilion: told apart with any colour vision.
_BLUE: Final = "#0072B2"
_VERMILION: Final = "#D55E00"
_GREY: Final = "#555555"
_IDLE: Final = "#F1F1EE"
_FAINTEST: Final = 0.25
_DOTS_PER_INCH: Final = 150


def render_timeline_picture(
    run: Simulation, backend: str, workload: str, label: str, kind: str
) -> bytes:
    """Return the picture; the same run and matplotlib give the same bytes.

    Parameters
    ----------
    label
        What to say of the model.
    kind
        One of `FORMATS`.

    Raises
    ------
    UsageError
        If matplotlib is not installed.
    """
    settings, figure = drawing()
    with settings:
        canvas = figure.Figure(figsize=(10.4, 5.6), facecolor="white")
        panel = canvas.subplots()
        _draw(panel, run)
        _label(canvas, panel, run, (backend, workload, label))
        out = BytesIO()
        told = {"Date": None} if kind == "svg" else None
        canvas.savefig(out, format=kind, dpi=_DOTS_PER_INCH, metadata=told)
    return out.getvalue()


def _draw(panel: Any, run: Simulation) -> None:
    every = stretches(run)
    fullest = max(one.crowd for one in every)
    for crowd in range(1, fullest + 1):
        strength = _FAINTEST + (1 - _FAINTEST) * crowd / fullest if fullest > 1 else 0.6
        _bars(panel, [s for s in every if s.crowd == crowd], _BLUE, strength * 0.75)
    _bars(panel, stretches(run, of_longest(run)), _VERMILION, 1.0)
    panel.set_facecolor(_IDLE)
    panel.set_xlim(0, run.makespan_us)
    panel.set_ylim(run.device.sms, 0)


def _bars(panel: Any, found: list[Stretch] | tuple[Stretch, ...], color: str, alpha: float) -> None:
    collections = import_module("matplotlib.collections")
    corners = [
        [(s.begin_us, s.sm), (s.end_us, s.sm), (s.end_us, s.sm + 1), (s.begin_us, s.sm + 1)]
        for s in found
    ]
    bars = collections.PolyCollection(
        corners, facecolor=color, alpha=alpha, edgecolor="white", linewidth=0.25
    )
    panel.add_collection(bars)


def _label(canvas: Any, panel: Any, run: Simulation, words: tuple[str, str, str]) -> None:
    backend, workload, label = words
    patches, lengths = import_module("matplotlib.patches"), run.plan.batch.kv_lens
    longest = len(np.unique(run.request[of_longest(run)]))
    of = f"{longest} longest requests" if longest > 1 else "longest request"
    crowded = " (darker: more CTAs)" if run.plan.schedule is Schedule.GRID else ""
    legend = (
        (_VERMILION, 1.0, f"SMs with the {of} ({max(lengths):,} tokens)"),
        (_BLUE, 0.6, f"only the other {len(lengths) - longest}{crowded}"),
        (_IDLE, 1.0, f"idle ({run.idle_share:.0%} of the SM time)"),
    )
    handles = [
        patches.Patch(facecolor=color, alpha=alpha, edgecolor="#bbbbbb", linewidth=0.5, label=text)
        for color, alpha, text in legend
    ]
    canvas.legend(
        handles=handles, loc="upper left", ncols=3, frameon=False, bbox_to_anchor=(0.06, 0.895)
    )
    canvas.text(0.07, 0.955, f"{backend} on {run.device.name} (model)", fontsize=12.5)
    canvas.text(0.07, 0.912, workload, fontsize=9, color=_GREY)
    canvas.text(0.07, 0.02, f"{label[0].upper()}{label[1:]}.", fontsize=8, color=_GREY)
    panel.set_xlabel(
        f"µs since the first CTA started (launch and merge, {run.before_us + run.after_us:.0f} µs, "
        "not shown)"
    )
    panel.set_ylabel(f"SM, 0 to {run.device.sms - 1}")
    panel.xaxis.set_major_formatter("{x:,.0f}")
    for side in ("top", "right"):
        panel.spines[side].set_visible(False)
    canvas.subplots_adjust(left=0.07, right=0.975, top=0.835, bottom=0.135)
