"""Claims of two articles as named checks, judged by the recorded rounds."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from regress.config import Config
from regress.detect.shape import detect_shapes
from regress.detect.threshold import numbers_of
from regress.model.claims import ClaimResult, Outcome
from regress.pipeline.claims import gqa, imbalance
from regress.pipeline.claims.evidence import Evidence, LackingError
from regress.pipeline.thresholds.curves import curves_of
from regress.pipeline.thresholds.lines import lines_of, sort_rounds
from regress.store.setup import comparable, setup
from workloads.record import Round

__all__ = ["CLAIMED_OF", "CLAIMS", "Claim", "evidence_of", "judge_claims"]

CLAIMED_OF: Final = "v0.6.1"
"""The release that article A measured."""

Check = Callable[[Evidence], tuple[Outcome, str]]


@dataclass(frozen=True, slots=True)
class Claim:
    """One statement of an article.

    Attributes
    ----------
    code
        Article and number.
    statement
        What it says, in our words.
    check
        Judges it, or the reason why nothing here can.
    """

    code: str
    statement: str
    check: Check | str


CLAIMS: Final = (
    Claim(
        "A1",
        "Balanced batches: kernel time is about proportional to all KV tokens, at every batch size",
        imbalance.balanced_is_linear,
    ),
    Claim(
        "A2",
        "FlashInfer: above a threshold of the batch size a skewed batch costs far more than a "
        "uniform one and takes the time of its longest request; below they cost about the same",
        imbalance.threshold_exists,
    ),
    Claim(
        "A3",
        "The threshold on CUDA cores is higher than on tensor cores",
        imbalance.cuda_cores_hold_longer,
    ),
    Claim(
        "A4",
        "CUDA cores stop splitting at B x H_kv >= SMs x CTAs on an SM, tensor cores at "
        "B >= about 2 x SMs / H_kv",
        imbalance.thresholds_follow_formulas,
    ),
    Claim(
        "A5",
        "The heuristic counts tasks and does not look at their balance; the grid is (items, H_kv) "
        "on CUDA cores and (items, 1, H_kv) on tensor cores",
        imbalance.grids_are_flat,
    ),
    Claim(
        "A6",
        "FA3 with one split takes the time of the longest request at every batch size; with "
        "automatic splits it stays stable under skew",
        imbalance.fa3_follows_its_splits,
    ),
    Claim(
        "A7",
        "FA3 with automatic splits: time of uniform batches can fluctuate (wave quantisation)",
        imbalance.fa3_ripples,
    ),
    Claim(
        "A8",
        "FA3 splits a request into its blocks over blocks_per_sm = "
        "ceil(all blocks x 1.1 x H / SMs), within 1 and a static cap",
        imbalance.fa3_block_rule,
    ),
    Claim(
        "A9",
        "FA3 splits requests one by one up to 31 x 32 = 992 of them; beyond, each has one split",
        imbalance.fa3_stops_at_992,
    ),
    Claim(
        "A10",
        "With tensor cores a profile of decode shows BatchPrefillWithPagedKVCacheKernel",
        imbalance.prefill_kernel_decodes,
    ),
    Claim(
        "A11",
        "SGLang takes tensor cores for FP8 KV and for BF16 KV with a group of at least 4, else "
        "CUDA cores",
        "a rule in an engine's source; what following it costs is a policy of `regress backends`",
    ),
    Claim(
        "A12",
        "PackGQA shares reads of K and V within a group, which stays below the tile's rows",
        imbalance.packing_shares_reads,
    ),
    Claim(
        "A13",
        "Splitting costs a merge step; tensor parallelism leaves fewer KV heads, so thresholds "
        "move up",
        imbalance.splitting_costs_a_merge,
    ),
    Claim(
        "A14",
        "FlashInfer 0.6.1 on Hopper, BF16: the FA3 backend is slower than FA2",
        imbalance.fa3_is_slower_in_flashinfer,
    ),
    Claim(
        "B1",
        "Throughput under GQA rises, peaks at batch 64 to 128 and falls",
        gqa.throughput_peaks,
    ),
    Claim(
        "B2",
        "32/8 heads, 2K: 12,800 tokens/s at batch 16 (packed, 1 split), 28,400 at 64 (packed, 1), "
        "31,200 at 128 (not packed, 2), 26,800 at 256 (not packed, 4)",
        gqa.table_of_settings,
    ),
    Claim(
        "B3",
        "Up to batch 32 take pack_gqa=True and num_splits=1, from 128 pack_gqa=False and "
        "num_splits=4, else automatic",
        gqa.advice_on_splits,
    ),
    Claim(
        "B4",
        "PackGQA is a little slower in the steady state and helps where queries are short",
        gqa.packing_helps_short_queries,
    ),
    Claim(
        "B5",
        "Small batches leave SMs idle, large ones saturate the bandwidth",
        gqa.bandwidth_saturates,
    ),
    Claim(
        "B6",
        "GQA with 32/8 heads needs 75 % less KV memory and has 1.5 to 2 times MHA's throughput",
        gqa.gqa_saves_memory_and_time,
    ),
    Claim(
        "B7",
        "Long sequences (8K) go with batch 32, short ones (512) with batch 128",
        gqa.length_decides_the_batch,
    ),
    Claim(
        "B8",
        "FP8 relieves large batches on Hopper; Ampere wants fewer splits; tune until GPU and "
        "memory are 70 to 90 % busy; blocking synchronisation helps small batches",
        gqa.fp8_relieves,
    ),
)
"""In the articles' order."""


def evidence_of(rounds: Sequence[Round], config: Config) -> Evidence:
    """Sort the rounds of one stack; those with another set-up than most are left aside."""
    shared = comparable(rounds, rounds)
    chosen = [r for r in rounds if setup(r) == shared]
    found = sort_rounds(chosen)
    rule = config.thresholds
    return Evidence(
        rounds=chosen,
        found=found,
        lines={axis: numbers_of(line, None, rule) for axis, line in lines_of(found).items()},
        shapes=detect_shapes(curves_of(found), None, rule),
        rule=rule,
    )


def judge_claims(seen: Evidence) -> tuple[ClaimResult, ...]:
    """Judge every claim; one whose data the rounds lack is not tested, and says what it lacks."""
    return tuple(_judged(claim, seen) for claim in CLAIMS)


def _judged(claim: Claim, seen: Evidence) -> ClaimResult:
    if isinstance(claim.check, str):
        return ClaimResult(claim.code, claim.statement, Outcome.UNTESTED, claim.check)
    try:
        outcome, numbers = claim.check(seen)
    except LackingError as error:
        outcome, numbers = Outcome.UNTESTED, str(error)
    except (LookupError, ValueError):
        # One batch of a table, or one of two curves: smaller tiers hold some of a claim's cells.
        outcome, numbers = Outcome.UNTESTED, "the recorded rounds hold only a part of what it needs"
    return ClaimResult(claim.code, claim.statement, outcome, numbers)
