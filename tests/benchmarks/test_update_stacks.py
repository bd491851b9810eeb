"""New releases on the index become stacks, on made-up indexes and lists."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from benchmarks import cli, index, update_stacks
from benchmarks.errors import UserError
from benchmarks.index import Index
from benchmarks.stackfile import add_stack
from benchmarks.stacks import Stack, parse_stacks
from benchmarks.update_stacks import News, find_news
from tests.benchmarks.synthetic import stack
from tests.benchmarks.test_index import FA3, FLASHINFER, TVM, FakeClient, file

TVM_PIN = {"apache-tvm-ffi": "0.1.7"}
LATE = datetime(2027, 1, 1, tzinfo=UTC)
PREBUILT = "-cp39-abi3-manylinux_2_24_x86_64.whl"
LISTED = (
    stack("v0.6.0", day=8, pins={FLASHINFER: "0.6.0", "fa3-fwd": "0.0.3"}),
    stack("fa3-fwd-0.0.3", day=20, pins={"fa3-fwd": "0.0.3"}),
)


def news(*files: object, until: datetime = LATE, known: tuple[Stack, ...] = LISTED) -> News:
    client = FakeClient(FA3, *TVM, file(FLASHINFER, "0.6.0", 8), *files)  # type: ignore[arg-type]
    return find_news(Index(client, lambda _: "Requires-Dist: apache-tvm-ffi\n"), known, until)


def test_releases_since_the_first_stack_are_new() -> None:
    """Missing ones are found wherever they stand, and pinned as `stacks add` would."""
    found = news(file(FLASHINFER, "0.6.2", 23), file(FLASHINFER, "0.6.1", 14))
    assert [s.tag for s in found.stacks] == ["v0.6.1", "v0.6.2"]
    assert found.stacks[0].pins == {FLASHINFER: "0.6.1", "fa3-fwd": "0.0.3", **TVM_PIN}
    assert (found.waiting, found.by_hand, found.problems) == ((), (), ())


@pytest.mark.parametrize(
    "release",
    [
        file(FLASHINFER, "0.5.9", 7),
        file(FLASHINFER, "0.7.0rc1", 25),
        file(FLASHINFER, "0.6.1", 14, yanked=True),
        file("flash-attn", "2.9", 25),
    ],
    ids=["older than the list", "pre-release", "yanked", "a library without a stack"],
)
def test_what_was_left_out_on_purpose_stays_out(release: object) -> None:
    """Only stable releases after the first stack of their library count."""
    assert news(release) == News((), (), (), ())


def test_young_releases_wait() -> None:
    """A release that may still be withdrawn is told, and left for another day."""
    found = news(file(FLASHINFER, "0.6.1", 14), until=datetime(2026, 1, 14, tzinfo=UTC))
    assert (found.stacks, [r.version for r in found.waiting]) == ((), ["0.6.1"])


def test_prebuilt_gpu_code_is_left_to_a_person() -> None:
    """The index does not say for which CUDA it is."""
    found = news(file("fa3-fwd", "0.0.4", 25, PREBUILT))
    assert (found.stacks, [r.version for r in found.by_hand]) == ((), ["0.0.4"])


def test_one_release_that_cannot_be_had_does_not_hide_another() -> None:
    """Its reason is told, the others are found."""
    client = FakeClient(
        FA3, file(FLASHINFER, "0.6.1", 14), file(FLASHINFER, "0.6.2", 23), TVM[0], TVM[2]
    )
    needs = {"0.6.1": "apache-tvm-ffi>=9", "0.6.2": "apache-tvm-ffi"}

    def read(url: str) -> str:
        version = next(v for v in needs if f"-{v}-" in url)
        return f"Requires-Dist: {needs[version]}\n"

    found = find_news(Index(client, read), LISTED, LATE)
    assert [s.tag for s in found.stacks] == ["v0.6.2"]
    assert found.problems == (
        "no apache-tvm-ffi of its day satisfies flashinfer-python==0.6.1 (>=9)",
    )


@pytest.fixture
def listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a list of stacks, beside an index that has 0.6.1 more."""
    path = tmp_path / "stacks.toml"
    for one in LISTED:
        add_stack(path, one)
    client = FakeClient(FA3, *TVM, file(FLASHINFER, "0.6.0", 8), file(FLASHINFER, "0.6.1", 14))
    made = Index(client, lambda _: "Requires-Dist: apache-tvm-ffi\n")

    class Opened:
        def __enter__(self) -> Index:
            return made

        def __exit__(self, *_: object) -> None:
            pass

    monkeypatch.setattr(update_stacks, "STACKS", path)
    monkeypatch.setattr(index, "open_index", Opened)
    return path


