"""Renderers: a finished result in, text out. They decide nothing. One a file."""

from collections.abc import Callable
from typing import Final

from regress.model.backends import BackendsReport
from regress.model.history import History
from regress.model.report import CheckReport
from regress.model.step_cost import StepCostReport
from regress.model.thresholds import ThresholdsReport
from regress.report.backends_markdown import render_backends_markdown
from regress.report.backends_text import render_backends_text
from regress.report.check_junit import render_check_junit
from regress.report.check_markdown import render_check_markdown
from regress.report.check_sarif import render_check_sarif
from regress.report.check_text import render_check_text
from regress.report.history_markdown import render_history_markdown
from regress.report.history_text import render_history_text
from regress.report.json import render_json
from regress.report.step_cost_markdown import render_step_cost_markdown
from regress.report.step_cost_text import render_step_cost_text
from regress.report.thresholds_markdown import render_thresholds_markdown
from regress.report.thresholds_text import render_thresholds_text
from regress.report.view import View

__all__ = [
    "BACKENDS_RENDERERS",
    "CHECK_RENDERERS",
    "HISTORY_RENDERERS",
    "STEP_COST_RENDERERS",
    "THRESHOLDS_RENDERERS",
]

CHECK_RENDERERS: Final[dict[str, Callable[[CheckReport, View], str]]] = {
    "text": render_check_text,
    "json": render_json,
    "markdown": render_check_markdown,
    "junit": render_check_junit,
    "sarif": render_check_sarif,
}
BACKENDS_RENDERERS: Final[dict[str, Callable[[BackendsReport, View], str]]] = {
    "text": render_backends_text,
    "json": render_json,
    "markdown": render_backends_markdown,
}
HISTORY_RENDERERS: Final[dict[str, Callable[[History, View], str]]] = {
    "text": render_history_text,
    "json": render_json,
    "markdown": render_history_markdown,
}
THRESHOLDS_RENDERERS: Final[dict[str, Callable[[ThresholdsReport, View], str]]] = {
    "text": render_thresholds_text,
    "json": render_json,
    "markdown": render_thresholds_markdown,
}
STEP_COST_RENDERERS: Final[dict[str, Callable[[StepCostReport, View], str]]] = {
    "text": render_step_cost_text,
    "json": render_json,
    "markdown": render_step_cost_markdown,
}
