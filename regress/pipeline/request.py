"""What the user asked for, and the cases that it means."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from regress.errors import UsageError
from workloads import catalog
from workloads.record import Case

__all__ = ["ANY_TIER", "TIERS", "Request"]

ANY_TIER: Final = "any"
TIERS: Final = (*catalog.TIERS, ANY_TIER)
_UNCATALOGUED: Final = "uncatalogued"


@dataclass(frozen=True, slots=True)
class Request:
    """Which rounds and which cases.

    Attributes
    ----------
    roots
        Folders of round files.
    machine
        Name of the machine, or None if there is only one.
    tier
        One of `TIERS`; `any` is whatever the rounds hold.
    pattern
        Regular expression searched for in `workload@backend`, or None for all.
    command
        Reproduces the request.
    """

    roots: tuple[Path, ...]
    machine: str | None
    tier: str
    pattern: str | None
    command: str

    def cases(self, planned: Iterable[Case]) -> dict[Case, str]:
        """Return the wanted cases with their families; `planned` are those the rounds hold.

        Raises
        ------
        UsageError
            If the pattern is no regular expression or fits no case.
        """
        entries = catalog.cases()
        families = {entry.case: entry.family for entry in entries}
        if self.tier == ANY_TIER:
            wanted = dict.fromkeys(planned)
        else:
            wanted = dict.fromkeys(entry.case for entry in catalog.cases(self.tier))
        fits = self._matcher()
        found = {case: families.get(case, _UNCATALOGUED) for case in wanted if fits(str(case))}
        if not found:
            msg = f"no case of tier {self.tier} fits --cells {self.pattern!r}"
            raise UsageError(msg)
        return found

    def _matcher(self) -> Callable[[str], object]:
        try:
            return re.compile(self.pattern or "").search
        except re.error as error:
            msg = f"--cells {self.pattern!r} is no regular expression: {error}"
            raise UsageError(msg) from error
