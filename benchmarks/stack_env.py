"""asv's environment type `stack`: the cached environment of a stack, with a warm worker.

asv's own types reinstall at each commit switch and cannot see the host's torch. Here a commit of
the ledger stands for a stack, each stack has an environment of its own, and asv's benchmark
requests go to one long-lived process of that stack.
"""

import atexit
import json
import os
import sys
from pathlib import Path
from typing import Any, Final

from asv import environment, util
from asv.console import log

from benchmarks.asv_arguments import asked_for, check_names
from benchmarks.campaign import campaign_id
from benchmarks.errors import UserError
from benchmarks.ledger import write_ledger
from benchmarks.machine import ensure_machine
from benchmarks.stacks import Stack, find_stack, load_stacks
from benchmarks.venv import ensure_environment
from benchmarks.warm import WarmWorker, WorkerLostError

__all__ = ["ENVIRONMENT_TYPE", "StackEnvironment", "setup"]

ENVIRONMENT_TYPE: Final = "stack"


def setup() -> None:
    """Prepare what any asv command needs: the ledger and an entry for this machine.

    asv calls it when it loads the plugin, before it opens the repository.
    """
    # A git hook or a git command around asv would point it at another repository.
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        del os.environ[name]
    try:
        stacks = load_stacks()
        check_names(sys.argv[1:], stacks)
        write_ledger(stacks)
        ensure_machine()
    except (UserError, OSError, ValueError) as error:
        raise util.UserError(str(error)) from error


class StackEnvironment(environment.Environment):  # type: ignore[misc]
    """All stacks, one environment each; the name is the same on every Python."""

    tool_name = ENVIRONMENT_TYPE

    def __init__(self, conf: Any, python: str, requirements: Any, variables: Any) -> None:
        # asv's own __init__ reads it before it sets it.
        self._requirements = requirements
        super().__init__(conf, python, requirements, variables)
        self._stack: Stack | None = None
        self._commit: str | None = None
        self._interpreter = Path(sys.executable)
        self._workers: dict[str, WarmWorker] = {}
        self._lost: dict[str, str] = {}
        self._campaign = campaign_id()
        atexit.register(self._close)

    @classmethod
    def matches(cls, python: str) -> bool:  # noqa: ARG003 - asv's signature
        """Take any Python: it is the one that asv runs in."""
        return True

    @property
    def installed_commit_hash(self) -> str | None:
        """The commit whose stack is used now."""
        return self._commit

    def check_presence(self) -> bool:
        """Whether asv's own folder of this environment is there."""
        return Path(self._path).is_dir()

    def _setup(self) -> None:
        try:
            Path(self._path).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            msg = f"cannot make asv's folder of environments: {error}"
            raise util.UserError(msg) from error

    def install_project(self, conf: Any, repo: Any, commit_hash: str) -> None:  # noqa: ARG002
        """Switch to the stack of a commit, making its environment if need be."""
        shown = util.check_output(
            [util.which("git"), "-C", repo._path, "show", f"{commit_hash}:stack.json"],  # noqa: SLF001
            dots=False,
        )
        try:
            stack = find_stack(json.loads(shown)["tag"])
            log.info(f"Preparing {stack.tag}")
            self._interpreter = ensure_environment(stack)
        except UserError as error:
            raise util.UserError(str(error)) from error
        self._stack, self._commit = stack, commit_hash
        self._set_commit_hash(commit_hash)

    def run(self, args: list[str], **options: Any) -> Any:
        """Run a command of asv's benchmark script in the current stack."""
        variables = self._variables(options.pop("env", None))
        if args[1:2] == ["run"]:
            output, code = self._ask(args[2:], options["cwd"], options["timeout"], variables)
            return output, "", code
        if options.get("timeout") is None:
            options["timeout"] = self._install_timeout
        return util.check_output([str(self._interpreter), *args], env=variables, **options)

    def _variables(self, given: dict[str, str] | None) -> dict[str, str]:
        variables = {**(given or os.environ), **self._global_env_vars}
        variables.pop("PYTHONPATH", None)
        binaries = self._interpreter.parent
        variables["VIRTUAL_ENV"] = str(binaries.parent)
        variables["PATH"] = f"{binaries}{os.pathsep}{variables.get('PATH', os.defpath)}"
        return variables

    def _ask(
        self, arguments: list[str], cwd: str, timeout_s: float, variables: dict[str, str]
    ) -> tuple[str, int]:
        if self._stack is None:
            msg = "asv installs a stack before it runs a benchmark"
            raise AssertionError(msg)
        tag = self._stack.tag
        if tag in self._lost:
            return self._lost[tag], 1
        if tag not in self._workers:
            chosen = {"ATTN_STACK": tag, "ATTN_CAMPAIGN": self._campaign}
            chosen |= asked_for(sys.argv[1:])
            self._workers[tag] = WarmWorker(self._interpreter, variables | chosen)
        try:
            return self._workers[tag].ask(arguments, cwd, timeout_s)
        except WorkerLostError as lost:
            # Asking on would measure a whole round again for every cell that is left.
            self._lost[tag] = f"{tag} was given up: {lost}"
            return str(lost), util.TIMEOUT_RETCODE if lost.timed_out else 1

    def _close(self) -> None:
        for worker in self._workers.values():
            worker.close()
