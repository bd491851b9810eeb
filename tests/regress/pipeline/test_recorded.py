"""What the README draws from rounds."""

from itertools import product

import pytest

from regress.errors import NoDataError
from regress.pipeline.recorded import sweep_of
from tests.regress.builders import lost, make_round, measured
from workloads.record import Case, CaseRecord, Facts, Round

FA2 = "flashinfer-decode-tc-fa2"
SPLITS = {32: 8, 64: 2, 128: 1}


def _case(batch: int, distribution: str) -> Case:
    return Case(f"decode-h32x4-d128-bf16-p16-b{batch}-{distribution}-t262144", FA2)


def _round(number: int, scale: float) -> Round:
    records: list[CaseRecord] = [
        measured(
            _case(batch, kind),
            scale * (100.0 if kind == "uniform" or splits > 1 else 900.0),
            facts=Facts(max_splits=splits if kind == "skew40" else 1),
        )
        for (batch, splits), kind in product(SPLITS.items(), ("uniform", "skew40"))
    ]
    return make_round("v9", number, [*records, lost(_case(256, "uniform"))], tier="sweep")


def test_a_cliff_is_where_the_plan_stops_splitting() -> None:
    """The cliff lies between the last split point and the first unsplit one, whatever the times."""
    curve = sweep_of([_round(1, 1.0), _round(2, 1.2)]).curves[0]
    assert curve.cliff is not None
    before, after = curve.cliff
    assert (before.batch, after.batch) == (64, 128)
    assert after.uniform_us == pytest.approx(110.0)
    assert after.penalty == pytest.approx(9.0)


def test_a_point_needs_both_distributions() -> None:
    """A batch size that was not measured on both sides is left out, not drawn at zero."""
    only_skewed = measured(_case(512, "skew40"), 5.0, facts=Facts(max_splits=1))
    extended = make_round("v9", 3, [*_round(3, 1.0).cases, only_skewed], tier="sweep")
    assert [p.batch for p in sweep_of([extended]).curves[0].points] == [32, 64, 128]


def test_a_curve_that_always_splits_has_no_cliff() -> None:
    """Without an unsplit point there is no cliff to mark."""
    curve = sweep_of([_round(1, 1.0)]).curves[0]
    assert type(curve)(curve.backend, curve.points[:2]).cliff is None


def test_no_sweep_round_is_no_data() -> None:
    """Without a recorded sweep the command ends with one line instead of an empty picture."""
    with pytest.raises(NoDataError, match="no sweep round"):
        sweep_of([])
