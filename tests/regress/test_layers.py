"""Registries are complete and judging stays light."""

import subprocess
import sys
from pathlib import Path

import regress.detect
from regress.detect import DETECTORS
from regress.report import BACKENDS_RENDERERS, CHECK_RENDERERS


def test_every_check_detector_is_registered() -> None:
    """Whatever a detector module offers for cells is run."""
    names = {
        f"detect_{name}"
        for name in ("coverage", "correctness", "kernel_time", "plan_time", "spread")
    }
    assert {detector.__name__ for detector in DETECTORS} == names
    assert {name for name in vars(regress.detect) if name.startswith("detect_")} == names


def test_formats_mean_the_same_for_both_commands() -> None:
    """Every format of `backends` is one of `check`, which has those of CI readers too."""
    assert set(BACKENDS_RENDERERS) <= set(CHECK_RENDERERS)
    assert set(CHECK_RENDERERS) - set(BACKENDS_RENDERERS) == {"junit", "sarif"}


def test_judging_imports_neither_torch_nor_benchmarks_nor_scipy() -> None:
    """The command line loads only what judging needs."""
    code = "import sys, regress.cli; print(*sorted({m.split('.')[0] for m in sys.modules}))"
    root = Path(__file__).parents[2]
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=root
    ).stdout.split()
    assert not {"torch", "benchmarks", "scipy", "pandas"} & set(loaded)
    assert "regress" in loaded
