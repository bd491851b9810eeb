"""Rules of other tools and other designs, to be measured on the same rounds as ours. One a file.

Each is given the pass medians of both sides, in microseconds with shape (rounds, cells, passes),
and says which cells it calls slower. Single samples behind a pass median are not recorded, so
rules that pool samples pool pass medians.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np
from numpy.typing import NDArray

from regress.detect.rules.asv import asv_slower
from regress.detect.rules.divisive import divisive_slower
from regress.detect.rules.medians import medians_slower
from regress.detect.rules.pooled import ranks_slower, ratio_slower, welch_slower
from regress.stats.exact import Floats

__all__ = ["RULES", "Bools", "Rule"]

Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule, and the rounds a side that it is tried with: asv takes two by default."""

    name: str
    rounds: tuple[int, ...]
    slower: Callable[[Floats, Floats], Bools]


RULES: Final = (
    Rule("asv compare (factor 1.1)", (2, 10), partial(asv_slower, factor=1.1)),
    Rule("asv compare --factor 1.05", (2, 10), partial(asv_slower, factor=1.05)),
    Rule("asv's significance test alone", (2, 10), partial(asv_slower, factor=1.0)),
    Rule("Mann-Whitney on pooled passes, p <= 0.01", (1, 10), partial(ranks_slower, alpha=0.01)),
    Rule("Welch t on pooled passes, p <= 0.05", (1, 10), partial(welch_slower, alpha=0.05)),
    Rule("ratio of medians above 1.05", (1, 10), partial(ratio_slower, factor=1.05)),
    Rule("process medians, exact, 0.01, floor 2%", (5,), partial(medians_slower, floor=0.02)),
    Rule("process medians, exact, 0.01, floor 0.5%", (5,), partial(medians_slower, floor=0.005)),
    Rule("E-divisive on process medians, p <= 0.05", (10,), partial(divisive_slower, alpha=0.05)),
)
