"""Measuring: stacks, their environments, the ledger, rounds, and asv's benchmark classes.

asv imports every module of this package to discover benchmarks, on hosts without a GPU too, so
torch and the libraries under test are imported inside functions only.
"""

import sys
from pathlib import Path

# asv imports this package by path and knows nothing of its neighbour `workloads`.
_ROOT = str(Path(__file__).resolve().parent.parent)
if _ROOT not in sys.path:
    sys.path.insert(0, _ROOT)
