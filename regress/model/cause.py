"""Why something changed, as far as rounds and the releases' sources tell."""

import msgspec

from regress.model.finding import Change

__all__ = ["Cause", "ChangedFile"]


class ChangedFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A source file of the library that differs between two releases.

    Attributes
    ----------
    path
        Inside the package, e.g. `flashinfer/decode.py`.
    change
        `added`, `removed` or `changed`.
    functions
        Python functions and methods that differ; empty for other languages.
    """

    path: str
    change: str
    functions: tuple[str, ...] = ()


class Cause(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The likely cause of a finding.

    Attributes
    ----------
    summary
        One sentence; says so if nothing explains the change.
    explained
        Whether something that decides the kernel's time differs between the two releases.
    evidence
        What differs between the rounds: resolved backend, plan facts, kernels, device code, clocks.
        Of facts that differ from cell to cell, those of the cell that changed most.
    files
        Attention sources that differ, those of the affected path first; empty if none is known.
    """

    summary: str
    explained: bool
    evidence: tuple[Change, ...]
    files: tuple[ChangedFile, ...]
