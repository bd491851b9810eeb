"""Cases that do what a script says, for rehearsals and for tests of everything around measuring.

The script is a JSON file named by `ATTN_SCRIPT`: `workload@backend`, or the workload's slug, or `*`
for the others, to `Behaviour`. If it names a folder, each stack has its own script there,
`<tag>.json`. While it is set nothing is measured at all: every case of every backend is scripted,
no stack is installed, and the rounds say so (timer `scripted`), so that they are never compared
with measured ones. For example:

    {"*": {"us": 100, "process_spread": 0.002}, "WORKLOAD@BACKEND": {"us": 105, "spread": 0.01}}
"""

import os
import random
import time
from itertools import count
from pathlib import Path
from typing import Final, Literal

import msgspec

from benchmarks.backends.adapter import Libraries, Prepared, Script, Unsupported
from benchmarks.errors import UserError
from benchmarks.measure.inputs import Inputs
from workloads.record import Facts
from workloads.rehearsal import SCRIPT_VARIABLE

__all__ = ["NAMES", "Behaviour", "load_script", "prepare"]

NAMES: Final = ("scripted",)
_HANG_S: Final = 3600.0


class Behaviour(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a case does.

    Attributes
    ----------
    us, factor
        Its time in microseconds, and what that is multiplied with.
    spread, process_spread
        Relative standard deviations: of samples, and of a factor that is drawn once a process.
    slow_passes, slow_factor
        The chance of a pass to be slow as a whole, and how much slower it is then.
    error
        Relative error of its output.
    facts
        What its library decided.
    do
        What goes wrong; `wrong` and `nan` are outputs, the others happen at a launch.
    after
        Launches that go well before.
    """

    us: float
    factor: float = 1.0
    spread: float = 0.0
    process_spread: float = 0.0
    slow_passes: float = 0.0
    slow_factor: float = 1.0
    error: float = 0.001
    facts: Facts = Facts()
    do: Literal["", "raise", "abort", "hang", "nan", "wrong"] = ""
    after: int = 0


def load_script(stack: str) -> dict[str, Behaviour] | None:
    """Read what the script says of a stack; None without a script.

    Raises
    ------
    UserError
        If the file cannot be read or is no script.
    """
    given = os.environ.get(SCRIPT_VARIABLE, "")
    if not given:
        return None
    path = Path(given, f"{stack}.json") if Path(given).is_dir() else Path(given)
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, Behaviour])
    except (OSError, msgspec.MsgspecError) as error:
        msg = f"{SCRIPT_VARIABLE}: {path} is no script: {error}"
        raise UserError(msg) from error


class _Case:
    """One case of this process."""

    def __init__(self, behaviour: Behaviour) -> None:
        self._behaviour = behaviour
        self._draws = random.Random()  # noqa: S311 - noise, not a secret
        self._launches = count()
        self._us = behaviour.us * behaviour.factor
        self._us *= self._draws.gauss(1.0, behaviour.process_spread)
        self._pass_factor = 1.0

    def launch(self) -> None:
        """Do what goes wrong; the timer launches once a pass, so this begins one."""
        what = self._behaviour
        self._pass_factor = what.slow_factor if self._draws.random() < what.slow_passes else 1.0
        if next(self._launches) >= what.after:
            _act(what.do)

    def us(self) -> float:
        """Return the next sample."""
        return self._us * self._pass_factor * self._draws.gauss(1.0, self._behaviour.spread)


def prepare(name: str, inputs: Inputs, libraries: Libraries) -> Prepared:
    """Return what the script says for this workload.

    Raises
    ------
    Unsupported
        If there is no script, or it says nothing about this workload.
    """
    script = load_script(libraries.stack)
    if script is None:
        msg = f"{SCRIPT_VARIABLE} names no script"
        raise Unsupported(msg)
    slug = inputs.workload.slug
    keys = (key for key in (f"{slug}@{name}", slug, "*") if key in script)
    behaviour = script.get(next(keys, ""))
    if behaviour is None:
        msg = "the script says nothing about this workload"
        raise Unsupported(msg)
    case, facts = _Case(behaviour), behaviour.facts
    error = {"nan": float("nan"), "wrong": 1.0}.get(behaviour.do, behaviour.error)
    return Prepared(launch=case.launch, facts=lambda: facts, script=Script(case.us, error))


def _act(what: str) -> None:
    if what == "raise":
        msg = "scripted failure"
        raise RuntimeError(msg)
    if what == "abort":
        os.abort()
    if what == "hang":
        time.sleep(_HANG_S)
