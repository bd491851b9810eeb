"""One stack on several nights, from made-up rounds: what changed then is the host."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import combinations
from pathlib import Path

import msgspec
import pytest

from regress.cli import main
from regress.errors import ExitCode, NoDataError
from regress.model.report import CheckReport
from regress.model.verdict import Verdict
from regress.pipeline.nights import check_nights, start_of
from regress.pipeline.request import Request
from regress.store.load import load_round
from regress.store.tree import RECORDED
from tests.regress.builders import CASE, CONFIG, MACHINE, rounds_of, write_rounds
from workloads.record import CaseRecord, Design, Facts, Kernel, Round

QUIET = (100.0, 100.1, 99.9, 100.2, 99.8)
SLOW = tuple(v * 1.1 for v in QUIET)
THIRD = datetime(2026, 1, 3, tzinfo=UTC)
KERNEL = Kernel("AttentionKernel", (66, 1, 4), (128, 1, 1))
CARD = msgspec.structs.replace(MACHINE, gpu_uuid="GPU-1")


def night(number: int, times: Sequence[float], tag: str = "v1") -> list[Round]:
    """Return the rounds of a night: campaign `c1` is the first of January."""
    return list(rounds_of(tag, {CASE: times}, f"c{number}"))


def on(machine: object, rounds: Sequence[Round]) -> list[Round]:
    return [msgspec.structs.replace(r, machine=machine) for r in rounds]


def judged(root: Path, *nights: Sequence[Round], since: datetime = THIRD) -> CheckReport:
    write_rounds(root, [r for rounds in nights for r in rounds])
    return check_nights("v1", since, Request((root,), None, "any", None, "command"), CONFIG)


@pytest.mark.parametrize(
    ("before", "tonight", "verdict", "code"),
    [
        (QUIET, QUIET, Verdict.SAME, ExitCode.PASS),
        (QUIET, SLOW, Verdict.REGRESSION, ExitCode.REGRESSION),
        (SLOW, QUIET, Verdict.IMPROVEMENT, ExitCode.PASS),
        (QUIET, SLOW[:2], Verdict.UNDECIDED, ExitCode.UNDECIDED),
    ],
)
def test_tonight_is_held_against_the_night_before(
    before: Sequence[float],
    tonight: Sequence[float],
    verdict: Verdict,
    code: ExitCode,
    tmp_path: Path,
) -> None:
    """What is the same stack and got slower is the host's doing; an older night does not count."""
    report = judged(tmp_path, night(1, SLOW), night(2, before), night(3, tonight))
    assert (report.verdict, report.exit_code) == (verdict, code)
    assert report.rounds.base == tuple(r.id for r in night(2, before))
    assert "one stack at two times: base is 5 rounds from 2026-01-02" in report.warnings[0]


@pytest.mark.parametrize(
    ("tonight", "verdict"), [(SLOW, Verdict.REGRESSION), (QUIET, Verdict.SAME)]
)
def test_the_very_same_kernel_can_only_get_slower_by_the_host(
    tonight: Sequence[float], verdict: Verdict, tmp_path: Path
) -> None:
    """Between two stacks that would be a noise alarm; here it is what is looked for."""

    def known(rounds: Sequence[Round]) -> list[Round]:
        facts = Facts(cubin="0123456789ab")
        return [
            msgspec.structs.replace(
                r,
                cases=tuple(
                    msgspec.structs.replace(c, facts=facts, kernels=(KERNEL,)) for c in r.cases
                ),
            )
            for r in rounds
        ]

    report = judged(tmp_path, known(night(2, QUIET)), known(night(3, tonight)))
    assert report.verdict is verdict


def test_a_night_on_the_same_card_comes_first(tmp_path: Path) -> None:
    """Cards of one model differ, so the night before is that of the same card."""
    report = judged(tmp_path, night(1, QUIET), on(CARD, night(2, SLOW)), night(3, QUIET))
    assert report.verdict is Verdict.SAME
    assert {id_.rsplit("-", 1)[0] for id_ in report.rounds.base} == {"v1-c1"}


def test_another_card_is_told(tmp_path: Path) -> None:
    """Without a night on the same card another one serves, and the report says so."""
    report = judged(tmp_path, on(CARD, night(2, QUIET)), night(3, QUIET))
    assert report.verdict is Verdict.SAME
    assert "the two times are of 2 cards: cards of a model differ" in report.warnings


def test_an_older_night_can_be_asked_for(tmp_path: Path) -> None:
    """Two slow nights are alike, and both slower than the good one before them."""
    write_rounds(tmp_path, [*night(1, QUIET), *night(2, SLOW), *night(3, SLOW)])
    request = Request((tmp_path,), None, "any", None, "command")
    second = datetime(2026, 1, 2, tzinfo=UTC)
    assert check_nights("v1", THIRD, request, CONFIG).verdict is Verdict.SAME
    assert check_nights("v1", THIRD, request, CONFIG, second).verdict is Verdict.REGRESSION


