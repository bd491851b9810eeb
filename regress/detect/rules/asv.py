"""How asv marks a benchmark as slower: its own code, on pooled samples."""

import numpy as np
from numpy.typing import NDArray

from regress.stats.exact import Floats

__all__ = ["asv_slower"]


def asv_slower(base: Floats, head: Floats, *, factor: float) -> NDArray[np.bool_]:
    """Return which cells `asv compare --factor` marks; its significance test is p < 0.002."""
    from asv.commands.compare import _is_result_better
    from asv_runner.statistics import compute_stats

    marks = []
    for cell in range(base.shape[1]):
        sides = [side[:, cell].ravel().tolist() for side in (base, head)]
        (before, before_stats), (after, after_stats) = (compute_stats(s, 1) for s in sides)
        stats = (before_stats, sides[0]), (after_stats, sides[1])
        marks.append(bool(_is_result_better(before, after, *stats, factor)))
    return np.array(marks, dtype=np.bool_)
