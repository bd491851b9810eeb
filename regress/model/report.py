"""The result of `check`, as it is written in JSON and shown as text."""

from typing import Final

import msgspec

from regress.errors import ExitCode
from regress.model.finding import Finding, RoundIds
from regress.model.rates import ErrorRate
from regress.model.run import RunTold
from regress.model.verdict import Verdict, exit_code_of
from regress.model.waiver import WaiverUse
from workloads.record import Case

__all__ = ["CHECK_SCHEMA", "Blind", "CellVerdict", "CheckReport", "Pinned", "Unmeasured"]

CHECK_SCHEMA: Final = 2


class CellVerdict(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The join of all findings about a case that count; a waived one adds WAIVED."""

    case: Case
    family: str
    verdict: Verdict


class Unmeasured(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A case that both stacks planned and neither could measure, with each one's reason."""

    case: Case
    base: str
    head: str


class Blind(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How many kernel-time cells cannot see a change as small as `above`, relative."""

    above: float
    cells: int


class Pinned(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where a stack is written down: a file of this repository, and a line from 1."""

    file: str
    line: int


class CheckReport(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What changed from one stack to another.

    Attributes
    ----------
    schema
        Counts incompatible changes of this layout.
    command
        Reproduces the report.
    base, head
        Stack tags.
    setup
        What both sides share: GPU, driver branch, toolchain, protocol.
    tier, pattern, families
        What was asked for; `pattern` is null without --cells, `families` empty without --family.
    verdict, exit_code
        The join over all cells, and what the shell sees.
    cells
        One verdict a case.
    findings
        Everything the detectors said, worst first.
    unmeasured
        Cases without data on both sides: no finding, but not forgotten.
    rounds
        Ids of all rounds that were looked at.
    warnings
        What was left aside or is doubtful, one line each.
    waiver_file, waivers
        The waivers that were asked, each with what became of it; null and empty without any.
    pinned
        Where the list of stacks has head; null for an ad-hoc stack.
    variance_fails
        Whether VARIANCE was configured to fail.
    run
        What `ab` did to decide; null if rounds were only read.
    error_rate
        How often such a report is wrong, from the latest calibration of this GPU model and
        protocol; null without one.
    """

    schema: int
    command: str
    base: str
    head: str
    machine: str
    setup: dict[str, str | int | float]
    tier: str
    pattern: str | None
    verdict: Verdict
    exit_code: ExitCode
    cells: tuple[CellVerdict, ...]
    findings: tuple[Finding, ...]
    unmeasured: tuple[Unmeasured, ...]
    blind: tuple[Blind, ...]
    rounds: RoundIds
    warnings: tuple[str, ...]
    waiver_file: str | None = None
    waivers: tuple[WaiverUse, ...] = ()
    pinned: Pinned | None = None
    variance_fails: bool = False
    run: RunTold | None = None
    error_rate: ErrorRate | None = None
    families: tuple[str, ...] = ()

    def code_of(self, verdict: Verdict) -> ExitCode:
        """Return the exit code that a cell of this verdict asks for."""
        return exit_code_of(verdict, variance_fails=self.variance_fails)
