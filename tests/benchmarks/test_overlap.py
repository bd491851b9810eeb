"""The next round's process: started early, let go in its turn, and never left behind."""

import json
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks import process
from benchmarks.campaign import Options, measure_turn, round_plan
from benchmarks.errors import UserError
from benchmarks.process import Ahead, Limits, Turn
from benchmarks.progress import Progress
from tests.benchmarks.interpreter import Interpreter, runs
from tests.benchmarks.synthetic import stack
from workloads.record import Case

CASES = tuple(Case(name, "made-up") for name in ("first", "second"))
PATIENT = Limits(build_s=30, measure_s=30)
WAIT_FOR_OTHERS = """
def started():
    return len(open({plans!r}).read().splitlines())

def wait_for(number):
    deadline = time.monotonic() + 10
    while started() < number:
        assert time.monotonic() < deadline, "nobody came"
        time.sleep(0.01)

with open({events!r}, "a") as file:
    file.write(json.dumps([plan["tag"], os.getpid(), started()]) + "\\n")
"""
"""Each process notes when it is let go, and how many had been started by then."""


class Relay:
    """Turns of stacks called a, b, … whose processes do what a test says."""

    def __init__(self, folder: Path) -> None:
        self.interpreter, self.events = Interpreter(folder), folder / "events"

    def __call__(self, tags: str, body: str) -> list[Turn]:
        names = {"plans": str(self.interpreter.plans_file), "events": str(self.events)}
        python = self.interpreter(WAIT_FOR_OTHERS.format(**names) + body)
        plans = (round_plan(stack(tag), CASES, Options("custom", "c1")) for tag in tags)
        return [Turn(plan, python) for plan in plans]

    def let_go(self) -> list[tuple[str, int, int]]:
        """Tag, process id and number of processes then started, of each that was let go."""
        lines = self.events.read_text().splitlines() if self.events.exists() else []
        return [tuple(json.loads(line)) for line in lines]

    def started(self) -> list[tuple[str, int]]:
        return [(plan["tag"], plan["pid"]) for plan in self.interpreter.plans()]


@pytest.fixture
def relay(tmp_path: Path) -> Relay:
    return Relay(tmp_path)


def run(
    turns: list[Turn],
    limits: Limits = PATIENT,
    watch: Callable[[Progress], None] = lambda _: None,
) -> None:
    with Ahead() as ahead:
        for turn, following in zip(turns, [*turns[1:], None], strict=True):
            measure_turn(turn, limits, watch, ahead, following)


def test_it_is_started_while_the_one_before_measures(relay: Relay) -> None:
    """Not while that builds; it is let go only when that has ended, and it is the same process."""
    body = """
say("build", left[0])
if plan["tag"] != "c":
    time.sleep(0.1)
    before = started()
    say("measure", left[0])
    wait_for(before + 1)
"""
    run(relay("abc", body))
    assert relay.let_go() == [
        (tag, pid, number) for number, (tag, pid) in enumerate(relay.started(), 1)
    ]
    assert [tag for tag, _ in relay.started()] == ["a", "b", "c"]


def test_a_round_made_anew_has_a_fresh_process(relay: Relay) -> None:
    """If a round loses a case while the next process waits, that one keeps its turn."""
    body = """
for case in left:
    say("measure", case)
    if plan["tag"] == "a" and is_second(case):
        wait_for(2)
        os.abort()
"""
    run(relay("ab", body))
    assert [tag for tag, _ in relay.started()] == ["a", "b", "a"]
    (_, first), (_, waiting), (_, again) = relay.started()
    assert [(tag, pid) for tag, pid, _ in relay.let_go()] == [
        ("a", first),
        ("a", again),
        ("b", waiting),
    ]
    assert relay.interpreter.lost() == {"second": "killed its process with SIGABRT"}


def test_a_waiting_process_is_not_hung(relay: Relay) -> None:
    """However long the round before takes, patience begins when a process is let go."""
    body = """
say("measure", left[0])
if plan["tag"] == "a":
    wait_for(2)
    time.sleep(1.5)
"""
    run(relay("ab", body), Limits(build_s=1.0, measure_s=30))
    assert [tag for tag, *_ in relay.let_go()] == ["a", "b"]


def test_a_process_that_died_waiting_is_told_in_its_turn(relay: Relay, tmp_path: Path) -> None:
    """The round before is kept; then comes the reason, as if it had been started then."""
    (turn, lost) = relay("ab", 'say("measure", left[0])\nwait_for(2)')
    broken = tmp_path / "broken"
    broken.write_text(
        turn.python.read_text().replace('say("import")', 'say("import")\nimport nonsense')
    )
    broken.chmod(0o755)
    seen: list[str] = []
    with pytest.raises(UserError, match=r"b cannot be measured: .*No module named 'nonsense'"):
        run([turn, Turn(lost.plan, broken)], watch=lambda step: seen.append(step.stage))
    assert seen == ["import", "measure", "done", "import"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, UserError])
def test_nobody_is_left_waiting(relay: Relay, error: type[BaseException]) -> None:
    """An interrupt or an error in the middle of a campaign ends the waiting process too."""

    def interrupt(step: Progress) -> None:
        if step.stage == "view":
            raise error

    with pytest.raises(error):
        run(relay("ab", 'say("measure", left[0])\nwait_for(2)\nsay("view")'), watch=interrupt)
    assert len(relay.started()) == 2
    assert not any(runs(pid) for _, pid in relay.started())


def test_a_process_that_nobody_wants_ends_by_itself(relay: Relay) -> None:
    """Where the system does not end it with its watcher, the closed pipe does."""
    (turn,) = relay("a", "")
    with Ahead() as ahead:
        ahead.start(turn)
        assert ahead._waiting is not None
        waiting = ahead._waiting._process
        ahead._waiting._let_go()
        assert waiting.wait(timeout=10) == 0
    assert relay.let_go() == []


def test_without_resources_it_starts_in_its_turn(
    relay: Relay, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That no process can be started now does not cost the round that is being measured."""

    def refuse(turn: Turn, *, held: bool) -> None:
        del turn, held
        raise BlockingIOError(11, "Resource temporarily unavailable")

    (turn,) = relay("a", "")
    with Ahead() as ahead:
        with monkeypatch.context() as patch:
            patch.setattr(process, "RoundProcess", refuse)
            ahead.start(turn)
        measure_turn(turn, PATIENT, lambda _: None, ahead)
    assert len(relay.started()) == 1


def test_a_python_that_is_missing_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that cannot be started keeps no pipe and no folder."""
    plan = round_plan(stack("a"), CASES, Options("custom", "c1"))
    descriptors = len(list(Path("/proc/self/fd").iterdir()))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for _ in range(2):
        with Ahead() as ahead, pytest.raises(FileNotFoundError):
            ahead.take(Turn(plan, tmp_path / "none"))
    assert len(list(Path("/proc/self/fd").iterdir())) == descriptors
    assert list(tmp_path.iterdir()) == []
