"""Which rounds may be compared."""

from typing import Any

import msgspec
import pytest

from regress.errors import UsageError
from regress.store.setup import comparable, setup
from tests.regress.builders import CASE, MACHINE, PROTOCOL, make_round, measured
from workloads.record import Machine, Protocol, Round


def _round(tag: str, number: int = 0, **fields: Any) -> Round:
    return make_round(tag, number, [measured(CASE, 1.0)], **fields)


def _machine(**changed: Any) -> Machine:
    return msgspec.structs.replace(MACHINE, **changed)


def _protocol(**changed: Any) -> Protocol:
    return msgspec.structs.replace(PROTOCOL, **changed)


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"machine": _machine(gpu="Other")}, r"gpu \(Synthetic GPU against Other\)"),
        ({"machine": _machine(sm_count=78)}, r"SMs \(132 against 78\)"),
        ({"machine": _machine(driver="570.1")}, r"driver branch \(580 against 570\)"),
        ({"machine": _machine(cuda="12.9")}, r"cuda \(13\.0 against 12\.9\)"),
        ({"machine": _machine(nvcc="")}, r"nvcc \(13\.0 against none\)"),
        ({"machine": _machine(torch="2.10")}, r"torch \(2\.11\.0 against 2\.10\)"),
        ({"protocol": _protocol(timer="perf-counter")}, "timer"),
        ({"protocol": _protocol(version=2)}, r"protocol version \(1 against 2\)"),
        ({"protocol": _protocol(passes=4)}, r"protocol passes \(3 against 4\)"),
        ({"protocol": _protocol(rest_ms=0.0)}, "protocol rest_ms"),
    ],
)
def test_unlike_sides_are_refused(fields: dict[str, Any], told: str) -> None:
    """What differs is named with both values, and only that."""
    with pytest.raises(UsageError, match=told) as error:
        comparable([_round("v1")], [_round("v2", **fields)])
    assert str(error.value).count(" against ") == 1


def test_patches_of_a_driver_branch_and_cards_are_alike() -> None:
    """Another patch of the driver or another card of the model is comparable."""
    other = _machine(driver="580.99", gpu_uuid="GPU-1", python="3.12")
    assert comparable([_round("v1")], [_round("v2", machine=other)]) == setup(_round("v1"))


def test_the_setup_with_most_rounds_of_both_is_taken() -> None:
    """With several shared set-ups the weaker side decides, then the later one."""
    new = _machine(driver="590.1")
    base = [_round("v1", 0), _round("v1", 1), _round("v1", 2, machine=new)]
    head = [_round("v2", 0), _round("v2", 1), _round("v2", 2, machine=new)]
    assert comparable(base, head) == setup(base[0])
    assert comparable(base[1:], head[1:]) == setup(base[2])
