"""The scripted backend: what tests of everything around measuring can make happen."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.backends.adapter import Prepared
from benchmarks.backends.scripted import prepare
from benchmarks.errors import UserError
from benchmarks.measure.timer import ScriptedTimer
from tests.benchmarks.fakes import DECODE, EVEN, inputs_of, libraries
from workloads.record import Facts


class Stage:
    """Writes scripts and prepares a workload by them."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.path, self.patch = folder / "script.json", patch

    def __call__(self, workload: str = DECODE, **behaviour: Any) -> Prepared:
        self.path.write_text(json.dumps({workload: {"us": 100.0, **behaviour}}))
        self.patch.setenv("ATTN_SCRIPT", str(self.path))
        return prepare("scripted", inputs_of(workload), libraries())


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    return Stage(tmp_path, monkeypatch)


def passes(prepared: Prepared, number: int) -> list[list[float]]:
    """Times of blocks of three samples, as the timer takes them."""
    timer = ScriptedTimer()
    launch, _ = timer.ready(prepared)
    return [timer.block(launch, 3) for _ in range(number)]


def test_what_the_library_decided_and_how_wrong_it_was_are_said(stage: Stage) -> None:
    """Facts, the hash of the device code among them, and the error come from the script."""
    facts = {"splits_kv": False, "resolved_backend": "fa3", "cubin": "0123456789ab"}
    prepared = stage(facts=facts, error=0.25)
    assert prepared.facts() == Facts(**facts)
    assert prepared.script is not None
    assert prepared.script.error == 0.25


def test_a_share_of_the_passes_is_slow(stage: Stage) -> None:
    """A slow pass is slow as a whole, and about the asked share of the passes is."""
    found = passes(stage(slow_passes=0.5, slow_factor=1.1), 400)
    assert all(len({round(us) for us in block}) == 1 for block in found)
    slow = sum(block[0] > 105 for block in found)
    assert {round(block[0]) for block in found} == {100, 110}
    assert 120 < slow < 280


def test_processes_differ_by_one_factor(stage: Stage) -> None:
    """Within a process times are equal, between processes they spread as asked."""
    times = [us for _ in range(300) for (us,) in [{*passes(stage(process_spread=0.02), 1)[0]}]]
    mean = sum(times) / len(times)
    spread = (sum((us - mean) ** 2 for us in times) / len(times)) ** 0.5
    assert 98 < mean < 102
    assert 1.5 < spread < 2.5


def test_each_stack_has_a_script_of_its_own(tmp_path: Path, stage: Stage) -> None:
    """From a folder the script named after the stack is read."""
    for tag, us in (("base", 100.0), ("head", 50.0)):
        (tmp_path / f"{tag}.json").write_text(json.dumps({"*": {"us": us}}))
    stage.patch.setenv("ATTN_SCRIPT", str(tmp_path))
    found = [prepare("scripted", inputs_of(EVEN), libraries(stack=t)) for t in ("base", "head")]
    assert [passes(prepared, 1) for prepared in found] == [[[100.0] * 3], [[50.0] * 3]]


def test_a_word_that_means_nothing_is_refused(stage: Stage) -> None:
    """A misspelt behaviour would make a test pass that tests nothing."""
    with pytest.raises(UserError, match="slow_pases"):
        stage(slow_pases=0.5)
