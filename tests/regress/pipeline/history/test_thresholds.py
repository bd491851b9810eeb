"""Thresholds that moved between releases: made-up years, then the recorded ones."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest

from regress.config import load_config
from regress.errors import ExitCode
from regress.model.history import History
from regress.model.history_moves import Number, ThresholdMove
from regress.model.line import Axis
from regress.model.thresholds import Bracket
from regress.pipeline.history.chain import Chain, choose_chain
from regress.pipeline.history.thresholds import find_moves
from regress.pipeline.thresholds.predict import Planner
from regress.store.cache import load_cached
from regress.store.columns import join_sheets
from regress.store.sources import load_sources
from regress.store.stacks import load_published
from regress.store.tree import RECORDED, scan
from tests.regress.builders import MACHINE, make_round, write_rounds
from tests.regress.pipeline.history.year import TAGS, look
from workloads.backend import Mode
from workloads.devices import DEVICES
from workloads.planner import plan
from workloads.record import Case, CaseRecord, Facts, Status
from workloads.workload import parse

H200 = next(device for device in DEVICES if device.name == "h200")
SHAPE = "decode-h32x4-d128-bf16-p16"
FA2, AUTO = (
    Axis(SHAPE, 262144, f"flashinfer-decode-tc-{path}", Mode.EAGER, "skew40")
    for path in ("fa2", "auto")
)
BATCHES = (64, 65, 66, 67)
RULE = load_config().thresholds

Told = Callable[[Case, int, int], Facts | None]
"""Facts of a case with a batch size in the release with a number."""


def _record(case: Case, us: float, facts: Facts | None) -> CaseRecord:
    times = (us,) * 3
    return CaseRecord(
        case, Status.MEASURED, kernel_us=times, samples=(9,) * 3, error=1e-3, facts=facts
    )


def _year(
    root: Path,
    axis: Axis,
    told: Told,
    *,
    batches: Callable[[int], tuple[int, ...]] = lambda _point: BATCHES,
    gpu: str = "Synthetic GPU",
) -> History:
    """Look at made-up rounds of six releases in which no time changes."""

    def records(point: int, number: int) -> Iterator[CaseRecord]:
        for batch in batches(point):
            case = axis.case(batch)
            yield _record(case, 100.0 + batch + number / 10, told(case, batch, point))

    machine = msgspec.structs.replace(MACHINE, gpu=gpu)
    rounds = [
        make_round(TAGS[point], number, records(point, number), tier="custom", machine=machine)
        for number in range(2)
        for point in range(1, 7)
    ]
    write_rounds(root, rounds)
    return look(root)


def _splits_below(threshold: Callable[[int], int]) -> Told:
    return lambda _case, batch, point: Facts(splits_kv=batch < threshold(point))


def _modelled(case: Case, _batch: int, point: int) -> Facts:
    made = plan(case.backend, parse(case.workload), H200, version=TAGS[point][1:])
    return Facts(made.path, splits_kv=made.splits_kv, padded_batch=made.padded_batch)


def test_a_threshold_that_moves_by_one_batch(tmp_path: Path) -> None:
    """It is told exactly, with the releases before and after, and the exit code stays."""
    moved = _year(tmp_path / "moved", FA2, _splits_below(lambda point: 67 if point >= 4 else 66))
    still = _year(tmp_path / "still", FA2, _splits_below(lambda _point: 66))
    ends = Bracket(65, 66), Bracket(66, 67)
    planned = [m for m in moved.threshold_moves if m.number is Number.PLANNED]
    assert planned == [ThresholdMove(FA2, Number.PLANNED, TAGS[3], TAGS[4], *ends)]
    assert still.threshold_moves == ()
    assert moved.exit_code is still.exit_code is not ExitCode.REGRESSION
    assert moved.verdict is still.verdict


def test_what_is_not_known_does_not_move(tmp_path: Path) -> None:
    """Fewer batch sizes make a wider bracket, and releases without facts tell nothing."""

    def batches(point: int) -> tuple[int, ...]:
        return (64, 67) if point >= 3 else BATCHES

    told = _splits_below(lambda point: 67 if point >= 4 else 66)
    assert _year(tmp_path / "wide", FA2, told, batches=batches).threshold_moves == ()
    silent = _year(tmp_path / "silent", FA2, lambda _case, _batch, _point: None)
    assert silent.threshold_moves == ()


def test_a_move_is_told_around_what_is_not_known(tmp_path: Path) -> None:
    """By the last release that surely has the old threshold, and the first with the new."""

    def told(case: Case, batch: int, point: int) -> Facts | None:
        unknown = point in {3, 4}
        return (
            None if unknown else _splits_below(lambda p: 67 if p >= 4 else 66)(case, batch, point)
        )

    (move,) = _year(tmp_path, FA2, told).threshold_moves
    assert (move.before, move.after) == (TAGS[2], TAGS[5])


def test_only_what_begins_after_since(tmp_path: Path) -> None:
    """As findings are, moves are told from the first release after it."""
    told = _splits_below(lambda point: 67 if point >= 4 else 66)
    assert len(_year(tmp_path, FA2, told).threshold_moves) == 1
    kept = [look(tmp_path, since).threshold_moves for since in (TAGS[3], TAGS[4])]
    assert [*map(len, kept)] == [1, 0]


def test_the_model_says_what_few_batches_leave_open(tmp_path: Path) -> None:
    """It is exact where it gives every recorded fact; from one batch size nothing else tells."""
    report = _year(tmp_path, AUTO, _modelled, batches=lambda _point: (67,), gpu="NVIDIA H200")
    ends = Bracket(65, 66), Bracket(None, RULE.smallest_batch)
    assert report.threshold_moves == (
        ThresholdMove(AUTO, Number.PREDICTED, "v0.5.3", "v0.6.0", *ends),
    )
    assert report.warnings == ()


def test_a_model_that_is_contradicted_is_not_believed(tmp_path: Path) -> None:
    """One wrong fact, and the release's threshold is not known; the report says so."""

    def told(case: Case, batch: int, point: int) -> Facts:
        facts = _modelled(case, batch, point)
        wrong = TAGS[point] == "v0.6.0"
        return msgspec.structs.replace(facts, splits_kv=True) if wrong else facts

    report = _year(tmp_path, AUTO, told, batches=lambda _point: (67,), gpu="NVIDIA H200")
    (move,) = report.threshold_moves
    assert (move.before, move.after) == ("v0.5.3", "v0.6.1")
    (warning,) = report.warnings
    assert "the model of flashinfer-decode-tc-auto does not give" in warning
    assert "of v0.6.0:" in warning


