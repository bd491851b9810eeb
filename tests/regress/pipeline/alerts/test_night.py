"""What a made-up night shows: three signals, and proof that something is well."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from regress.errors import UsageError
from regress.model.alert import Assessment, Signal
from regress.model.history import Explained
from regress.pipeline.alerts.jobs import assess_jobs, load_needs
from regress.pipeline.alerts.night import Evidence, assess_night
from regress.pipeline.alerts.releases import assess_releases
from regress.store.load import load_round
from tests.regress.builders import CASE, CONFIG, MACHINE, OTHER, rounds_of, write_rounds
from tests.regress.pipeline.alerts.histories import finding, history
from workloads.record import Round

NAME = MACHINE.name
QUIET = (100.0, 100.1, 99.9, 100.2, 99.8)
SLOW = tuple(v * 1.1 for v in QUIET)
THIRD = datetime(2026, 1, 3, tzinfo=UTC)
HOST = f"regression:{NAME}:host"


def night(number: int, times: Sequence[float], tag: str = "v1") -> tuple[Round, ...]:
    return rounds_of(tag, {CASE: times, OTHER: QUIET[: len(times)]}, f"c{number}")


def assess(
    root: Path, *nights: Sequence[Round], standing: Mapping[str, datetime] = {}, **changes: Any
) -> Assessment:
    write_rounds(root, [r for rounds in nights for r in rounds])
    values = {"machines": (NAME,), "since": THIRD, "now": THIRD + timedelta(hours=5)}
    evidence = Evidence(**{"root": root, "within_days": 2, "results": {}, **values, **changes})
    return assess_night(evidence, CONFIG, standing)


def keys(found: Assessment) -> tuple[list[str], list[str]]:
    return [a.key for a in found.alerts], [c.key for c in found.cleared]


def test_a_host_that_got_slower_is_a_regression(tmp_path: Path) -> None:
    """The alert says how many cases and how much, and how to see it."""
    found = assess(tmp_path, night(2, QUIET), night(3, SLOW))
    (alert,) = found.alerts
    assert (alert.signal, alert.key, alert.stacks) == (Signal.REGRESSION, HOST, ("v1",))
    assert alert.title == f"{NAME} got slower: 1 of 2 cases of v1, up to 1.10x"
    assert "it is the host and not the library: v1: 1 REGRESSION, 1 SAME" in alert.verdict
    assert alert.evidence[0].startswith("v1: one stack at two times: base is 5 rounds from 2026-01")
    assert alert.evidence[1].startswith("1.100x [")
    assert alert.evidence[1].endswith(str(CASE))
    assert alert.reproduce == (
        f"python -m regress check v1 v1 --machine {NAME} --since 2026-01-03T00:00:00Z "
        "--tier any --rounds data/rounds"
    )


def test_what_else_changed_on_the_host_is_evidence(tmp_path: Path) -> None:
    """Clocks that fell are told before any case: they are the likely cause."""
    nights = (
        [
            msgspec.structs.replace(
                r, cases=tuple(msgspec.structs.replace(c, sm_mhz=(mhz,) * 3) for c in r.cases)
            )
            for r in rounds
        ]
        for rounds, mhz in ((night(2, QUIET), 1980), (night(3, SLOW), 1500))
    )
    (alert,) = assess(tmp_path, *nights).alerts
    assert alert.evidence[1] == "sm_mhz differs in 1 of 1 case"


def test_a_host_that_is_as_fast_is_cleared(tmp_path: Path) -> None:
    """So is the data that came, and the step that judged both."""
    found = assess(tmp_path, night(2, QUIET), night(3, QUIET))
    well = [f"data-missing:{NAME}", HOST, f"job-failed:rounds of {NAME}"]
    assert keys(found) == ([], well)


def test_a_slow_host_is_held_against_its_last_good_night(tmp_path: Path) -> None:
    """The second slow night equals the first: that is no recovery."""
    nights = night(1, QUIET), night(2, SLOW), night(3, SLOW)
    assert HOST in keys(assess(tmp_path, *nights))[1]
    found = assess(tmp_path, standing={NAME: datetime(2026, 1, 2, tzinfo=UTC)})
    assert keys(found)[0] == [HOST]
    assert found.alerts[0].reproduce.count("--before 2026-01-02T00:00:00Z") == 1


def test_an_undecided_host_is_neither(tmp_path: Path) -> None:
    """Two rounds show nothing: the alert, if one stands, goes on."""
    found = assess(tmp_path, night(2, QUIET), night(3, QUIET[:2]))
    assert HOST not in keys(found)[0] + keys(found)[1]


def test_every_stack_of_tonight_counts(tmp_path: Path) -> None:
    """One slow stack is enough, though another is as fast; what is new tonight has no before."""
    found = assess(
        tmp_path,
        *(night(2, QUIET), night(3, QUIET)),
        *(night(2, QUIET, "v2"), night(3, SLOW, "v2"), night(3, SLOW, "v3")),
    )
    assert keys(found)[0] == [HOST]
    assert found.alerts[0].stacks == ("v2",)


@pytest.mark.parametrize(("age_days", "missing"), [(0, False), (1, False), (3, True), (9, True)])
def test_old_data_is_a_signal_of_its_own(
    age_days: int,
    missing: bool,  # noqa: FBT001
    tmp_path: Path,
) -> None:
    """Whatever became of the jobs: what counts is what is there."""
    now = datetime(2026, 1, 2, 1, tzinfo=UTC) + timedelta(days=age_days)
    found = assess(tmp_path, night(2, QUIET), now=now, since=now)
    key = f"data-missing:{NAME}"
    assert ([key] if missing else []) == keys(found)[0]
    assert (key in keys(found)[1]) is not missing
    if missing:
        assert found.alerts[0].title == f"{NAME} has had no new rounds for {age_days} days"
        assert "newest round: v1, 2026-01-02 00:04 UTC, c2" in found.alerts[0].evidence


def test_a_machine_without_rounds_is_missing(tmp_path: Path) -> None:
    """A machine that never measured is not forgotten."""
    found = assess(tmp_path, night(3, QUIET), machines=(NAME, "b200"))
    assert keys(found)[0] == ["data-missing:b200"]
    assert found.alerts[0].title == "b200 has no rounds"


def test_a_damaged_file_is_a_failed_step(tmp_path: Path) -> None:
    """Nothing is known of that machine, and others are judged."""
    (path,) = write_rounds(tmp_path, night(3, QUIET)[:1])
    path.write_bytes(b"damaged")
    found = assess(tmp_path, machines=(NAME, "b200"))
    assert keys(found)[0] == [f"job-failed:rounds of {NAME}", "data-missing:b200"]
    assert str(path) in found.alerts[0].evidence[0]
    with pytest.raises(UsageError):
        load_round(path)


def test_nights_with_other_set_ups_are_a_failed_step(tmp_path: Path) -> None:
    """A new driver branch is no slower host: it is said that they cannot be compared."""
    driver = msgspec.structs.replace(MACHINE, driver="590.1")
    late = [msgspec.structs.replace(r, machine=driver) for r in night(3, SLOW)]
    found = assess(tmp_path, night(2, QUIET), late)
    assert keys(found)[0] == [f"job-failed:rounds of {NAME}"]
    assert "driver branch (580 against 590)" in found.alerts[0].evidence[0]


def test_jobs_that_failed_are_signals_with_their_words() -> None:
    """Failed and cancelled jobs are told, those that went well are proof, skipped ones neither."""
    results = {"a": "success", "b": "failure", "c": "cancelled", "d": "skipped"}
    found = assess_jobs(results, ("h200/log.txt: error busy",))
    assert keys(found) == (["job-failed:b", "job-failed:c"], ["job-failed:a"])
    assert {a.signal for a in found.alerts} == {Signal.JOB_FAILED}
    assert found.alerts[0].evidence == ("h200/log.txt: error busy",)


def test_needs_are_githubs_context(tmp_path: Path) -> None:
    """Outputs beside the results do not matter; anything else is one line."""
    path = tmp_path / "needs.json"
    path.write_text(json.dumps({"plan": {"result": "success", "outputs": {"x": "y"}}}))
    assert load_needs(path) == {"plan": "success"}
    path.write_text("[]")
    with pytest.raises(UsageError, match="is no context `needs` of GitHub"):
        load_needs(path)


def test_a_history_that_is_not_there_is_a_failed_step(tmp_path: Path) -> None:
    """Its regressions are not known, which is no recovery."""
    found = assess(tmp_path, night(3, QUIET), histories=(tmp_path / "h200.json",))
    assert keys(found)[0] == ["job-failed:history h200"]


def test_an_alert_names_the_note_first(tmp_path: Path) -> None:
    """What a triage note explains goes before the automatic cause."""
    path = tmp_path / "h200.json"
    noted = finding(notes=(Explained("triage/a.md", "longer loop"),))
    path.write_bytes(msgspec.json.encode(history(noted)))
    (alert,) = assess(tmp_path, night(3, QUIET), histories=(path,)).alerts
    told = ("explained in triage/a.md: longer loop", "likely cause: another kernel")
    assert alert.evidence[:2] == told


def test_a_standing_regression_of_a_release_is_an_alert(tmp_path: Path) -> None:
    """It has the finding's own extent, cause and command."""
    path = tmp_path / "h200.json"
    path.write_bytes(msgspec.json.encode(history(finding())))
    found = assess(tmp_path, night(3, QUIET), histories=(path,))
    (alert,) = found.alerts
    assert (alert.key, alert.stacks) == ("regression:h200:release:step-1", ("v1", "v2"))
    assert alert.title == "v2: REGRESSION of decode on h200, 1 case, 1.50x, up to 2.00x"
    assert alert.verdict == "Decode is slower. v1 was good, v3 still has it."
    assert alert.evidence[0] == "likely cause: another kernel"
    assert alert.reproduce == "python -m regress check v1 v2"


@pytest.mark.parametrize(
    "changes",
    [{"standing": False, "recovered_by": "v3"}, {"gates": False}, {"verdict": "IMPROVEMENT"}],
)
def test_what_no_longer_counts_is_no_alert(changes: Mapping[str, Any]) -> None:
    """Recovered, informative and good findings open nothing."""
    assert assess_releases(history(finding(**changes))).alerts == ()


@pytest.mark.parametrize(
    ("given", "covered"),
    [
        (history(finding(standing=False, recovered_by="v3")), True),
        (history(finding()), False),
        (history(), True),
        (history(damaged=True), False),
        (history(since="v1"), False),
        (history(releases=("v1", "v3")), False),
    ],
    ids=["recovered", "standing", "no longer shown", "damaged", "in part", "without the release"],
)
def test_only_a_whole_history_clears(given: Any, covered: bool) -> None:  # noqa: FBT001
    """What is left out of a history cannot prove that a regression is over."""
    cleared = assess_releases(given).cleared
    key = "regression:h200:release:step-1"
    assert any(c.covers(key, ("v1", "v2")) for c in cleared) is covered
