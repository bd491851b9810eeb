"""Exit codes."""

from itertools import permutations

from regress.errors import ExitCode, worst


def test_precedence_of_exit_codes() -> None:
    """2 beats 1 beats 4 beats 3 beats 0, in whatever order they come."""
    order = [2, 1, 4, 3, 0]
    for start in range(len(order)):
        for codes in permutations(order[start:]):
            assert worst(ExitCode(code) for code in codes) == order[start]


def test_nothing_to_report_passes() -> None:
    """Without any code the exit code is 0."""
    assert worst([]) is ExitCode.PASS
