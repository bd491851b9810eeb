"""Progress lines, from one process to another."""

import os
import subprocess

from hypothesis import given
from hypothesis import strategies as st

from benchmarks.progress import Progress, Reporter, parse_progress
from workloads.record import Case

STEPS = st.builds(
    Progress,
    st.text(),
    st.none() | st.builds(Case, st.text(), st.text()),
    st.integers(0, 10**6),
    st.integers(0, 10**6),
    st.text(),
)


@given(STEPS)
def test_a_step_survives_its_line(step: Progress) -> None:
    """What is said is what is read, and it is one line whatever is in it."""
    read_fd, write_fd = os.pipe()
    try:
        Reporter(write_fd).say(step)
        line = os.read(read_fd, 1 << 16)
    finally:
        os.close(read_fd)
        os.close(write_fd)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert parse_progress(line[:-1]) == step


def test_without_a_pipe_nothing_is_said() -> None:
    """A round may be run by hand."""
    Reporter(None).say(Progress("import"))


def test_what_a_library_starts_does_not_hold_the_pipe() -> None:
    """The pipe ends with the measuring process, even if a process of a library goes on."""
    read_fd, write_fd = os.pipe()
    os.set_inheritable(write_fd, True)  # noqa: FBT003 - it takes no keyword
    Reporter(write_fd)
    with subprocess.Popen(["sleep", "60"], close_fds=False) as started:
        os.close(write_fd)
        try:
            assert os.read(read_fd, 1) == b""
        finally:
            started.kill()
            os.close(read_fd)
