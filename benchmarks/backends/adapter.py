"""What an adapter is: a function that makes one workload ready to run on one backend."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from packaging.version import Version

from benchmarks.measure.inputs import Inputs
from workloads.record import Facts

__all__ = ["Libraries", "Prepare", "Prepared", "Script", "Unsupported"]


class Unsupported(Exception):  # noqa: N818 - it is an answer, not an error
    """A backend cannot run a workload here; the text says why."""


@dataclass(frozen=True, slots=True)
class Script:
    """What a scripted backend reports instead of being measured.

    Attributes
    ----------
    us
        Gives the next time, in microseconds.
    error
        Relative error to report; NaN for an output that is not finite.
    """

    us: Callable[[], float]
    error: float


@dataclass(frozen=True, slots=True)
class Prepared:
    """A workload ready to run.

    Attributes
    ----------
    launch
        Enqueues one attention call and returns its output, shape (query tokens, heads, head dim).
    plan
        Plans the same batch again, as a serving engine does every step; None without plan().
    facts
        Reads what the library decided.
    workspace_bytes
        Device memory held beside inputs and output; None if the library does not say.
    script
        For scripted backends only.
    """

    launch: Callable[[], Any]
    plan: Callable[[], object] | None = None
    facts: Callable[[], Facts] = Facts
    workspace_bytes: int | None = None
    script: Script | None = None


@dataclass(frozen=True, slots=True)
class Libraries:
    """The attention libraries of the stack, as this process can import them.

    Attributes
    ----------
    versions
        Imported version of each pinned distribution.
    problems
        For a pinned distribution that cannot be imported: why.
    has_torch, has_gpu
        Whether torch is here, and whether it sees a usable CUDA device.
    stack
        Tag of the stack.
    """

    versions: Mapping[str, str]
    problems: Mapping[str, str]
    has_torch: bool
    has_gpu: bool
    stack: str = ""

    def can_run(self, distribution: str) -> bool:
        """Say whether `require` would return."""
        known = distribution in self.versions and distribution not in self.problems
        return self.has_gpu and known

    def require(self, distribution: str) -> Version:
        """Return the version of a distribution that must run on the GPU.

        Raises
        ------
        Unsupported
            If there is no GPU, or the stack does not pin it, or it cannot be imported.
        """
        if not self.has_gpu:
            msg = f"{distribution} needs a CUDA GPU and this host has none"
            raise Unsupported(msg)
        if distribution in self.problems:
            raise Unsupported(self.problems[distribution])
        if distribution not in self.versions:
            msg = f"this stack pins no {distribution}"
            raise Unsupported(msg)
        return Version(self.versions[distribution])


Prepare = Callable[[str, Inputs, Libraries], Prepared]
"""Makes `inputs.workload` ready on the backend of this name, or raises `Unsupported`."""
