"""KV-length distributions over the requests of a batch, as exact integer lengths."""

import math
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

__all__ = ["KvLengths"]

_SKEWED = re.compile(r"(skew|two)([1-9][0-9]?)")
_SEEDED = re.compile(r"(lognormal|zipf)\.s(0|[1-9][0-9]*)")
_LOGNORMAL_SIGMA = 1.0
_ZIPF_EXPONENT = 1.0


@dataclass(frozen=True, slots=True)
class KvLengths:
    """KV tokens of each request: a distribution, a batch size and an exact total.

    Attributes
    ----------
    distribution
        `uniform`; `skewP`: one request holds P % of the tokens, the others share the rest;
        `twoP`: two requests hold P % each; `lognormal.sN`, `zipf.sN`: serving-like, seed N
        (log-normal with sigma 1; Zipf weights 1/rank), in shuffled order.
    batch
        Number of requests.
    total
        KV tokens of the whole batch.

    Raises
    ------
    ValueError
        If the distribution is unknown or the tokens do not give every request at least one.
    """

    distribution: str
    batch: int
    total: int

    def __post_init__(self) -> None:
        if self.batch < 1:
            msg = f"a batch has at least 1 request, not {self.batch}"
            raise ValueError(msg)
        if min(self.lengths()) < 1:
            msg = (
                f"{self.total} KV tokens as {self.distribution} over {self.batch} requests "
                "leave a request without tokens"
            )
            raise ValueError(msg)

    def lengths(self) -> tuple[int, ...]:
        """KV tokens per request, shape (batch,), sum exactly `total`."""
        if self.distribution == "uniform":
            return _even(self.total, self.batch)
        if match := _SKEWED.fullmatch(self.distribution):
            return self._skewed({"skew": 1, "two": 2}[match[1]], int(match[2]))
        if match := _SEEDED.fullmatch(self.distribution):
            return _apportion(_weights(match[1], self.batch, int(match[2])), self.total)
        msg = (
            f"unknown KV distribution {self.distribution!r}: use uniform, skewP, twoP, "
            "lognormal.sN or zipf.sN"
        )
        raise ValueError(msg)

    def _skewed(self, heavy: int, percent: int) -> tuple[int, ...]:
        if self.batch <= heavy:
            msg = f"{self.distribution} needs more than {heavy} requests, not {self.batch}"
            raise ValueError(msg)
        long = self.total * percent // 100
        return (long,) * heavy + _even(self.total - heavy * long, self.batch - heavy)


def _even(total: int, parts: int) -> tuple[int, ...]:
    base, extra = divmod(total, parts)
    return (base + 1,) * extra + (base,) * (parts - extra)


def _weights(kind: str, batch: int, seed: int) -> list[float]:
    # Only random() and inverse CDFs: Python guarantees that sequence across versions.
    draws = random.Random(seed)  # noqa: S311 - reproducible, not secret
    if kind == "lognormal":
        normal = NormalDist()
        return [
            math.exp(_LOGNORMAL_SIGMA * normal.inv_cdf(draws.random() or 0.5)) for _ in range(batch)
        ]
    ranked = [1 / rank**_ZIPF_EXPONENT for rank in range(1, batch + 1)]
    order = sorted(range(batch), key=[draws.random() for _ in range(batch)].__getitem__)
    return [ranked[i] for i in order]


def _apportion(weights: Sequence[float], total: int) -> tuple[int, ...]:
    """Split `total` by largest remainders, after giving everyone one token."""
    spare = total - len(weights)
    shares = [spare * w / math.fsum(weights) for w in weights]
    floors = [math.floor(s) for s in shares]
    missing = spare - sum(floors)
    by_remainder = sorted(range(len(shares)), key=lambda i: (floors[i] - shares[i], i))
    for i in by_remainder[:missing]:
        floors[i] += 1
    return tuple(f + 1 for f in floors)
