"""`python -m regress thresholds` from the command line, rehearsed with real processes."""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
LINE = "decode-h32x4-d128-bf16-p16-b{}-{}-t262144"
BACKEND = "flashinfer-decode-tc-fa2"


def test_bisection_with_real_processes(tmp_path: Path) -> None:
    """Plan files go out, round files come back, and the exact batch size is printed as JSON."""
    script = {
        LINE.format(batch, kind): {
            "us": 100.0 if kind == "uniform" or batch < 66 else 1000.0,
            "facts": {"max_splits": 1 + (batch < 66)},
        }
        for batch in range(3, 1025)
        for kind in ("uniform", "skew40")
    }
    path = tmp_path / "script.json"
    path.write_text(json.dumps(script), encoding="utf-8")
    command = [sys.executable, "-m", "regress", "thresholds", "v0.6.1", "--bisect"]
    options = ["--backend", BACKEND, "--machine", "rehearsal", "--format", "json"]
    done = subprocess.run(
        [*command, *options, "--into", str(tmp_path / "rounds")],
        cwd=ROOT,
        env=os.environ | {"ATTN_SCRIPT": str(path)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    (axis,) = report["axes"]
    assert axis["head"]["planned"] == {"last": 65, "first": 66}
    assert len(axis["head"]["batches"]) <= 10
    assert len(list((tmp_path / "rounds").rglob("*.json.gz"))) == len(axis["head"]["batches"])
