"""Made-up histories: nothing in them was measured."""

from typing import Any

from regress.errors import ExitCode
from regress.model.cause import Cause
from regress.model.finding import Metric, Ratio
from regress.model.history import (
    HISTORY_SCHEMA,
    ControlGroup,
    Damaged,
    Extreme,
    Guarantee,
    History,
    HistoryFinding,
    Kind,
    Release,
)
from regress.model.verdict import Verdict
from tests.regress.builders import CASE

__all__ = ["finding", "history"]


def finding(**changes: Any) -> HistoryFinding:
    values: dict[str, Any] = {
        "id": "step-1",
        "kind": Kind.STEP,
        "metric": Metric.KERNEL_TIME,
        "last_good": "v1",
        "first_bad": "v2",
        "verdict": Verdict.REGRESSION,
        "standing": True,
        "gates": True,
        "recovered_by": None,
        "families": ("decode",),
        "cases": (CASE,),
        "size": 1.5,
        "largest": Extreme(CASE, Ratio(2.0, 1.9, 2.1, 0.95)),
        "reason": "Decode is slower.",
        "cause": Cause("another kernel", explained=True, evidence=(), files=()),
        "reproduce": "python -m regress check v1 v2",
    }
    changed = {**changes, "verdict": Verdict(changes.get("verdict", "REGRESSION"))}
    return HistoryFinding(**{**values, **changed})


def history(
    *findings: HistoryFinding,
    damaged: bool = False,
    since: str | None = None,
    releases: tuple[str, ...] = ("v1", "v2", "v3"),
) -> History:
    return History(
        schema=HISTORY_SCHEMA,
        command="python -m regress history",
        machine="h200",
        setup={},
        tier="gate",
        pattern=None,
        families=(),
        since=since,
        verdict=Verdict.SAME,
        exit_code=ExitCode.PASS,
        reference="v1",
        releases=tuple(map(_release, releases)),
        findings=findings,
        series=(),
        steps=(),
        drifts=(),
        recovered=(),
        plan_changes=(),
        threshold_moves=(),
        controls=ControlGroup((), 0, 0, 0, None, None),
        guarantee=Guarantee(0.01, 1, None),
        damaged=(Damaged("x.json.gz", "is no gzip"),) if damaged else (),
        warnings=(),
    )


def _release(tag: str) -> Release:
    return Release(tag, None, None, 5, 1, (), None, {}, None, None, 0)
