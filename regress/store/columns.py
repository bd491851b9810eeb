"""Rounds as columns: what a history needs of thousands of rounds, as arrays."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from regress.store.setup import Setup, setup
from workloads.record import Case, CaseRecord, Facts, Kernel, Round, Status

__all__ = ["ABSENT", "STATUSES", "Columns", "Head", "Ran", "Sheet", "join_sheets", "sheet_of"]

STATUSES: Final = tuple(Status)
"""What the numbers in `Columns.status` mean."""
ABSENT: Final = -1
"""A round does not hold the case, or nothing tells what ran."""


class Ran(msgspec.Struct, frozen=True, array_like=True):
    """What a round told of the kernels of a case: the facts of its plan, and its launches."""

    facts: Facts | None
    kernels: tuple[Kernel, ...]

    @property
    def known(self) -> bool:
        """Whether device code, plan and launches are all known: then equal means identical."""
        return bool(self.facts and self.facts.cubin and self.kernels)

    @property
    def attention(self) -> frozenset[str]:
        """Names of the kernels that read the KV cache, without those that prepare or merge."""
        return frozenset(kernel.name for kernel in self.kernels if "KVCache" in kernel.name)


class Head(msgspec.Struct, frozen=True):
    """A round without its cases.

    Attributes
    ----------
    path
        Its file.
    file_digest
        SHA-256 of the file's bytes.
    stage
        Of the run that it was planned in; empty for a single round.
    imported
        Version of each pinned distribution, sorted by name.
    """

    path: str
    file_digest: str
    id: str
    campaign: str
    started_at: str
    tag: str
    machine: str
    stack_digest: str
    imported: tuple[tuple[str, str], ...]
    gpu_uuid: str
    tier: str
    stage: str
    warnings: tuple[str, ...]
    setup: Setup


@dataclass(frozen=True, slots=True)
class Sheet:
    """One round as columns, one entry a case.

    Attributes
    ----------
    ran
        JSON of `Ran`; empty if the round tells nothing.
    """

    head: Head
    cases: tuple[Case, ...]
    status: NDArray[np.int8]
    time_us: NDArray[np.float64]
    plan_us: NDArray[np.float64]
    ran: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Columns:
    """Rounds in order of their start, as arrays of shape (rounds, cases).

    Attributes
    ----------
    time_us, plan_us
        A round's one number; NaN where it has none.
    status
        Index into `STATUSES`, or `ABSENT`.
    ran
        Index into `told`, or `ABSENT`.
    told
        Every distinct thing that rounds told of their kernels.
    """

    heads: tuple[Head, ...]
    cases: tuple[Case, ...]
    time_us: NDArray[np.float64]
    plan_us: NDArray[np.float64]
    status: NDArray[np.int8]
    ran: NDArray[np.int32]
    told: tuple[Ran, ...] = field(repr=False)

    def keep(self, rounds: Sequence[int]) -> "Columns":
        """Return some of the rounds."""
        chosen = list(rounds)
        return Columns(
            tuple(self.heads[n] for n in chosen),
            self.cases,
            self.time_us[chosen],
            self.plan_us[chosen],
            self.status[chosen],
            self.ran[chosen],
            self.told,
        )


def sheet_of(found: Round, path: str, file_digest: str) -> Sheet:
    """Return one round as columns."""
    head = Head(
        path=path,
        file_digest=file_digest,
        id=found.id,
        campaign=found.campaign,
        started_at=found.started_at,
        tag=found.stack.tag,
        machine=found.machine.name,
        stack_digest=found.stack.digest,
        imported=tuple(sorted(found.stack.imported.items())),
        gpu_uuid=found.machine.gpu_uuid,
        tier=found.tier,
        stage=found.design.stage if found.design else "",
        warnings=found.warnings,
        setup=setup(found),
    )
    records = found.cases
    return Sheet(
        head,
        tuple(record.case for record in records),
        np.array([STATUSES.index(record.status) for record in records], dtype=np.int8),
        np.array([record.time_us or np.nan for record in records], dtype=np.float64),
        np.array([record.plan_time_us or np.nan for record in records], dtype=np.float64),
        tuple(_told(record) for record in records),
    )


def _told(record: CaseRecord) -> str:
    if record.facts is None and not record.kernels:
        return ""
    return msgspec.json.encode(Ran(record.facts, record.kernels)).decode()


def join_sheets(sheets: Sequence[Sheet]) -> Columns:
    """Return rounds as one table, in order of their start."""
    ordered = sorted(sheets, key=lambda sheet: (sheet.head.started_at, sheet.head.id))
    cases = {case: n for n, case in enumerate(dict.fromkeys(c for s in ordered for c in s.cases))}
    texts: dict[str, int] = {}
    shape = len(ordered), len(cases)
    time_us, plan_us = np.full(shape, np.nan), np.full(shape, np.nan)
    status = np.full(shape, ABSENT, dtype=np.int8)
    ran = np.full(shape, ABSENT, dtype=np.int32)
    for row, sheet in enumerate(ordered):
        at = [cases[case] for case in sheet.cases]
        time_us[row, at], plan_us[row, at], status[row, at] = (
            sheet.time_us,
            sheet.plan_us,
            sheet.status,
        )
        ran[row, at] = [texts.setdefault(t, len(texts)) if t else ABSENT for t in sheet.ran]
    told = tuple(msgspec.json.decode(text, type=Ran) for text in texts)
    heads = tuple(sheet.head for sheet in ordered)
    return Columns(heads, tuple(cases), time_us, plan_us, status, ran, told)
