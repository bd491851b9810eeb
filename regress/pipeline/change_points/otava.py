"""E-divisive as Apache Otava does it: its own code, in a process of its own.

Its package pins versions of numpy and of many clients that it needs for other things, so it is
installed apart, without its dependencies: `pip install --no-deps --target DIR apache-otava`.
"""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec
import numpy as np

from regress.errors import UsageError
from regress.stats.exact import Floats

__all__ = ["OTAVA", "OTAVA_SETTINGS", "otava_points"]

OTAVA: Final = "E-divisive (Otava)"
OTAVA_SETTINGS: Final = "apache-otava, window 50, p < 0.001, any magnitude"
_PROGRAM: Final = """
import json, sys
from otava.analysis import compute_change_points
options = {"window_len": 50, "max_pvalue": 0.001, "min_magnitude": 0.0}
found = [compute_change_points(series, **options)[0] for series in json.load(sys.stdin)]
json.dump([[int(point.index) for point in points] for points in found], sys.stdout)
"""


def otava_points(series: Sequence[Floats], folder: Path) -> list[list[int]]:
    """Return the first index after each change.

    Raises
    ------
    UsageError
        If Otava cannot be run from this folder.
    """
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM],
        input=msgspec.json.encode([np.median(values, axis=1).tolist() for values in series]),
        env=os.environ | {"PYTHONPATH": str(folder)},
        capture_output=True,
        check=False,
    )
    if done.returncode:
        last = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        msg = f"--otava {folder}: cannot run Otava ({last})"
        raise UsageError(msg)
    return msgspec.json.decode(done.stdout, type=list[list[int]])
