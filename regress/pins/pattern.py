"""Pins that a repository writes in its own way: a regular expression for each library."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Self

from regress.errors import UsageError
from regress.pins.pin import LIBRARIES, Pin, exact, library_of

__all__ = ["Pattern", "parse_by_patterns"]

_LONGEST_LINE: Final = 1_000


@dataclass(frozen=True, slots=True)
class Pattern:
    """Where a line names the version of a library: the expression's only or `version` group."""

    library: str
    expression: re.Pattern[str]

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the pattern of `LIBRARY=REGEX`.

        Raises
        ------
        UsageError
            If the library is not measured, or the rest is no expression with one group.
        """
        name, _, expression = text.partition("=")
        library = library_of(name)
        if library is None or not expression:
            msg = f"--pattern {text}: give LIBRARY=REGEX with a library of {', '.join(LIBRARIES)}"
            raise UsageError(msg)
        try:
            compiled = re.compile(expression)
        except re.error as error:
            msg = f"--pattern {text}: {error}"
            raise UsageError(msg) from error
        if compiled.groups != 1:
            msg = f"--pattern {text}: put the version, and nothing else, into a group: (…)"
            raise UsageError(msg)
        return cls(library, compiled)


def parse_by_patterns(text: str, file: str, patterns: Sequence[Pattern]) -> Iterator[Pin]:
    """Yield what patterns find, line by line; very long lines are no lines of pins."""
    for line in text.split("\n") if patterns else ():
        if len(line) <= _LONGEST_LINE:
            for pattern in patterns:
                for found in pattern.expression.finditer(line):
                    yield exact(pattern.library, file, found[1] or "", found[0])
