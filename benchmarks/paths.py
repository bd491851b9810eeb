"""Where things lie in a checkout. All that is derived is under `.asv`, which git ignores."""

from pathlib import Path
from typing import Final

__all__ = [
    "ADHOC",
    "ADHOC_WHEELS",
    "ASV_CONFIG",
    "BYTECODE",
    "ENVIRONMENTS",
    "LEDGER",
    "RECORDED",
    "RESULTS",
    "ROOT",
    "ROUNDS",
    "STACKS",
]

ROOT: Final = Path(__file__).resolve().parent.parent
"""The checkout."""
ASV_CONFIG: Final = ROOT / "asv.conf.json"
"""asv's configuration."""
STACKS: Final = ROOT / "benchmarks" / "stacks.toml"
"""The published list of stacks."""
RECORDED: Final = ROOT / "benchmarks" / "recorded"
"""Round files of real runs that are kept in git."""
ROUNDS: Final = ROOT / ".asv" / "rounds"
"""Round files measured on this machine."""
LEDGER: Final = ROOT / ".asv" / "ledger"
"""The git repository that asv benchmarks."""
RESULTS: Final = ROOT / ".asv" / "results"
"""asv's results."""
ENVIRONMENTS: Final = ROOT / ".asv" / "env"
"""One virtual environment a stack."""
BYTECODE: Final = ROOT / ".asv" / "pycache"
"""Python bytecode of the measuring processes."""
ADHOC: Final = ROOT / ".asv" / "adhoc"
"""Ad-hoc stacks of this machine, one file each: two may hold different wheels of one version."""
ADHOC_WHEELS: Final = ROOT / ".asv" / "wheels"
"""Wheels built from git commits."""
