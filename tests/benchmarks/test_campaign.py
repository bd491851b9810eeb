"""Watching measuring processes: what costs a case, what costs the round, what costs nothing."""

import json
import os
import random
import time
from collections import Counter
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.campaign import Limits, Options, campaign_id, interleave, measure_round
from benchmarks.errors import UserError
from benchmarks.paths import BYTECODE
from benchmarks.progress import Progress
from tests.benchmarks.interpreter import Interpreter, runs
from tests.benchmarks.synthetic import stack
from workloads.record import Case

STACK = stack("v1", pins={"flashinfer-python": "1.0"})
PATIENT = Limits()
CASES = tuple(Case(name, "made-up") for name in ("first", "second", "third"))


@pytest.fixture
def interpreter(tmp_path: Path) -> Interpreter:
    return Interpreter(tmp_path)


def measure(
    python: Path, limits: Limits = PATIENT, watch: Callable[[Progress], None] = lambda _: None
) -> Path:
    options = Options("custom", "c1", Path("rounds"), limits=limits)
    return measure_round(STACK, CASES, options, python, watch)


def test_the_plan_is_handed_over(interpreter: Interpreter) -> None:
    """The process gets the stack, its pins, the cases and an absolute folder; its file returns."""
    assert measure(interpreter("")) == Path("/a/round")
    (plan,) = interpreter.plans()
    assert (plan["tag"], plan["digest"], plan["expected"]) == ("v1", STACK.digest, STACK.pins)
    assert [Case(**case) for case in plan["cases"]] == list(CASES)
    assert Path(plan["directory"]) == Path("rounds").resolve()


def test_a_dead_device_costs_the_case_and_is_quoted(interpreter: Interpreter) -> None:
    """A CUDA error that stays is blamed on the last case, with the error as its reason."""
    body = """
for case in left:
    say("build", case)
    if is_second(case):
        sys.stderr.write("warning: noise\\nerror: RuntimeError: CUDA error: illegal address\\n")
        sys.exit(70)
"""
    measure(interpreter(body))
    assert interpreter.lost() == {"second": "RuntimeError: CUDA error: illegal address"}
    assert len(interpreter.plans()) == 2


@pytest.mark.parametrize(
    ("act", "reason"),
    [
        ("os.abort()", "killed its process with SIGABRT"),
        ("os.kill(os.getpid(), 11)", "killed its process with SIGSEGV"),
        ("os.kill(os.getpid(), 40)", "killed its process with signal 40"),
        ("os._exit(0)", "ended its process with exit code 0"),
        (
            "raise RuntimeError('left alone')",
            "ended its process with exit code 1; it last said: RuntimeError: left alone",
        ),
    ],
)
def test_a_process_that_ends_costs_the_case(
    interpreter: Interpreter, act: str, reason: str
) -> None:
    """However a case ends its process, it alone is lost, and the reason says how."""
    measure(
        interpreter(f"for case in left:\n    say('build', case)\n    if is_second(case): {act}")
    )
    assert interpreter.lost() == {"second": reason}


def test_an_earlier_complaint_is_not_the_reason(interpreter: Interpreter) -> None:
    """An `error:` line that some compiler printed before does not explain a crash."""
    body = """
sys.stderr.write("error: identifier undefined\\n")
for case in left:
    say("build", case)
    if is_second(case):
        sys.stderr.write("terminate called\\n")
        sys.stderr.flush()
        os.abort()
"""
    measure(interpreter(body))
    assert interpreter.lost() == {
        "second": "killed its process with SIGABRT; it last said: terminate called"
    }


@pytest.mark.parametrize(
    ("stage", "limits"),
    [("build", Limits(build_s=1.0, measure_s=60)), ("measure", Limits(build_s=60, measure_s=1.0))],
)
def test_a_hang_costs_the_case(interpreter: Interpreter, stage: str, limits: Limits) -> None:
    """Each stage has its own patience; what hangs is killed, and named with stage and time."""
    body = f"""
for case in left:
    say({stage!r}, case)
    if is_second(case):
        time.sleep(3600)
"""
    started = time.monotonic()
    measure(interpreter(body), limits)
    assert time.monotonic() - started < 30
    assert interpreter.lost() == {"second": f"hung: no progress for 1 s while in {stage}"}


def test_every_case_may_be_lost_but_the_loop_ends(interpreter: Interpreter) -> None:
    """If each try loses a case there are as many tries as cases, and one more."""
    measure(interpreter('for case in left:\n    say("build", case)\n    os.abort()'))
    assert list(interpreter.lost()) == ["first", "second", "third"]
    assert len(interpreter.plans()) == len(CASES) + 1


@pytest.mark.parametrize(
    ("act", "told"),
    [
        ("import nonsense", "exit code 1; it last said: ModuleNotFoundError: No module named"),
        ("os.abort()", "killed its process with SIGABRT"),
        ("time.sleep(3600)", "hung: no progress for 1 s while in import"),
        ("say('write')\nos._exit(5)", "exit code 5"),
    ],
)
def test_a_failure_without_a_case_ends_the_round(
    interpreter: Interpreter, act: str, told: str
) -> None:
    """Before the first case, or after the last, nobody is to blame: one clear error, one try."""
    with pytest.raises(UserError, match=f"v1 cannot be measured: .*{told}") as caught:
        measure(interpreter(act), Limits(build_s=1.0))
    assert "\n" not in str(caught.value)
    assert len(interpreter.plans()) == 1


