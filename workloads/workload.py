"""A workload: what one attention call computes, with a slug as its identity."""

import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from workloads.kvlen import KvLengths
from workloads.shape import AttentionShape, DType

__all__ = ["Phase", "Workload", "parse"]

_SLUG: Final = re.compile(
    r"(?P<phase>decode|prefill)-h(?P<hq>\d+)x(?P<hkv>\d+)-d(?P<d>\d+)"
    r"-(?P<dtype>bf16|fp8|fp32)(?:-kv(?P<kv>bf16|fp8|fp32))?-p(?P<page>\d+)"
    r"(?:-q(?P<q>\d+)(?P<full>-full)?)?"
    r"-b(?P<batch>\d+)-(?P<dist>[a-z]+[a-z0-9.]*)-t(?P<total>\d+)"
)


class Phase(StrEnum):
    """Which part of serving the workload stands for."""

    DECODE = "decode"
    PREFILL = "prefill"


@dataclass(frozen=True, slots=True)
class Workload:
    """One attention call over a batch of requests.

    Attributes
    ----------
    phase
        Decode (one query token a request) or prefill.
    shape
        Heads, head dimension, data types, page size.
    kv
        KV tokens of each request.
    q_len
        Query tokens of each request; they are the last ones of the sequence.
    causal
        Whether a query token sees only KV tokens up to its own place.

    Raises
    ------
    ValueError
        If decode has more than one query token, or a request more query than KV tokens.
    """

    phase: Phase
    shape: AttentionShape
    kv: KvLengths
    q_len: int = 1
    causal: bool = field(default=False)

    def __post_init__(self) -> None:
        if self.q_len < 1:
            msg = f"a request has at least 1 query token, not {self.q_len}"
            raise ValueError(msg)
        if self.phase is Phase.DECODE and (self.q_len != 1 or self.causal):
            msg = "decode has one query token a request and no causal mask"
            raise ValueError(msg)
        if self.q_len > min(self.kv.lengths()):
            msg = f"{self.q_len} query tokens but a request of {min(self.kv.lengths())} KV tokens"
            raise ValueError(msg)

    @property
    def slug(self) -> str:
        """The identity, e.g. `decode-h32x4-d128-bf16-p16-b64-skew40-t262144`.

        `hQxK` heads, `d` head dimension, query type, `-kvT` if the KV type differs, `p` page
        size, for prefill `q` query tokens a request (`-full` if not causal), `b` batch size,
        the distribution and `t` total KV tokens.
        """
        s = self.shape
        kv_type = "" if s.kv_dtype is s.dtype else f"-kv{s.kv_dtype}"
        query = ""
        if self.phase is Phase.PREFILL:
            query = f"-q{self.q_len}" + ("" if self.causal else "-full")
        return (
            f"{self.phase}-h{s.q_heads}x{s.kv_heads}-d{s.head_dim}-{s.dtype}{kv_type}"
            f"-p{s.page_size}{query}-b{self.kv.batch}-{self.kv.distribution}-t{self.kv.total}"
        )


def parse(slug: str) -> Workload:
    """Return the workload whose slug this is: `parse(w.slug) == w`.

    Raises
    ------
    ValueError
        If the text is no slug, or one written in a non-canonical way.
    """
    match = _SLUG.fullmatch(slug)
    if match is None:
        msg = f"{slug!r} is no workload slug (as decode-h32x4-d128-bf16-p16-b64-uniform-t262144)"
        raise ValueError(msg)
    dtype = DType(match["dtype"])
    shape = AttentionShape(
        int(match["hq"]),
        int(match["hkv"]),
        int(match["d"]),
        dtype,
        DType(match["kv"] or dtype),
        int(match["page"]),
    )
    phase = Phase(match["phase"])
    workload = Workload(
        phase,
        shape,
        KvLengths(match["dist"], int(match["batch"]), int(match["total"])),
        int(match["q"] or 1),
        causal=phase is Phase.PREFILL and not match["full"],
    )
    if workload.slug != slug:
        msg = f"{slug!r} is not canonical: write {workload.slug!r}"
        raise ValueError(msg)
    return workload
