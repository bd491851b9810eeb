"""A made-up Python of a stack: it is handed plans and does what a test says."""

import json
import sys
from pathlib import Path
from typing import Any

PRELUDE = """\
#!{python} -IS
import json, os, signal, subprocess, sys, time

assert sys.argv[1:3] == ["-m", "benchmarks.round"], sys.argv
plan = json.load(open(sys.argv[3]))
with open({plans!r}, "a") as file:
    file.write(json.dumps(plan | {{"pid": os.getpid()}}) + "\\n")
fd = int(sys.argv[5])

def say(stage, case=None, **more):
    os.write(fd, json.dumps({{"stage": stage, "case": case, **more}}).encode() + b"\\n")

def is_second(case):
    return case["workload"] == "second"

say("import")
if "--go-fd" in sys.argv and not os.read(int(sys.argv[7]), 1):
    sys.exit(0)
left = [c for c in plan["cases"] if c not in [q["case"] for q in plan.get("quarantine", [])]]
"""
POSTLUDE = '\nsay("done", file="/a/round")\n'


class Interpreter:
    """Makes executables that stand for a stack's Python, and tells the plans they were given."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.plans_file = folder, folder / "plans"

    def __call__(self, body: str) -> Path:
        path = self.folder / "python"
        prelude = PRELUDE.format(python=sys.executable, plans=str(self.plans_file))
        path.write_text(prelude + body + POSTLUDE)
        path.chmod(0o755)
        return path

    def plans(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.plans_file.read_text().splitlines()]

    def lost(self) -> dict[str, str]:
        """Return the quarantined cases of the last try, with their reasons."""
        lost = self.plans()[-1].get("quarantine", [])
        return {q["case"]["workload"]: q["reason"] for q in lost}


def runs(pid: int) -> bool:
    """Whether a process runs; one that nobody has waited for yet does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"
