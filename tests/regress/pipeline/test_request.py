"""Which tier is judged when the user names none."""

from pathlib import Path

import pytest

from regress.errors import UsageError
from regress.pipeline.request import ANY_TIER, AUTO_TIER, Request
from regress.store.tree import LOCAL, RECORDED
from tests.regress.builders import make_round
from workloads.record import Round


def measured(*tiers: str) -> list[Round]:
    return [make_round("v1", n, (), tier=tier) for n, tier in enumerate(tiers)]


@pytest.mark.parametrize(
    ("base", "head", "chosen"),
    [
        (("nightly", "gate"), ("nightly",), "nightly"),
        (("gate",), ("nightly",), "gate"),
        (("sweep",), ("nightly",), "nightly"),
        (("sweep",), ("sweep",), "nightly"),
        (("custom",), ("custom",), ANY_TIER),
        (("custom",), ("gate",), "nightly"),
    ],
)
def test_the_largest_tier_that_both_measured(
    base: tuple[str, ...], head: tuple[str, ...], chosen: str
) -> None:
    """Up to nightly; hand-picked rounds are judged by what they hold, and never for a tier."""
    request = Request((), None, AUTO_TIER, None, "")
    assert request.settle(measured(*base), measured(*head)).tier == chosen


def test_a_named_tier_stands() -> None:
    """What the user asks for is not second-guessed."""
    request = Request((), None, "sweep", None, "")
    assert request.settle(measured("gate"), measured("gate")).tier == "sweep"


@pytest.mark.parametrize(
    ("roots", "machine", "tier", "options"),
    [
        ((LOCAL,), None, AUTO_TIER, ""),
        ((RECORDED,), None, AUTO_TIER, "--recorded"),
        (
            (Path("a b"), RECORDED),
            "h200",
            "gate",
            "--recorded --rounds 'a b' --machine h200 --tier gate",
        ),
        ((LOCAL, RECORDED), None, AUTO_TIER, f"--recorded --rounds {LOCAL}"),
    ],
)
def test_options_that_read_the_same_rounds(
    roots: tuple[Path, ...], machine: str | None, tier: str, options: str
) -> None:
    """Another command finds the rounds with them; what is the default is not said."""
    assert Request(roots, machine, tier, None, "").options == options


def test_a_family_keeps_its_cases_only() -> None:
    """A family narrows a tier as --cells does, and both together narrow further."""
    fp8 = Request((), None, "nightly", None, "", families=("fp8-kv",))
    assert set(fp8.cases(()).values()) == {"fp8-kv"}
    some = Request((), None, "nightly", "tc-fa2$", "", families=("fp8-kv", "tp-shards")).cases(())
    assert set(some.values()) == {"fp8-kv", "tp-shards"}
    assert all(case.backend.endswith("tc-fa2") for case in some)
    with pytest.raises(UsageError, match="of family cpu fits"):
        Request((), None, "gate", "no such cell", "", families=("cpu",)).cases(())