def test_the_command_adds_and_says_what(listed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The list is longer by one, its releases keep their wheels, a second look finds nothing."""
    told = "v0.6.1  2026-01-14T03:04:05Z  flashinfer-python==0.6.1 fa3-fwd==0.0.3"
    assert cli.main(["stacks", "update"]) == 0
    assert capsys.readouterr().out == f"new: {told} apache-tvm-ffi==0.1.7\n"
    assert [s.tag for s in read(listed)] == ["v0.6.0", "v0.6.1", "fa3-fwd-0.0.3"]
    assert read(listed)[1].wheels["fa3-fwd"] == LISTED[0].wheels["fa3-fwd"]
    assert cli.main(["stacks", "update"]) == 0
    assert capsys.readouterr().out == "nothing new\n"


def read(path: Path) -> tuple[Stack, ...]:
    return parse_stacks(path.read_text(encoding="utf-8"), "list")


def test_a_dry_run_writes_nothing(listed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It says the same, and leaves the list as it was."""
    before = listed.read_bytes()
    assert cli.main(["stacks", "update", "--dry-run"]) == 0
    assert capsys.readouterr().out.startswith("new: v0.6.1 ")
    assert listed.read_bytes() == before


def test_what_another_list_has_more_keeps_its_wheels(
    listed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A stack that was measured stays what it was, whatever the index says of it later."""
    kept = tmp_path / "kept.toml"
    add_stack(kept, stack("v0.6.1", day=14))
    assert cli.main(["stacks", "update", "--known", str(kept)]) == 0
    assert capsys.readouterr().out.startswith("taken over: v0.6.1 ")
    assert read(listed)[1].digest == stack("v0.6.1", day=14).digest


def test_another_list_that_is_no_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A list that was damaged on its way is one line, and no fault of the program."""
    kept = tmp_path / "kept.toml"
    kept.write_bytes(b"\xff\xfe")
    assert cli.main(["stacks", "update", "--known", str(kept)]) == 2
    assert capsys.readouterr().err.startswith(f"error: {kept} is malformed: ")


def test_a_first_night_has_no_other_list(
    listed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A list that is not there yet holds nothing."""
    assert cli.main(["stacks", "update", "--known", str(tmp_path / "none.toml")]) == 0
    assert capsys.readouterr().out.startswith("new: v0.6.1 ")
    assert len(read(listed)) == 3


@pytest.mark.usefixtures("listed")
def test_a_problem_is_one_line_and_exit_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What could be found is added all the same."""

    def unreachable(_: Index, name: str) -> tuple[()]:
        msg = f"cannot look up {name} on the package index: no route"
        raise UserError(msg)

    monkeypatch.setattr(Index, "load_releases", unreachable)
    assert cli.main(["stacks", "update"]) == 2
    out, err = capsys.readouterr()
    assert out == "nothing new\n"
    assert err.startswith("error: cannot look up flashinfer-python on the package index: no route")
    assert err.count("\n") == 1


def test_a_wrong_age_is_usage(capsys: pytest.CaptureFixture[str]) -> None:
    """An age is whole hours."""
    with pytest.raises(SystemExit) as caught:
        cli.main(["stacks", "update", "--min-age-h", "soon"])
    assert caught.value.code == 2
    assert "'soon' is no number of hours" in capsys.readouterr().err
