"""What every simulated gate needs, and running many of them on two processors."""

import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Final, TypeVar

import numpy as np

from regress.config import AbRule
from regress.detect.screen import Limits
from regress.model.rates import Rate
from regress.pipeline.calibrate.data import Stratum
from regress.stats.exact import Floats
from regress.stats.rates import lower_rate, upper_rate
from regress.stats.simulate import Pool
from workloads.record import Case, Round, Status

__all__ = [
    "CONFIDENCE",
    "Cost",
    "Setting",
    "Source",
    "cost_of",
    "rate_of",
    "run_jobs",
    "source_of",
    "workers_of",
]

CONFIDENCE: Final = 0.95
"""Of one-sided bounds on what was simulated."""
_CHUNKS: Final = 32
_LEAST_SIDE: Final = 3
_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class Cost:
    """GPU seconds of a round: so many for itself, and for each case."""

    round_s: float
    case_s: float

    def of(self, rounds: int, cases: int) -> float:
        """Return the seconds of some rounds on both sides."""
        return 2 * rounds * (self.round_s + cases * self.case_s) if cases else 0.0


@dataclass(frozen=True, slots=True)
class Source:
    """One campaign to draw from.

    Attributes
    ----------
    pool
        Rounds of both twins.
    twins
        Those of each.
    passes
        Logarithms of pass times of `pool`, (processes, cells, passes).
    """

    campaign: str
    pool: Pool
    twins: tuple[Pool, ...]
    passes: Floats
    cost: Cost

    @property
    def sides(self) -> tuple[int, int] | None:
        """Rounds of both twins; None if one has too few to be a side of its own."""
        sizes = [pool.values.time.shape[0] for pool in self.twins]
        return (sizes[0], sizes[1]) if len(sizes) > 1 and min(sizes) >= _LEAST_SIDE else None


@dataclass(frozen=True, slots=True)
class Setting:
    """Campaigns, cells and rule of the simulated gates.

    Attributes
    ----------
    large
        Of each cell, whether it is not small.
    """

    sources: tuple[Source, ...]
    cases: tuple[Case, ...]
    families: tuple[str, ...]
    limits: tuple[Limits, ...]
    large: tuple[bool, ...]
    rule: AbRule
    seed: int

    def source(self, number: int) -> Source:
        """Return the campaign of a gate: they are taken in turn."""
        return self.sources[number % len(self.sources)]

    def sided(self, least: int) -> "Setting":
        """Return the setting with the campaigns that have so many rounds of each twin.

        With fewer, most of what sets the twins apart there is chance.
        """
        kept = tuple(s for s in self.sources if s.sides and min(s.sides) >= least)
        return replace(self, sources=kept)

    def rng(self, purpose: int, number: int) -> np.random.Generator:
        """Return the random numbers of one gate, whatever else is simulated."""
        return np.random.default_rng([self.seed, purpose, number])


def source_of(stratum: Stratum, twins: Sequence[str]) -> Source:
    """Prepare a campaign for drawing."""
    held = [tag for tag in twins if sum(r.stack.tag == tag for r in stratum.rounds) > 1]
    return Source(
        campaign=stratum.campaign,
        pool=stratum.pool(),
        twins=tuple(stratum.pool(tag) for tag in held),
        passes=stratum.passes(),
        cost=cost_of(stratum.rounds),
    )


def cost_of(rounds: Sequence[Round]) -> Cost:
    """Return what a round costs, from what these took; the rest of `total` goes by round."""
    by_case = [r.seconds.get("build", 0.0) + r.seconds.get("measure", 0.0) for r in rounds]
    whole = [r.seconds.get("total", s) for r, s in zip(rounds, by_case, strict=True)]
    cases = [sum(c.status is Status.MEASURED for c in r.cases) for r in rounds]
    return Cost(
        (sum(whole) - sum(by_case)) / len(rounds),
        sum(by_case) / max(sum(cases), 1),
    )


def rate_of(hits: int, of: int) -> Rate:
    """Return a rate with its bounds."""
    return Rate(hits, of, lower_rate(hits, of, CONFIDENCE), upper_rate(hits, of, CONFIDENCE))


@contextmanager
def workers_of(count: int) -> Iterator[Executor | None]:
    """Start so many processes to simulate with; one is this process, which needs none."""
    if count == 1:
        yield None
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(count, mp_context=context) as executor:
        yield executor


def run_jobs(
    job: Callable[[int], _Result], numbers: range, executor: Executor | None
) -> list[_Result]:
    """Run a job for each number and return the results in order, whoever computes them."""
    if executor is None:
        return [job(n) for n in numbers]
    return list(executor.map(job, numbers, chunksize=max(1, len(numbers) // _CHUNKS)))