def test_the_wrong_stack_ends_the_round(interpreter: Interpreter) -> None:
    """What the process says about a wrong stack is the error, even while it was at a case."""
    body = 'say("build", left[0])\nsys.stderr.write("error: pins 1 has 2\\n")\nsys.exit(3)'
    with pytest.raises(UserError, match=r"^v1 cannot be measured: pins 1 has 2$"):
        measure(interpreter(body))
    assert len(interpreter.plans()) == 1


def test_a_crash_of_the_cross_check_loses_no_case(interpreter: Interpreter) -> None:
    """If the profiler kills the process after measuring, the round is made without it."""
    measure(interpreter('if plan.get("view", True):\n    say("view")\n    os.abort()'))
    assert [plan["view"] for plan in interpreter.plans()] == [True, False]
    assert interpreter.lost() == {}


def test_a_crash_after_writing_keeps_the_round(interpreter: Interpreter) -> None:
    """A round that is written counts, however its process ends."""
    assert measure(interpreter('say("done", file="/b/round")\nos.abort()')) == Path("/b/round")


def test_a_library_may_print_what_it_likes(interpreter: Interpreter) -> None:
    """Output beyond what a pipe holds, before and after, neither blocks nor hides the file."""
    body = 'print("x" * 300_000, flush=True)\nimport atexit\natexit.register(print, "bye")'
    assert measure(interpreter(body), Limits(build_s=5)) == Path("/a/round")


def test_progress_is_shown_in_order(interpreter: Interpreter) -> None:
    """The watcher sees every step, also one that arrives in pieces."""
    body = """
os.write(fd, b'{"stage": "bu')
time.sleep(0.05)
os.write(fd, b'ild", "done": 1, "total": 3}\\n{"stage": "measure"}\\n')
"""
    seen: list[Progress] = []
    measure(interpreter(body), watch=seen.append)
    assert [step.stage for step in seen] == ["import", "build", "measure", "done"]
    assert seen[1] == Progress("build", done=1, total=3)


def test_an_interrupt_leaves_no_orphan(interpreter: Interpreter, tmp_path: Path) -> None:
    """Ctrl-C ends the measuring process and what it started."""
    pids = tmp_path / "pids"
    body = f"""
child = subprocess.Popen(["sleep", "3600"])
open({str(pids)!r}, "w").write(f"{{os.getpid()}} {{child.pid}}")
say("build", left[0])
time.sleep(3600)
"""

    def interrupt(step: Progress) -> None:
        if step.stage == "build":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        measure(interpreter(body), watch=interrupt)
    assert not any(runs(int(pid)) for pid in pids.read_text().split())


def test_tries_are_bounded(interpreter: Interpreter) -> None:
    """A process that never gets past its view is given up, however few cases it has lost."""
    with pytest.raises(UserError, match="no round even with every case left out"):
        measure(interpreter('say("view")\nos.abort()'))
    assert len(interpreter.plans()) == len(CASES) + 2


def test_paths_are_not_inherited(
    interpreter: Interpreter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A PYTHONPATH cannot slip another package in; bytecode is kept in a folder of ours."""
    monkeypatch.setenv("PYTHONPATH", "/elsewhere")
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.setenv("KEPT", "yes")
    told = tmp_path / "environment"
    measure(interpreter(f'json.dump(dict(os.environ), open({str(told)!r}, "w"))'))
    environment = json.loads(told.read_text())
    assert not {"PYTHONPATH", "PYTHONDONTWRITEBYTECODE"} & set(environment)
    assert environment["PYTHONPYCACHEPREFIX"] == str(BYTECODE)
    assert environment["KEPT"] == "yes"


@pytest.mark.parametrize("name", ["a/b", "../up", ".hidden", "two words"])
def test_a_machine_name_is_one_folder(interpreter: Interpreter, name: str) -> None:
    """A name that would put rounds elsewhere is refused before anything runs."""
    options = Options("custom", "c1", machine=name)
    with pytest.raises(UserError, match="cannot name a machine"):
        measure_round(STACK, CASES, options, interpreter(""))
    assert not interpreter.plans_file.exists()


@given(
    tags=st.lists(st.text(min_size=1), min_size=1, max_size=5, unique=True),
    blocks=st.lists(st.integers(1, 9), max_size=7, unique=True),
    seed=st.integers(),
)
def test_rounds_are_interleaved_in_blocks(tags: list[str], blocks: list[int], seed: int) -> None:
    """Block after block is measured, and each holds every stack once."""
    order = interleave(tags, blocks, random.Random(seed))  # noqa: S311
    assert Counter(order) == dict.fromkeys(product(blocks, tags), 1)
    assert list(dict.fromkeys(block for block, _ in order)) == blocks
    assert [block for block, _ in order] == [b for b in blocks for _ in tags]


def test_blocks_differ_in_order() -> None:
    """The order within a block is drawn anew, so that no stack always comes first."""
    order = [tag for _, tag in interleave(["a", "b"], range(30), random.Random(1))]  # noqa: S311
    assert {tuple(order[i : i + 2]) for i in range(0, 60, 2)} == {("a", "b"), ("b", "a")}


def test_mixed_rounds_come_in_any_order() -> None:
    """Every arrangement of the stacks' labels is as likely, also those that no blocks give."""
    draws = random.Random(1)  # noqa: S311
    orders = (interleave(["a", "b"], (1, 2), draws, mixed=True) for _ in range(3000))
    seen = Counter("".join(tag for _, tag in order) for order in orders)
    assert set(seen) == {"aabb", "abab", "abba", "baab", "baba", "bbaa"}
    assert min(seen.values()) > 400


def test_campaigns_are_told_apart() -> None:
    """Two campaigns that begin in one second have different ids."""
    assert campaign_id() != campaign_id()
    assert os.sep not in campaign_id()
