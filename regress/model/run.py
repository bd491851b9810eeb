"""What a run of `ab` did: its stages, and the time it took."""

import msgspec

__all__ = ["RunTold", "StageTold"]


class StageTold(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What became of the cells in one stage.

    Attributes
    ----------
    name
        `screen-1` and so on, then `confirm`.
    rounds
        Whole blocks, which is rounds a side.
    cells
        Cells that were measured.
    equal
        Shown SAME.
    suspect
        Sent to the confirmation; in the confirmation those not shown SAME.
    open
        Measured again in the next stage; after the last look they are suspects, too.
    without_time
        Cells that no stratum has times of on both sides.
    seconds
        GPU seconds, the sum over all rounds from import to end.
    """

    name: str
    rounds: int
    cells: int
    equal: int
    suspect: int
    open: int
    without_time: int
    seconds: float


class RunTold(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A run of `ab`.

    Attributes
    ----------
    id
        Judges it again with `--run`.
    campaigns
        Stretches of measuring; more than one if it was broken off.
    stages
        In order.
    seconds
        GPU seconds of all rounds.
    elapsed_s
        From the start of the first round to the end of the last, in seconds.
    leftovers
        Ids of rounds that count for no block, because theirs was broken off.
    family_alpha, spread_alpha
        Probability of any false REGRESSION, and of any false VARIANCE, in the whole run.
    """

    id: str
    campaigns: tuple[str, ...]
    stages: tuple[StageTold, ...]
    seconds: float
    elapsed_s: float
    leftovers: tuple[str, ...]
    family_alpha: float
    spread_alpha: float
