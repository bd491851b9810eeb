"""Made-up rounds of many releases, for tests of the history: never results of a measurement."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import numpy as np

from regress.model.history import History
from regress.pipeline.history.history import history
from regress.pipeline.request import Request
from tests.regress.builders import CONFIG, MACHINE, make_round, write_rounds
from workloads import catalog
from workloads.record import Case, CaseRecord, Facts, Kernel, Round, Status

TAGS = (
    *("v0.5.0", "v0.5.1", "v0.5.2", "v0.5.3", "v0.6.0", "v0.6.1", "v0.6.2", "v0.6.3", "v0.6.4"),
    *("v0.6.5", "v0.6.6", "v0.6.7", "v0.6.8", "v0.6.9", "v0.6.10", "v0.6.11", "v0.6.12"),
)
"""Real tags, as their order is that of the list of stacks; their times here are made up."""
CASES = tuple(e.case for e in catalog.cases("gate") if e.case.workload.startswith("decode"))[:6]
KERNEL = Kernel("BatchPrefillWithPagedKVCacheKernel", (66, 1, 4), (128, 1, 1))

Factor = Callable[[Case, int], float]


def plain(_case: Case, _point: int) -> float:
    """Nothing changes."""
    return 1.0


def step_at(point: int, factor: float, cases: Sequence[Case] = CASES) -> Factor:
    """From a release on, some cases take longer by a factor."""
    return lambda case, n: factor if case in cases and n >= point else 1.0


@dataclass
class Year:
    """Synthetic releases.

    Attributes
    ----------
    factor
        How much slower a case is in the release with this number.
    told
        Facts of a case in a release.
    campaigns
        Which releases each campaign measures, and how often.
    lost
        What becomes of a case in a release instead of being measured, with the reason.
    """

    root: Path
    factor: Factor = plain
    told: Callable[[Case, int], Facts] = field(
        default=lambda _case, point: Facts(resolved_backend="fa2", cubin=f"code{point}")
    )
    campaigns: Mapping[str, tuple[Sequence[int], int]] = field(
        default_factory=lambda: {"c1": (range(len(TAGS)), 3), "c2": (range(len(TAGS)), 3)}
    )
    lost: Callable[[Case, int], tuple[Status, str] | None] = lambda _case, _point: None
    noise: float = 0.002
    seed: int = 1

    def write(self) -> list[Path]:
        """Write the round files."""
        return write_rounds(self.root, self.rounds())

    def rounds(self) -> list[Round]:
        """Return all rounds."""
        rng = np.random.default_rng(self.seed)
        return [
            make_round(
                TAGS[point],
                number,
                [self._record(case, point, rng) for case in CASES],
                campaign,
                tier="custom",
                machine=msgspec.structs.replace(MACHINE, gpu_uuid=f"GPU-{campaign}"),
            )
            for campaign, (points, rounds) in self.campaigns.items()
            for number in range(rounds)
            for point in points
        ]

    def _record(self, case: Case, point: int, rng: np.random.Generator) -> CaseRecord:
        status = self.lost(case, point)
        if status is not None:
            return CaseRecord(case, status[0], reason=status[1])
        us = 100.0 * self.factor(case, point) * float(np.exp(rng.normal(0, self.noise)))
        return CaseRecord(
            case,
            Status.MEASURED,
            kernel_us=(us,) * 3,
            samples=(9,) * 3,
            error=1e-3,
            kernels=(KERNEL,),
            facts=self.told(case, point),
        )


def look(root: Path, since: str | None = None, pattern: str | None = None) -> History:
    """The history of what lies there."""
    return history(Request((root,), None, "any", pattern, "command"), CONFIG, since)


def history_of(year: Year) -> History:
    """Write the rounds and look at them."""
    year.write()
    return look(year.root)
