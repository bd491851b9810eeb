"""Having a stage measured by `python -m benchmarks`, which is handed a plan file."""

import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from regress.errors import UsageError
from workloads.stage import StagePlan, write_stage

__all__ = ["Driver"]

_REPOSITORY: Final = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Driver:
    """Runs `python -m benchmarks run --plan` and waits for it.

    Attributes
    ----------
    options
        Further options of that command.
    """

    options: Sequence[str] = ()

    def measure(self, plan: StagePlan) -> None:
        """Measure a stage; what the command prints goes to stderr, as stdout is for the report.

        Raises
        ------
        UsageError
            If the command fails; it has said why.
        """
        sys.stderr.write(f"{plan.stage}: {_told(plan)}\n")
        with tempfile.TemporaryDirectory(prefix="attention-stage-") as folder:
            path = Path(folder, "plan.json")
            write_stage(plan, path)
            command = [sys.executable, "-m", "benchmarks", "run", "--plan", str(path)]
            done = subprocess.run(
                [*command, *self.options], cwd=_REPOSITORY, stdout=sys.stderr, check=False
            )
        if done.returncode:
            msg = (
                f"measuring {plan.stage} ended with exit code {done.returncode}, see above; "
                "the same command again goes on"
            )
            raise UsageError(msg)


def _told(plan: StagePlan) -> str:
    rounds = f"{len(plan.todo)} rounds a side" if len(plan.todo) > 1 else "1 round a side"
    return f"{rounds} of {len(plan.cases)} cells"
