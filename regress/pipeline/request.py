"""What the user asked for, and the cases that it means."""

import re
import shlex
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from regress.errors import UsageError
from regress.model.waiver import Waivers
from regress.store.tree import LOCAL, RECORDED
from workloads import catalog
from workloads.record import Case, Round

__all__ = ["ANY_TIER", "AUTO_TIER", "BY_DEFAULT", "TIERS", "Request"]

ANY_TIER: Final = "any"
AUTO_TIER: Final = "auto"
TIERS: Final = (AUTO_TIER, *catalog.TIERS, ANY_TIER)
BY_DEFAULT: Final = ("gate", "nightly")
"""The tiers that `auto` chooses from."""
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
        One of `TIERS`; `any` is whatever the rounds hold, `auto` lets `settle` choose.
    pattern
        Regular expression searched for in `workload@backend`, or None for all.
    families
        Families of the catalog to keep to, or none for all.
    command
        Reproduces the request.
    waivers
        What is accepted, and the day; None if nothing is.
    """

    roots: tuple[Path, ...]
    machine: str | None
    tier: str
    pattern: str | None
    command: str
    waivers: Waivers | None = None
    families: tuple[str, ...] = ()

    @property
    def options(self) -> str:
        """Options with which another command reads the same rounds and cases of the same tier."""
        words = ["--recorded"] if RECORDED in self.roots else []
        for root in self.roots:
            if root not in {LOCAL, RECORDED} or (root == LOCAL and len(self.roots) > 1):
                words += ["--rounds", str(root)]
        words += ["--machine", self.machine] if self.machine else []
        words += ["--tier", self.tier] if self.tier != AUTO_TIER else []
        return shlex.join(words)

    def settle(self, *sides: Iterable[Round]) -> "Request":
        """Return the request with a tier: the largest up to nightly that every side measured.

        Sweeps are for curves and have few rounds, so they are only judged when asked for. Rounds
        of hand-picked cases alone are judged by what they hold.
        """
        if self.tier != AUTO_TIER:
            return self
        measured = [{r.tier for r in side} for side in sides]
        for tier in reversed(BY_DEFAULT):
            enough = set(catalog.TIERS[catalog.TIERS.index(tier) :])
            if all(tiers & enough for tiers in measured):
                return replace(self, tier=tier)
        hand_picked = all(not tiers & set(catalog.TIERS) for tiers in measured)
        return replace(self, tier=ANY_TIER if hand_picked else BY_DEFAULT[-1])

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
        named = {case: families.get(case, _UNCATALOGUED) for case in wanted if fits(str(case))}
        found = {c: f for c, f in named.items() if not self.families or f in self.families}
        if not found:
            among = f" of family {' or '.join(self.families)}" if self.families else ""
            msg = f"no case of tier {self.tier}{among} fits --cells {self.pattern!r}"
            raise UsageError(msg)
        return found

    def _matcher(self) -> Callable[[str], object]:
        try:
            return re.compile(self.pattern or "").search
        except (re.error, OverflowError, RecursionError) as error:
            msg = f"--cells {self.pattern!r} is no regular expression: {error}"
            raise UsageError(msg) from error
