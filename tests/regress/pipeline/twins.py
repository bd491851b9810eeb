"""Made-up rounds of two byte-identical stacks, for tests of the calibration."""

import msgspec
import numpy as np

from regress.pipeline.calibrate.calibrate import Simulated
from tests.regress.builders import make_round
from workloads import catalog
from workloads.record import Case, CaseRecord, Design, Round, Status

TAGS = ("v1", "v2")
CASES = tuple(entry.case for entry in catalog.cases("gate"))[:5]

_NOISE = 0.002
"""Between processes."""


def twin_rounds(
    campaigns: int = 2, rounds: int = 6, offset: float = 0.0, seed: int = 1, tier: str = "gate"
) -> dict[str, tuple[Round, ...]]:
    """Rounds of both stacks by tag; `offset` is how much slower the second one is, relative."""
    rng = np.random.default_rng(seed)
    found: dict[str, list[Round]] = {tag: [] for tag in TAGS}
    for campaign in range(1, campaigns + 1):
        for number in range(rounds):
            for tag in TAGS:
                slower = 1 + offset if tag == TAGS[1] else 1.0
                records = [_record(case, 100 * slower, rng) for case in CASES]
                made = make_round(
                    tag,
                    number,
                    records,
                    f"c{campaign}",
                    tier=tier,
                    seconds={"import": 2.0, "build": 1.0, "measure": 4.0, "total": 8.0},
                )
                found[tag].append(made)
    return {tag: tuple(made) for tag, made in found.items()}


def _record(case: Case, us: float, rng: np.random.Generator) -> CaseRecord:
    passes = us * np.exp(rng.normal(0, _NOISE) + rng.normal(0, 0.001, 6))
    return CaseRecord(case, Status.MEASURED, kernel_us=tuple(map(float, passes)), samples=(9,) * 6)


def wanted(gates: int = 40, workers: int = 1, seed: int = 1) -> Simulated:
    """A small simulation."""
    return Simulated("gate", gates, seed, workers, TAGS, "made-up")


def staged(found: Round, stage: str) -> Round:
    """The same round as part of a stage."""
    return msgspec.structs.replace(found, design=Design("run", stage, TAGS, 1, 1))
