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
    THRESHOLD_EARLIER = "threshold-earlier"
    THRESHOLD_LATER = "threshold-later"
    THRESHOLD_KEPT = "threshold-kept"
    THRESHOLD_OUTSIDE = "threshold-outside"
    THRESHOLD_UNCLEAR = "threshold-unclear"
    RAMP_EARLIER = "ramp-earlier"
    RAMP_LATER = "ramp-later"
    CLIFF_HIGHER = "cliff-higher"
    CLIFF_LOWER = "cliff-lower"
    CLIFF_KEPT = "cliff-kept"
    CLIFF_UNCLEAR = "cliff-unclear"
    PLAN_AS_TIMED = "plan-as-timed"
    PLAN_UNLIKE_TIMES = "plan-unlike-times"
    PLAN_AS_PREDICTED = "plan-as-predicted"
    PLAN_UNLIKE_MODEL = "plan-unlike-model"
    AXIS_MISSING = "axis-missing"
    AXIS_APPEARED = "axis-appeared"
    AXIS_GONE = "axis-gone"


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
_FINER: Final = "Find the exact batch size with `regress thresholds STACK --bisect`."

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
    ReasonCode.THRESHOLD_EARLIER: Explanation(
        Verdict.REGRESSION,
        "Head stops splitting the longest request at a smaller batch than base.",
        "Keep batches below head's threshold, or choose another backend; tell the library.",
    ),
    ReasonCode.THRESHOLD_LATER: Explanation(
        Verdict.IMPROVEMENT,
        "Head still splits the longest request at batches at which base does not.",
        "Nothing.",
    ),
    ReasonCode.THRESHOLD_KEPT: Explanation(
        Verdict.SAME, "Splitting ends at the very same batch size in both stacks.", "Nothing."
    ),
    ReasonCode.THRESHOLD_OUTSIDE: Explanation(
        Verdict.SAME,
        "In both stacks splitting ends nowhere among the batch sizes measured, or before them.",
        "Measure other batch sizes if you run them: a move out there would not be seen.",
    ),
    ReasonCode.THRESHOLD_UNCLEAR: Explanation(
        Verdict.UNDECIDED, "The batch sizes at hand leave room for a threshold that moved.", _FINER
    ),
    ReasonCode.RAMP_EARLIER: Explanation(
        Verdict.REGRESSION,
        "A skewed batch begins to cost more than a uniform one at a smaller batch than in base.",
        "Read chunk and splits of the plan at the batch sizes named.",
    ),
    ReasonCode.RAMP_LATER: Explanation(
        Verdict.IMPROVEMENT,
        "A skewed batch begins to cost more than a uniform one only at a larger batch.",
        "Nothing.",
    ),
    ReasonCode.CLIFF_HIGHER: Explanation(
        Verdict.REGRESSION,
        "After the threshold a skewed batch costs more, against a uniform one, than in base.",
        "Look with `regress check` which of the two times changed.",
    ),
    ReasonCode.CLIFF_LOWER: Explanation(
        Verdict.IMPROVEMENT,
        "After the threshold a skewed batch costs less, against a uniform one, than in base.",
        "Look with `regress check` which time changed: a slower uniform batch is no gain.",
    ),
    ReasonCode.CLIFF_KEPT: Explanation(
        Verdict.SAME, "The heights of both stacks are equal within the margin.", "Nothing."
    ),
    ReasonCode.CLIFF_UNCLEAR: Explanation(
        Verdict.UNDECIDED, "The heights are shown neither equal nor different.", _MORE
    ),
    ReasonCode.PLAN_AS_TIMED: Explanation(
        Verdict.SAME,
        "As far as the batch sizes tell, the times jump where the plan stops splitting.",
        "Nothing.",
    ),
    ReasonCode.PLAN_UNLIKE_TIMES: Explanation(
        Verdict.UNDECIDED,
        "The times jump at another batch size than the one at which the plan stops splitting.",
        "Doubt the facts first: a new release may lay out its plan in another way.",
    ),
    ReasonCode.PLAN_AS_PREDICTED: Explanation(
        Verdict.SAME,
        "As far as the batch sizes tell, the plan stops splitting where its model says.",
        "Nothing.",
    ),
    ReasonCode.PLAN_UNLIKE_MODEL: Explanation(
        Verdict.UNDECIDED,
        "The plan stops splitting at another batch size than the model of the planner says.",
        "Compare the planner's source with the rule that the model cites: it may have changed.",
    ),
    ReasonCode.AXIS_APPEARED: Explanation(
        Verdict.NEW, "Base tried the line and could not run it; head can.", "Nothing."
    ),
    ReasonCode.AXIS_GONE: Explanation(
        Verdict.GONE,
        "Base could run the line; head tried and cannot.",
        "`regress check` names the reason of each case.",
    ),
    ReasonCode.AXIS_MISSING: Explanation(
        Verdict.NO_DATA,
        "One stack's rounds give no threshold of the line, the other's do.",
        "Measure both stacks with the tier `sweep`, or with `regress thresholds STACK --bisect`.",
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
