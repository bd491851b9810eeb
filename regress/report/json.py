"""Results as JSON: the same structures as in `regress.model`, numbers as numbers."""

from typing import Final

import msgspec

from regress.model.backends import BackendsReport
from regress.model.bisection import Bisection
from regress.model.bump import Bump
from regress.model.explain import Explanation
from regress.model.history import History
from regress.model.report import CheckReport
from regress.model.step_cost import StepCostReport
from regress.model.thresholds import ThresholdsReport
from regress.model.trace import TraceSummary
from regress.report.printable import printable
from regress.report.view import View

__all__ = ["render_json", "render_schema"]

_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"


_Report = (
    CheckReport
    | BackendsReport
    | ThresholdsReport
    | Explanation
    | TraceSummary
    | StepCostReport
    | History
    | Bisection
)


def render_json(report: _Report, _view: View | None = None) -> str:
    """Return the report as indented JSON."""
    try:
        data = msgspec.json.encode(report)
    except UnicodeEncodeError:
        # A file name or an argument that is no UTF-8: JSON cannot hold it as it is.
        data = msgspec.json.encode(printable(report))
    return msgspec.json.format(data, indent=1).decode() + "\n"


def render_schema(result: type[_Report | Bump]) -> str:
    """Return the JSON Schema of a report, or of what the gate's jobs pass on."""
    schema = {"$schema": _DIALECT, **msgspec.json.schema(result)}
    data = msgspec.json.encode(schema, order="deterministic")
    return msgspec.json.format(data, indent=1).decode() + "\n"
