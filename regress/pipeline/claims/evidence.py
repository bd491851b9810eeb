"""What claims are judged by: medians, plans and kernels of the recorded rounds of one stack."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

from regress.config import ThresholdsRule
from regress.model.line import Axis
from regress.model.shape import ShapeFinding, ShapeKind
from regress.model.thresholds import Numbers
from regress.pipeline.thresholds.lines import Found, parsed, times_of
from workloads.backend import backend
from workloads.record import Case, CaseRecord, Round

__all__ = ["CUDA", "FA2", "FA3", "VARLEN", "Evidence", "Known", "LackingError", "only", "span"]

CUDA: Final = "flashinfer-decode-cuda"
FA2: Final = "flashinfer-decode-tc-fa2"
FA3: Final = "flashinfer-decode-tc-fa3"
VARLEN: Final = "fa3-varlen"
_QWEN3: Final = "decode-h32x4-d128-bf16-p16"
_TOKENS: Final = 262_144


class LackingError(Exception):
    """The recorded rounds do not hold what a claim needs; the message says what."""


class Known(dict[int, float]):
    """Numbers by batch size; one that is lacking is said so."""

    def __init__(self, what: str, items: Iterable[tuple[int, float]]) -> None:
        super().__init__(items)
        self._what = what

    def __missing__(self, batch: int) -> float:
        msg = f"no recorded round measured {self._what} at batch {batch}"
        raise LackingError(msg)


@dataclass(frozen=True, slots=True)
class Evidence:
    """The recorded rounds of one stack, sorted.

    Attributes
    ----------
    rounds
        All of them share a set-up.
    lines
        The numbers of every line of growing batches.
    shapes
        What the curves look like.
    """

    rounds: Sequence[Round]
    found: Mapping[Case, Found]
    lines: Mapping[Axis, Numbers]
    shapes: Sequence[ShapeFinding]
    rule: ThresholdsRule

    @property
    def sms(self) -> int:
        """SMs of the GPU."""
        return self.rounds[-1].machine.sm_count

    def us(self, case: Case) -> float:
        """Return the median time of a case over rounds, in microseconds.

        Raises
        ------
        LackingError
            If it was not measured.
        """
        times = times_of(self.found[case]) if case in self.found else {}
        if not times:
            msg = f"no recorded round measured {case}"
            raise LackingError(msg)
        return median(us for campaign in times.values() for us in campaign)

    def skew_us(self, name: str, batch: int, distribution: str) -> float:
        """Return a time of the decode sweep: 32/4 heads, 262,144 KV tokens."""
        return self.us(Case(f"{_QWEN3}-b{batch}-{distribution}-t{_TOKENS}", name))

    def penalties(self, name: str, distribution: str) -> Known:
        """Return skewed over uniform time by batch size, along the decode sweep."""
        batches = self.line(name, distribution).batches
        return Known(
            f"{name} on {distribution} and uniform",
            (
                (b, self.skew_us(name, b, distribution) / self.skew_us(name, b, "uniform"))
                for b in batches
            ),
        )

    def axis(self, name: str, distribution: str, shape: str = _QWEN3) -> Axis:
        """Return an axis of the decode sweep."""
        return Axis(shape, _TOKENS, name, backend(name).mode, distribution)

    def line(self, name: str, distribution: str, shape: str = _QWEN3) -> Numbers:
        """Return the numbers of a line.

        Raises
        ------
        LackingError
            If the rounds hold none.
        """
        axis = self.axis(name, distribution, shape)
        if axis not in self.lines:
            msg = f"no recorded line {axis}"
            raise LackingError(msg)
        return self.lines[axis]

    def threshold(self, name: str, distribution: str, shape: str = _QWEN3) -> int:
        """Return the exact first batch that is not split.

        Raises
        ------
        LackingError
            If the recorded batch sizes only bracket it.
        """
        planned = self.line(name, distribution, shape).planned
        if planned is None or planned.first is None or not planned.exact:
            msg = f"the threshold of {name} on {distribution} is not exact in the recorded rounds"
            raise LackingError(msg)
        return planned.first

    def records(self, name: str) -> Iterator[tuple[Case, CaseRecord]]:
        """Yield every record of a backend that was measured."""
        for case, found in self.found.items():
            if case.backend == name:
                for _, _, record in found.records:
                    if record.time_us is not None:
                        yield case, record

    def curves(self, kind: ShapeKind, name: str = "") -> list[ShapeFinding]:
        """Return what was found of a kind of shape, of one backend if it is named.

        Raises
        ------
        LackingError
            If the rounds hold no such curve.
        """
        fitting = [s for s in self.shapes if s.kind is kind and name in {"", s.backend}]
        if not fitting:
            msg = f"no recorded curve for {kind} {name}".rstrip()
            raise LackingError(msg)
        return fitting

    def rates(self, name: str, shape: str, kv_len: int) -> Known:
        """Return tokens a second of the kernel alone by batch size, at equal KV length.

        Raises
        ------
        LackingError
            If the rounds hold none; and later, if one is asked for that they do not hold.
        """
        rates: dict[int, float] = {}
        for case in self.found:
            workload = parsed(case.workload)
            kv = workload.kv
            head = f"{shape}-b{kv.batch}-uniform-t{kv.batch * kv_len}"
            if case == Case(head, name) and times_of(self.found[case]):
                rates[kv.batch] = kv.batch / self.us(case) * 1e6
        if not rates:
            msg = f"no recorded round has {name} on {shape} with {kv_len} KV tokens a request"
            raise LackingError(msg)
        return Known(f"{name} on {shape}, {kv_len} KV tokens a request", sorted(rates.items()))


def only(curves: Sequence[ShapeFinding], where: str) -> ShapeFinding:
    """Return the one curve that fits.

    Raises
    ------
    LackingError
        If the rounds hold none.
    """
    if len(curves) != 1:
        msg = f"no recorded curve on {where}"
        raise LackingError(msg)
    return curves[0]


def span(values: Sequence[float], digits: int = 2) -> str:
    """Return the smallest and the largest of some numbers, e.g. `1.02 to 3.50`.

    Raises
    ------
    LackingError
        If there is none.
    """
    if not values:
        msg = "no recorded round has the batch sizes that this compares"
        raise LackingError(msg)
    low, high = f"{min(values):,.{digits}f}", f"{max(values):,.{digits}f}"
    return low if low == high else f"{low} to {high}"