@pytest.mark.parametrize(("nights", "when"), [((1, 2), "since"), ((3, 4), "before")])
def test_nothing_on_a_side_is_no_data(nights: tuple[int, ...], when: str, tmp_path: Path) -> None:
    """A night without rounds is never a pass."""
    with pytest.raises(NoDataError, match=f"no rounds on synthetic {when} 2026-01-03T00:00:00Z"):
        judged(tmp_path, *(night(number, QUIET) for number in nights))


def test_a_round_that_got_lost_tonight_is_no_data(tmp_path: Path) -> None:
    """Rounds tell how many were planned, so one that is missing is seen."""
    planned = [
        msgspec.structs.replace(r, design=Design("run", "rounds", ("v1",), number, 6))
        for number, r in enumerate(night(3, QUIET), 1)
    ]
    report = judged(tmp_path, night(2, QUIET), planned)
    assert report.exit_code is ExitCode.NO_DATA
    assert "no round of v1 in block 6 of 6" in report.findings[0].reason.message


def test_the_command_speaks_of_the_host(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same stack is named twice, and what to do is about the host."""
    write_rounds(tmp_path, [*night(2, QUIET), *night(3, SLOW)])
    words = ["check", "v1", "v1", "--rounds", str(tmp_path), "--tier", "any", "--since"]
    assert main([*words, "2026-01-03"]) == 1
    assert "look at the host: the same stack got worse on it" in capsys.readouterr().out
    assert main([*words, "2026-01-03T00:30:00+00:00"]) == 4


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["v1", "v2", "--since", "2026-01-03"], "--since compares a stack with itself"),
        (["v1", "v1"], "compare its nights by --since"),
        (["v1", "v1", "--before", "2026-01-03"], "--before goes with --since"),
    ],
)
def test_stacks_and_since_must_fit(
    words: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two stacks are compared without a time, one stack only with it."""
    assert main(["check", *words]) == 2
    assert told in capsys.readouterr().err


def test_a_time_is_iso_8601(capsys: pytest.CaptureFixture[str]) -> None:
    """Anything else is wrong usage, in one line that shows the form."""
    with pytest.raises(SystemExit) as caught:
        main(["check", "v1", "v1", "--since", "yesterday"])
    assert caught.value.code == 2
    assert "'yesterday' is no time in ISO 8601" in capsys.readouterr().err


@pytest.mark.parametrize("tag", ["v0.6.0", "v0.6.1"])
def test_recorded_campaigns_of_one_stack_are_alike(tag: str, tmp_path: Path) -> None:
    """The first four campaigns of 5 rounds or more, on three cards: every case of every pair."""
    names = ("20261129-h200", "20261129-gate-a", "20261129-gate-b", "20261129-gate-c")
    paths: dict[str, list[Path]] = defaultdict(list)
    for path in sorted((RECORDED / "h200" / tag).iterdir()):
        found = load_round(path)
        if found.tier in {"gate", "nightly"}:
            paths[found.campaign].append(path)
    for number, pair in enumerate(combinations(names, 2)):
        folder = tmp_path / str(number) / "h200" / tag
        folder.mkdir(parents=True)
        for path in (path for name in pair for path in paths[name]):
            (folder / path.name).symlink_to(path)
        began = start_of(load_round(paths[pair[1]][0]))
        request = Request((tmp_path / str(number),), None, "gate", None, "command")
        report = check_nights(tag, began, request, CONFIG)
        assert {cell.verdict for cell in report.cells} == {Verdict.SAME}
        assert len(report.cells) == 72


@pytest.mark.parametrize(("factor", "found"), [(1.03, 0), (1.05, 141)])
def test_how_much_slower_a_host_must_be(factor: float, found: int, tmp_path: Path) -> None:
    """Recorded rounds of one night, and made-up ones that are slower than those of the next."""
    worse = 0
    for tag in ("v0.6.0", "v0.6.1"):
        for path in sorted((RECORDED / "h200" / tag).iterdir()):
            r = load_round(path)
            if r.campaign == "20261129-gate-b":
                r = msgspec.structs.replace(r, cases=tuple(_slower(c, factor) for c in r.cases))
            if r.campaign in {"20261129-gate-a", "20261129-gate-b"}:
                write_rounds(tmp_path, [r])
        since = datetime(2026, 11, 29, 19, 16, 40, tzinfo=UTC)
        request = Request((tmp_path,), None, "gate", None, "command")
        cells = check_nights(tag, since, request, CONFIG).cells
        worse += sum(cell.verdict is Verdict.REGRESSION for cell in cells)
    assert worse == found


def _slower(record: CaseRecord, factor: float) -> CaseRecord:
    times = tuple(us * factor for us in record.kernel_us)
    return msgspec.structs.replace(record, kernel_us=times)
