"""Results as JSON: the same structures as in `regress.model`, numbers as numbers."""

import msgspec

from regress.model.backends import BackendsReport
from regress.model.report import CheckReport
from regress.report.view import View

__all__ = ["render_json", "render_schema"]


def render_json(report: CheckReport | BackendsReport, _view: View | None = None) -> str:
    """Return the report as indented JSON."""
    return msgspec.json.format(msgspec.json.encode(report), indent=1).decode() + "\n"


def render_schema(result: type[CheckReport | BackendsReport]) -> str:
    """Return the JSON Schema of a report."""
    schema = msgspec.json.encode(msgspec.json.schema(result), order="deterministic")
    return msgspec.json.format(schema, indent=1).decode() + "\n"
