"""Reading round files, good and bad."""

import gzip
import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

from regress.errors import UsageError
from regress.store.load import load_round, parse_round
from tests.regress.builders import CASE, OTHER, lost, make_round, measured, write_rounds
from workloads.record import SCHEMA, CaseRecord, Design, Status

GOOD = make_round("v1", 0, [measured(CASE, 100.0)])


def _raw(**changed: Any) -> bytes:
    return msgspec.json.encode({**msgspec.to_builtins(GOOD), **changed})


def test_reads_what_was_written(tmp_path: Path) -> None:
    """A round file gives back its round."""
    (path,) = write_rounds(tmp_path, [GOOD])
    assert load_round(path) == GOOD


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (lambda data: data[: len(data) // 2], "is truncated"),
        (lambda _: b"", "holds no JSON"),
        (lambda _: b"not gzip at all", "is no intact gzip file"),
        (lambda data: data[:40] + bytes([data[40] ^ 255]) + data[41:], "gzip|truncated|no JSON"),
        (lambda _: gzip.compress(b"no json"), "holds no JSON"),
        (lambda _: gzip.compress(b"\xff\xfe{}"), "holds no JSON"),
        (lambda _: gzip.compress(b"[1]"), "is no round file"),
        (lambda _: gzip.compress(b'{"schema":"x","id"'), "is no round file: Expected `int`"),
        (lambda _: gzip.compress(b'{"schema":"x","id":"\xff"}'), "is no round file"),
        (lambda _: gzip.compress(b"[" * 200_000), "is no round file|holds no JSON"),
        (lambda _: gzip.compress(b'{"a":' * 100_000), "is no round file|holds no JSON"),
        (lambda _: gzip.compress(_raw().replace(b"100.0", b"1e400", 1)), "out of range"),
    ],
)
def test_damage_is_named(tmp_path: Path, damage: Any, told: str) -> None:
    """Truncated, corrupt and foreign files are named with what to do."""
    (path,) = write_rounds(tmp_path, [GOOD])
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(UsageError, match=told) as error:
        load_round(path)
    assert path.name in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(("schema", "age"), [(SCHEMA + 1, "newer"), (SCHEMA - 1, "older")])
def test_other_schema_is_named(schema: int, age: str) -> None:
    """A round of another schema is refused by its version, whatever else differs in it."""
    with pytest.raises(UsageError, match=f"written by an? {age} suite"):
        parse_round(_raw(schema=schema, new_field=1), "f")
    with pytest.raises(UsageError, match=f"written by an? {age} suite"):
        parse_round(_raw(schema=schema), "f")


def test_unknown_field_is_named() -> None:
    """A field this schema does not know is an error, never skipped."""
    with pytest.raises(UsageError, match="unknown field `surprise`"):
        parse_round(_raw(surprise=1), "f")


def test_missing_file_is_named(tmp_path: Path) -> None:
    """A file that is not there is one clear line."""
    with pytest.raises(UsageError, match="cannot read"):
        load_round(tmp_path / "none.json.gz")


@pytest.mark.parametrize(
    ("records", "told"),
    [
        ([measured(CASE, 1.0), lost(CASE)], "more than once"),
        ([CaseRecord(CASE, Status.MEASURED)], "is measured with 0 pass times"),
        ([CaseRecord(CASE, Status.FAILED, kernel_us=(1.0,))], "is failed with 1 pass times"),
        (
            [measured(CASE, 1.0), CaseRecord(OTHER, Status.MEASURED, kernel_us=(1.0,))],
            "1 pass times, of 3",
        ),
        ([measured(CASE, 0.0)], "time outside of 1e-06 to 1e\\+09 us"),
        ([measured(CASE, 5e-324)], "time outside"),
        ([measured(CASE, 1.7e308)], "time outside"),
        ([measured(CASE, 1.0, plan_us=(-1.0,))], "time outside"),
        ([measured(CASE, 1.0, plan_us=(2e9,))], "time outside"),
        ([measured(CASE, 1.0, sm_mhz=(-1,))], "clock outside of 0 to 1000000 MHz"),
        ([measured(CASE, 1.0, sm_mhz=(10**400,))], "clock outside"),
        ([measured(CASE, 1.0, error=-1.0)], "error that is no number"),
    ],
)
def test_contradictions_are_errors(records: list[CaseRecord], told: str) -> None:
    """A round that contradicts itself is refused."""
    with pytest.raises(UsageError, match=told):
        parse_round(msgspec.json.encode(make_round("v1", 0, records)), "f")


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"id": " "}, "has no round id"),
        ({"tier": "hourly"}, "unknown tier 'hourly'"),
        ({"started_at": "yesterday"}, "no UTC time in ISO 8601"),
        ({"started_at": "2026-01-01T00:00:00"}, "no UTC time in ISO 8601"),
        ({"started_at": "2026-01-01T00:00:00+02:00"}, "no UTC time in ISO 8601"),
        ({"cases": []}, "holds no case"),
    ],
)
def test_a_round_says_what_it_is(changed: dict[str, Any], told: str) -> None:
    """Rounds without id, known tier, start in UTC or any case are refused by name."""
    with pytest.raises(UsageError, match=told) as error:
        parse_round(_raw(**changed), "f")
    assert str(error.value).startswith("f ")


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"stacks": ("v2",)}, "is of v1, and planned for v2"),
        ({"stacks": ()}, "is of v1, and planned for no stack"),
        ({"stacks": ("v1", "v1")}, "is of v1, and planned for v1 and v1"),
        ({"block": 0}, "is block 0 of 4"),
        ({"block": 5}, "is block 5 of 4"),
        ({"blocks": 0}, "is block 1 of 0"),
        ({"blocks": 10**9}, "is block 1 of 1000000000"),
    ],
)
def test_a_place_in_a_run_that_cannot_be_is_refused(changed: dict[str, Any], told: str) -> None:
    """What is missing of a run is told by its rounds' places, so that these must make sense."""
    design = msgspec.structs.replace(Design("r", "rounds", ("v1", "v2"), 1, 4), **changed)
    with pytest.raises(UsageError, match=f"^f {told}"):
        parse_round(_raw(design=msgspec.to_builtins(design)), "f")


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    """What is no regular file is never opened."""
    pipe = tmp_path / "x.json.gz"
    os.mkfifo(pipe)
    with pytest.raises(UsageError, match="is no regular file"):
        load_round(pipe)


@pytest.mark.parametrize(("planned", "fits"), [(1, True), (0, True), (2, False)])
def test_a_round_holds_as_many_cases_as_were_planned(
    tmp_path: Path, planned: int, *, fits: bool
) -> None:
    """A case that was cut out of every round would otherwise be missed by nobody."""
    design = Design("run", "screen-1", ("v1", "v2"), 1, 4, planned)
    (path,) = write_rounds(tmp_path, [make_round("v1", 1, [measured(CASE, 1.0)], design=design)])
    if fits:
        assert load_round(path).design == design
        return
    with pytest.raises(UsageError, match="holds 1 cases and 2 were planned"):
        load_round(path)
