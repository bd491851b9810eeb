"""A backend that does what a script says, for tests of everything around measuring.

The script is a JSON file named by `ATTN_SCRIPT`: workload slug to behaviour, `*` for the others.
A behaviour is `{"us": 100.0}` with, if wanted, `"spread": 0.01`, `"factor": 1.05`, or `"do"`:
`raise`, `abort`, `hang`, `nan` or `wrong`; `"after": 2` lets two launches go well before.
"""

import json
import os
import random
import time
from itertools import count
from pathlib import Path
from typing import Final

from benchmarks.backends.adapter import Libraries, Prepared, Script, Unsupported
from benchmarks.measure.inputs import Inputs
from workloads.record import Facts

__all__ = ["NAMES", "SCRIPT_VARIABLE", "prepare"]

NAMES: Final = ("scripted",)
SCRIPT_VARIABLE: Final = "ATTN_SCRIPT"
_HANG_S: Final = 3600.0
_ERRORS: Final = {"nan": float("nan"), "wrong": 1.0}


def prepare(name: str, inputs: Inputs, libraries: Libraries) -> Prepared:
    """Return what the script says for this workload.

    Raises
    ------
    Unsupported
        If there is no script, or it says nothing about this workload.
    """
    del name, libraries
    path = os.environ.get(SCRIPT_VARIABLE, "")
    if not path:
        msg = f"{SCRIPT_VARIABLE} names no script"
        raise Unsupported(msg)
    script = json.loads(Path(path).read_text(encoding="utf-8"))
    behaviour = script.get(inputs.workload.slug, script.get("*"))
    if behaviour is None:
        msg = "the script says nothing about this workload"
        raise Unsupported(msg)
    draws = random.Random()  # noqa: S311 - noise, not a secret
    what, launches = behaviour.get("do", ""), count()

    def launch() -> None:
        if next(launches) >= behaviour.get("after", 0):
            _act(what)

    def us() -> float:
        noise = draws.gauss(1.0, behaviour.get("spread", 0.0))
        return float(behaviour["us"]) * float(behaviour.get("factor", 1.0)) * noise

    return Prepared(
        launch=launch,
        facts=lambda: Facts(**behaviour.get("facts", {})),
        script=Script(us, _ERRORS.get(what, 0.001)),
    )


def _act(what: str) -> None:
    if what == "raise":
        msg = "scripted failure"
        raise RuntimeError(msg)
    if what == "abort":
        os.abort()
    if what == "hang":
        time.sleep(_HANG_S)
