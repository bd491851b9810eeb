"""The model of time against recorded rounds."""

import msgspec
import pytest

from regress.errors import NoDataError
from regress.model.accuracy import LONG_US, Accuracy
from regress.pipeline.explain import fit_rates as fit
from regress.pipeline.explain.accuracy import judge_accuracy
from regress.pipeline.explain.timed import MACHINE, timed_plans
from regress.store.rounds import load_machine
from regress.store.tree import RECORDED, scan
from workloads.devices import parse_device
from workloads.record import CaseRecord, Round
from workloads.simulator import simulate
from workloads.simulator.rates import load_rates

H200 = parse_device(MACHINE)


@pytest.fixture(scope="module")
def rounds() -> dict[str, tuple[Round, ...]]:
    return load_machine(scan((RECORDED,)), MACHINE).rounds


@pytest.fixture(scope="module")
def accuracy(rounds: dict[str, tuple[Round, ...]]) -> Accuracy:
    return judge_accuracy(rounds)


def test_the_model_is_close_to_recorded_times(accuracy: Accuracy) -> None:
    """The median error stays under 25 % for every backend, and far under it over all."""
    assert accuracy.median < 0.05
    assert max(one.median for one in accuracy.backends) < 0.25
    assert len(accuracy.backends) == 18


def test_the_model_ranks_backends(accuracy: Accuracy) -> None:
    """In nine of ten races the backend it puts first is the fastest, or as good as that."""
    ranking = accuracy.ranking
    assert ranking.right >= 0.9 * ranking.workloads
    assert ranking.exact <= ranking.right
    assert ranking.worst < 0.1


def test_stored_errors_still_hold(accuracy: Accuracy) -> None:
    """What `explain` quotes is what the fit saw; rounds recorded since say about the same."""
    for path, known in load_rates().paths.items():
        today = [one for one in accuracy.backends if one.path == path]
        least, most = (pick(one.median for one in today) for pick in (min, max))
        assert least - 0.01 <= known.median_error <= most + 0.01
        assert known.median_error <= known.most_error


def doubled(found: Round) -> Round:
    """A synthetic round whose times are twice those of a recorded one."""

    def slower(record: CaseRecord) -> CaseRecord:
        return msgspec.structs.replace(record, kernel_us=tuple(2 * us for us in record.kernel_us))

    return msgspec.structs.replace(found, cases=tuple(map(slower, found.cases)))


def test_a_slower_card_is_seen_as_error(rounds: dict[str, tuple[Round, ...]]) -> None:
    """Rounds that are all twice as slow put the model off by about a half."""
    found = judge_accuracy({"v0.6.1": tuple(map(doubled, rounds["v0.6.1"][:2]))})
    assert 0.45 < found.median < 0.55


def test_nothing_recorded_is_no_pass() -> None:
    """Without any cell there is no accuracy."""
    with pytest.raises(NoDataError):
        judge_accuracy({})


def test_a_fit_follows_its_cells(rounds: dict[str, tuple[Round, ...]]) -> None:
    """Fitted on rounds that are all twice as slow, speeds about halve."""
    nightly = next(r for r in rounds["v0.6.1"] if r.tier == "nightly")
    slow = {"v0.6.1": (doubled(nightly),)}
    cells = [t for t in timed_plans(slow, H200) if t.plan.path == "fa3"]
    rates = fit._fit("fa3", cells, H200)
    assert rates.cta_tokens_us == pytest.approx(
        load_rates().paths["fa3"].rates.cta_tokens_us / 2, rel=0.1
    )
    off = [
        abs(simulate(t.plan, H200, rates).time_us / t.time_us - 1)
        for t in cells
        if t.time_us > LONG_US
    ]
    assert max(off) < 0.25
