"""`python -m regress bisect` from the command line, rehearsed with real processes."""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
TIMES_US = {"v0.6.1": 100.0, "v0.6.2": 100.0, "v0.6.3": 110.0, "v0.6.4": 110.0, "v0.6.5": 110.0}
CELL = "decode-h32x4-d128-bf16-p16-b66-skew40-t262144@flashinfer-decode-tc-fa2$"


def test_bisection_with_real_processes(tmp_path: Path) -> None:
    """Plan files go out, round files come back, and the step is told with the sources changed."""
    for tag, us in TIMES_US.items():
        script = {"*": {"us": us, "process_spread": 0.001}}
        (tmp_path / f"{tag}.json").write_text(json.dumps(script), encoding="utf-8")
    command = [sys.executable, "-m", "regress", "bisect", "v0.6.1", "v0.6.5", "--cells", CELL]
    done = subprocess.run(
        [*command, "--format", "json", "--into", str(tmp_path / "rounds")],
        cwd=ROOT,
        env=os.environ | {"ATTN_SCRIPT": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    report = json.loads(done.stdout)
    (step,) = report["steps"]
    assert (step["last_good"], step["first_bad"], step["exact"]) == ("v0.6.2", "v0.6.3", True)
    assert [change["verdict"] for change in step["cases"]] == ["REGRESSION"]
    assert [file["path"] for file in step["files"]] == ["flashinfer/jit/core.py"]
    assert "v0.6.4" not in report["measured"]
