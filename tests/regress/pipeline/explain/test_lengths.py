"""KV lengths from files."""

from pathlib import Path

import pytest

from regress.errors import UsageError
from regress.pipeline.explain.lengths import Step, load_lengths, load_trace


def written(folder: Path, text: str) -> Path:
    path = folder / "lengths"
    path.write_text(text)
    return path


@pytest.mark.parametrize("text", ["[3, 5]", "3\n5\n", "3,5", "3 ; 5", "\ufeff3\r\n5"])
def test_layouts_of_one_batch(tmp_path: Path, text: str) -> None:
    """A JSON list, lines and commas mean the same."""
    assert load_lengths(written(tmp_path, text)) == (3, 5)


def test_a_trace_has_a_batch_a_line(tmp_path: Path) -> None:
    """JSON lines and CSV lines may be mixed, empty lines are no steps but are counted."""
    steps = load_trace(written(tmp_path, "[3, 5]\n\n7,8,9\n"))
    assert steps == (Step(1, (3, 5)), Step(3, (7, 8, 9)))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "holds no KV length"),
        ("[]", "holds no KV length"),
        ("3\n-1", "has a KV length of -1: every request has at least 1 token"),
        ("3\n0", "has a KV length of 0"),
        ("3\n2.5", "has '2.5', which is no whole number"),
        ("3\nmany", "has 'many', which is no whole number"),
        ("--3", "has '--3', which is no whole number"),
        ("9" * 5000, "which is no whole number"),
        ("[3, 2.5]", "is no JSON list of whole numbers"),
        ("[3,", "is no JSON list of whole numbers"),
        ("10000000", "has a KV length of 10,000,000, more than the 4,194,304 allowed"),
        ("1\n" * 20_000, "holds 20,000 requests, more than the 16,384 allowed"),
    ],
)
def test_a_wrong_length_is_one_clear_line(tmp_path: Path, text: str, message: str) -> None:
    """Whatever is wrong is said in one line that names the file."""
    path = written(tmp_path, text)
    with pytest.raises(UsageError) as caught:
        load_lengths(path)
    assert message in str(caught.value)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_a_wrong_step_names_its_line(tmp_path: Path) -> None:
    """The line of a trace that is wrong is told."""
    with pytest.raises(UsageError, match="line 2 has a KV length of 0"):
        load_trace(written(tmp_path, "[1]\n[1, 0]\n"))


def test_a_trace_without_steps_is_refused(tmp_path: Path) -> None:
    """An empty trace is no trace of zero steps."""
    with pytest.raises(UsageError, match="holds no step"):
        load_trace(written(tmp_path, "\n\n"))


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    """A missing file and one that is no text are named."""
    with pytest.raises(UsageError, match=r"cannot read .*nothing: No such file"):
        load_lengths(tmp_path / "nothing")
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match="it is no UTF-8 text"):
        load_lengths(tmp_path / "binary")
