"""Which rounds may be compared: only those taken with the same set-up."""

from collections.abc import Sequence

import msgspec

from regress.errors import UsageError
from workloads.record import Round

__all__ = ["Setup", "comparable", "differences", "setup"]

Setup = tuple[tuple[str, str | int | float], ...]
"""Names and values that must agree, in a fixed order."""


def setup(found: Round) -> Setup:
    """Return what must be equal for two rounds to be compared.

    Of the driver only the branch, the first number: patches of a branch are compared.
    """
    machine, protocol = found.machine, msgspec.structs.asdict(found.protocol)
    return (
        ("gpu", machine.gpu),
        ("SMs", machine.sm_count),
        ("driver branch", machine.driver.split(".", maxsplit=1)[0]),
        ("cuda", machine.cuda),
        ("nvcc", machine.nvcc),
        ("torch", machine.torch),
        ("timer", protocol.pop("timer")),
        *((f"protocol {name}", value) for name, value in sorted(protocol.items())),
    )


def comparable(base: Sequence[Round], head: Sequence[Round]) -> Setup:
    """Return the set-up under which both sides have rounds.

    If several do (say, before and after a driver update), it is the one with the most rounds of
    the side that has fewer, of those the latest.

    Raises
    ------
    UsageError
        If none does; the names that differ are given with both values.
    """
    shared = {setup(r) for r in base} & {setup(r) for r in head}
    if not shared:
        raise UsageError(_refusal(base[-1], head[-1]))

    def rank(key: Setup) -> tuple[int, str]:
        sides = [[r.started_at for r in side if setup(r) == key] for side in (base, head)]
        return min(map(len, sides)), max(map(max, sides))

    return max(shared, key=rank)


def differences(one: Round, other: Round) -> str:
    """Return the names that differ between the set-ups of two rounds, with both values."""
    return ", ".join(
        f"{name} ({ours or 'none'} against {theirs or 'none'})"
        for (name, ours), (_, theirs) in zip(setup(one), setup(other), strict=True)
        if ours != theirs
    )


def _refusal(base: Round, head: Round) -> str:
    return (
        f"{base.stack.tag} and {head.stack.tag} were measured with different set-ups: "
        f"{differences(base, head)}; measure both with the same"
    )
