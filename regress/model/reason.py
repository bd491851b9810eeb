"""Why a verdict was given: stable codes, what each one means and what to do about it."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import msgspec

from regress.model.verdict import Verdict

__all__ = ["REASONS", "Explanation", "Reason", "ReasonCode"]


class ReasonCode(StrEnum):
    """Stable across versions: scripts may match on it, so codes are added and never reused."""

    SLOWER = "slower"
    FASTER = "faster"
    EQUIVALENT = "equivalent"
    TOO_FEW_ROUNDS = "too-few-rounds"
    WIDE_INTERVAL = "wide-interval"
    INSIDE_NOISE = "inside-noise"
    NOT_CONFIRMED = "not-confirmed"
    NOISE_ALARM = "noise-alarm"
    MORE_SPREAD = "more-spread"
    ERROR_GREW = "error-grew"
    ERROR_MISSING = "error-missing"
    SKIPPED = "skipped"
    FAILED = "failed"
    QUARANTINED = "quarantined"
    FLAKY = "flaky"
    FLAKY_BOTH = "flaky-both"
    APPEARED = "appeared"
    ONE_SIDED = "planned-on-one-side"
    NEVER_PLANNED = "never-planned"
    MISSING = "missing-from-round"
    MISSING_ROUND = "missing-round"


@dataclass(frozen=True, slots=True)
class Explanation:
    """What a code means; the table in the documentation is made of these.

    Attributes
    ----------
    verdict
        The only verdict the code goes with.
    meaning, remedy
        One sentence each.
    """

    verdict: Verdict
    meaning: str
    remedy: str


_MORE: Final = "Measure more rounds of both stacks in one campaign."

REASONS: Final = {
    ReasonCode.SLOWER: Explanation(
        Verdict.REGRESSION,
        "The exact test shows head slower by more than the cell's margin.",
        "Read the evidence (resolved backend, chunk, kernels, clocks) and `regress/docs/triage/`.",
    ),
    ReasonCode.FASTER: Explanation(
        Verdict.IMPROVEMENT,
        "The exact test shows head faster by more than the cell's margin.",
        "Nothing; check that the error did not grow.",
    ),
    ReasonCode.EQUIVALENT: Explanation(
        Verdict.SAME, "The whole interval of the ratio lies inside the cell's floor.", "Nothing."
    ),
    ReasonCode.TOO_FEW_ROUNDS: Explanation(
        Verdict.UNDECIDED, "A side has fewer measured rounds than the rule needs.", _MORE
    ),
    ReasonCode.WIDE_INTERVAL: Explanation(
        Verdict.UNDECIDED, "The interval reaches out of the floor, yet no shift is shown.", _MORE
    ),
    ReasonCode.INSIDE_NOISE: Explanation(
        Verdict.UNDECIDED,
        "A shift above the smallest margin is shown, but not above this noisy cell's own.",
        "Look at the cell's rounds; measure on a quieter machine or more rounds.",
    ),
    ReasonCode.NOT_CONFIRMED: Explanation(
        Verdict.UNDECIDED,
        "The confirming rounds hint at a shift, but not enough for all suspects tested together.",
        "Run `ab` again for these cells alone (--cells): fewer suspects need less evidence.",
    ),
    ReasonCode.NOISE_ALARM: Explanation(
        Verdict.UNDECIDED,
        "Times differ, yet device code, plan, launch shape, backend and toolchain are identical.",
        "Suspect the measurement: measure again, on another card if there is one.",
    ),
    ReasonCode.MORE_SPREAD: Explanation(
        Verdict.VARIANCE,
        "The passes of a round differ more in head than in base: it is slow now and then.",
        "Look at the passes of head's rounds (`regress show --all`); tail latency will show it.",
    ),
    ReasonCode.ERROR_GREW: Explanation(
        Verdict.BROKEN,
        "The error against the reference is beyond tolerance and grew.",
        "Do not use the stack for this workload; report it to the library.",
    ),
    ReasonCode.ERROR_MISSING: Explanation(
        Verdict.UNDECIDED,
        "Base's error is known, head's is not: nobody checked the result.",
        "Measure head again with the reference.",
    ),
    ReasonCode.SKIPPED: Explanation(
        Verdict.GONE,
        "Base was measured; in head the adapter says that it is not supported.",
        "Check whether the library dropped it or the adapter must follow an API change.",
    ),
    ReasonCode.FAILED: Explanation(
        Verdict.GONE,
        "Base was measured; in head it raises or its output is not finite.",
        "Run the one case with head; the reason is in the round file.",
    ),
    ReasonCode.QUARANTINED: Explanation(
        Verdict.GONE,
        "Base was measured; in head it kills or hangs the process.",
        "Run the one case with head in a process of its own.",
    ),
    ReasonCode.FLAKY: Explanation(
        Verdict.GONE,
        "Base was measured in all of its rounds, head was lost in some.",
        "Treat as a defect of head: it fails now and then.",
    ),
    ReasonCode.FLAKY_BOTH: Explanation(
        Verdict.UNDECIDED,
        "Both sides lost the case in some rounds.",
        "Find out why it fails; a case that fails now and then cannot be judged.",
    ),
    ReasonCode.APPEARED: Explanation(
        Verdict.NEW, "Head was measured, base was tried and was not.", "Nothing."
    ),
    ReasonCode.ONE_SIDED: Explanation(
        Verdict.NO_DATA,
        "Only one stack's rounds planned the case.",
        "Measure the other stack with the same tier, or narrow with --cells.",
    ),
    ReasonCode.NEVER_PLANNED: Explanation(
        Verdict.NO_DATA,
        "The tier holds the case, but no round of either stack planned it.",
        "Measure both stacks with this tier, or check a smaller one.",
    ),
    ReasonCode.MISSING: Explanation(
        Verdict.NO_DATA,
        "Rounds that must hold the case by their tier, or like others of their campaign, lack it.",
        "Restore the files of the named rounds, or measure them again with today's catalog.",
    ),
    ReasonCode.MISSING_ROUND: Explanation(
        Verdict.NO_DATA,
        "A round that was planned has no file, or was broken off.",
        "Give the command that measured it again: it goes on with what is missing.",
    ),
}


class Reason(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Why: a stable code, and a sentence with this case's own figures.

    Attributes
    ----------
    code
        See `REASONS`.
    message
        For people; its wording may change.
    """

    code: ReasonCode
    message: str