def test_a_model_that_nothing_confirms_is_not_believed(tmp_path: Path) -> None:
    """Rounds that tell no plan leave it open, without a warning: there is no contradiction."""
    report = _year(
        tmp_path,
        AUTO,
        lambda _case, _batch, _point: Facts(resolved_backend="fa2"),
        batches=lambda _point: (67,),
        gpu="NVIDIA H200",
    )
    assert (report.threshold_moves, report.warnings) == ((), ())


def test_a_workload_of_another_catalog_is_left_aside(tmp_path: Path) -> None:
    """What cannot be read has no threshold, and takes nothing from the others."""
    strange, known = Case("decode-of-another-time", AUTO.backend), AUTO.case(67)

    rounds = [
        make_round(
            TAGS[point],
            number,
            [_record(case, 100.0, _modelled(known, 67, point)) for case in (strange, known)],
            machine=msgspec.structs.replace(MACHINE, gpu="NVIDIA H200"),
            tier="custom",
        )
        for number in range(2)
        for point in range(1, 7)
    ]
    write_rounds(tmp_path, rounds)
    (move,) = look(tmp_path).threshold_moves
    assert (move.axis, move.after) == (AUTO, "v0.6.0")


@pytest.mark.parametrize("guess", [None, 3, 64, 66, 67, 1024])
@pytest.mark.parametrize("axis", [FA2, AUTO])
def test_a_guess_changes_nothing(axis: Axis, guess: int | None) -> None:
    """Where the search begins does not decide where it ends."""
    planner = Planner(H200, {"flashinfer-python": "0.6.1"}, {})
    expected = Bracket(65, 66) if axis is FA2 else Bracket(None, RULE.smallest_batch)
    assert planner.threshold(axis, RULE, guess) == expected


@pytest.fixture(scope="module")
def recorded() -> Chain:
    """The releases of the recorded rounds."""
    return choose_chain(
        join_sheets(load_cached(scan((RECORDED,)), "h200").sheets), load_published()
    )


def test_what_moved_in_the_recorded_releases(recorded: Chain) -> None:
    """Nine CTAs on an SM instead of eight, `auto` on fa3 for a while, and nothing without sources.

    The numbers of 0.7.0 are the lengths of the serving grid that its plans told: 132 and 148.
    """
    found = find_moves(recorded, recorded.columns.cases, RULE)
    assert found.warnings == ()
    ends = {
        (m.axis.shape, m.axis.backend, m.number): (m.base, m.head)
        for m in found.moves
        if (m.before, m.after) == ("v0.6.18.post1", "v0.7.0")
    }
    assert ends == {
        ("decode-h32x8-d128-bf16-p16", f"flashinfer-decode-cuda{mode}", Number.PREDICTED): (
            Bracket(131, 132),
            Bracket(147, 148),
        )
        for mode in ("", "-serving")
    }
    assert {
        (m.before, m.after)
        for m in found.moves
        if m.axis.backend == AUTO.backend and m.number is Number.PLANNED
    } == {("v0.5.3", "v0.6.0"), ("v0.6.3", "v0.6.4")}
    # It did not compile from 0.6.0 to 0.6.3: what was never run has no threshold.
    assert not [m for m in found.moves if "kvfp8" in m.axis.shape]
    sources = load_sources()
    assert all(sources.changed(m.before, m.after) for m in found.moves)
    assert sum(sources.changed(*pair) == () for pair in pairwise(recorded.tags)) > 1


def test_a_recorded_release_with_another_plan_would_be_seen(recorded: Chain) -> None:
    """Had v0.7.4 split one batch that it did not, `fa2` would be among the moves."""
    columns = recorded.columns
    column = columns.cases.index(FA2.case(66))
    ran, told = columns.ran.copy(), list(columns.told)
    for row, head in enumerate(columns.heads):
        if head.tag == "v0.7.4" and ran[row, column] >= 0:
            seen = told[ran[row, column]]
            assert seen.facts is not None
            facts = msgspec.structs.replace(seen.facts, max_splits=2, splits_kv=True)
            ran[row, column] = len(told)
            told.append(msgspec.structs.replace(seen, facts=facts))
    changed = replace(recorded, columns=replace(columns, ran=ran, told=tuple(told)))
    found = find_moves(changed, [c for c in columns.cases if c.backend == FA2.backend], RULE)
    assert [(m.axis, m.number, m.after) for m in found.moves] == [(FA2, Number.PLANNED, "v0.7.4")]
    assert [line for line in found.warnings if "v0.7.4" in line]
