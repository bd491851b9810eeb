"""Rules about the card: what makes its times worthless, or unlike those of other hosts."""

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from benchmarks.doctor.rule import Rule, Severity
from benchmarks.doctor.snapshot import Card, Host

__all__ = ["CARD_RULES"]

_AMPERE: Final = (8, 0)
_HOPPER: Final = (9, 0)
_GIB: Final = 1 << 30
_IDLE_BYTES: Final = 2 * _GIB
_IDLE_PERCENT: Final = 10
_NAMED_PROCESSES: Final = 5

_SLOWDOWNS: Final = {
    0x8: "hardware slowdown",
    0x20: "software thermal slowdown",
    0x40: "hardware thermal slowdown",
    0x80: "power brake",
}
"""Bits of NVML's mask that say the card or its host is in trouble."""
_LIMITS: Final = {0x4: "power cap", 0x10: "sync boost"}
_CLOCK_SETTING: Final = 0x2
_HARDWARE_XIDS: Final = frozenset({48, 62, 63, 64, 74, 79, 92, 94, 95, 119, 120})
"""Of memory, links, firmware or the bus; the others are mostly faults of programs."""


def _of_card(check: Callable[[Card], Iterable[str]]) -> Callable[[Host], Iterable[str]]:
    return lambda host: check(host.card) if host.card else ()


def _old(card: Card) -> Iterator[str]:
    if card.capability and card.capability < _AMPERE:
        yield "{} has compute capability {}.{}".format(card.name, *card.capability)


def _not_hopper(card: Card) -> Iterator[str]:
    if card.capability and _AMPERE <= card.capability != _HOPPER:
        yield "{} has compute capability {}.{}".format(card.name, *card.capability)


def _mig(card: Card) -> Iterator[str]:
    if card.mig:
        yield f"{card.name} is in MIG mode"


def _busy(card: Card) -> Iterator[str]:
    named = [f"{p.name or 'a process'} ({p.pid})" for p in card.processes[:_NAMED_PROCESSES]]
    more = len(card.processes) - len(named)
    if named:
        yield f"on the GPU: {', '.join(named)}" + (f" and {more} more" if more else "")


def _hidden_load(card: Card) -> Iterator[str]:
    if card.processes:
        return
    if (card.busy_percent or 0) >= _IDLE_PERCENT:
        yield f"the GPU is {card.busy_percent} % busy, and no process is seen"
    elif (card.used_bytes or 0) >= _IDLE_BYTES:
        yield f"{(card.used_bytes or 0) / _GIB:.1f} GiB are in use, and no process is seen"


def _slowdown(card: Card) -> Iterator[str]:
    yield from _named(card, _SLOWDOWNS)


def _held_back(card: Card) -> Iterator[str]:
    yield from _named(card, _LIMITS)


def _named(card: Card, reasons: dict[int, str]) -> Iterator[str]:
    active = [name for bit, name in reasons.items() if (card.throttle or 0) & bit]
    if active:
        yield f"clocks are held back now by: {', '.join(active)}"


def _power_cap(card: Card) -> Iterator[str]:
    cap, default = card.power_cap_w, card.power_default_w
    if cap is not None and default is not None and cap < default:
        yield f"the power cap is {cap:.0f} W, the default is {default:.0f} W"


def _clocks(card: Card) -> Iterator[str]:
    known = card.set_mhz is not None and card.default_mhz is not None
    if known and card.set_mhz != card.default_mhz:
        yield f"the SM clock is set to {card.set_mhz} MHz, the default is {card.default_mhz}"
    elif (card.throttle or 0) & _CLOCK_SETTING:
        yield "the clocks are held by a setting"


def _persistence(card: Card) -> Iterator[str]:
    if card.persistence is False:
        yield "persistence mode is off"


def _ecc(card: Card) -> Iterator[str]:
    if card.ecc_errors:
        yield f"{card.ecc_errors} uncorrected memory errors since the driver was loaded"


def _repair(card: Card) -> Iterator[str]:
    if card.repair:
        yield "rows of GPU memory wait for repair or could not be repaired"


def _xid(card: Card) -> Iterator[str]:
    bad = sorted(_HARDWARE_XIDS.intersection(card.xids or ()))
    if bad:
        yield f"the kernel's log has Xid {', '.join(map(str, bad))} of this GPU"


def _unread(card: Card) -> Iterator[str]:
    if card.unread:
        yield f"not checked, as this host does not tell: {', '.join(card.unread)}"


CARD_RULES: Final[tuple[Rule, ...]] = (
    Rule(
        "old-gpu",
        Severity.ERROR,
        "GPU too old",
        "The libraries have no kernels for it.",
        "measure on a Hopper GPU",
        _of_card(_old),
    ),
    Rule(
        "not-hopper",
        Severity.WARNING,
        "Not a Hopper GPU",
        "fa3 kernels and what `auto` resolves to on Hopper are not measured.",
        "measure on a Hopper GPU if those matter",
        _of_card(_not_hopper),
    ),
    Rule(
        "mig",
        Severity.ERROR,
        "MIG mode",
        "What runs in other parts of the card moves this one's clocks, which cannot be read.",
        "measure on a whole card: `nvidia-smi -mig 0`",
        _of_card(_mig),
    ),
    Rule(
        "busy",
        Severity.ERROR,
        "GPU in use",
        "Another process takes time, memory bandwidth and power from what is measured.",
        "end it, wait for it, or choose another GPU by CUDA_VISIBLE_DEVICES",
        _of_card(_busy),
    ),
    Rule(
        "hidden-load",
        Severity.ERROR,
        "GPU in use by someone unseen",
        "A process in another container takes time, bandwidth and power from what is measured.",
        "look with `nvidia-smi` outside of the container, and wait for it or end it",
        _of_card(_hidden_load),
    ),
    Rule(
        "slowdown",
        Severity.ERROR,
        "Clocks slowed down for safety",
        "Heat, power supply or a fault decide the times.",
        "let it cool; look at fans, airflow and power supply",
        _of_card(_slowdown),
    ),
    Rule(
        "held-back",
        Severity.WARNING,
        "Clocks held back",
        "An idle card should not be: rounds will be noisier.",
        "run doctor again when the GPU has been idle for a minute",
        _of_card(_held_back),
    ),
    Rule(
        "power-cap",
        Severity.WARNING,
        "Power cap below the default",
        "Long prefill is slower than on other cards of this model; comparisons on this one hold.",
        "`nvidia-smi -pl` with the default, or keep it so for all rounds",
        _of_card(_power_cap),
    ),
    Rule(
        "clocks-set",
        Severity.WARNING,
        "Clocks are set",
        "Times differ from those at free clocks; comparisons on this host hold.",
        "`nvidia-smi -rgc` and `nvidia-smi -rac`, or keep them so for all rounds",
        _of_card(_clocks),
    ),
    Rule(
        "persistence",
        Severity.WARNING,
        "Persistence mode off",
        "The driver lets the card go between rounds: they start slowly, with other clocks.",
        "`nvidia-smi -pm 1`, or run nvidia-persistenced",
        _of_card(_persistence),
    ),
    Rule(
        "ecc",
        Severity.ERROR,
        "Uncorrected memory errors",
        "Data were wrong; programs on the card may have been killed.",
        "reset the GPU or restart the host; if it comes back, have the card replaced",
        _of_card(_ecc),
    ),
    Rule(
        "repair",
        Severity.ERROR,
        "GPU memory needs repair",
        "Memory that failed is still in use.",
        "reset the GPU or restart the host; if it stays, have the card replaced",
        _of_card(_repair),
    ),
    Rule(
        "xid",
        Severity.WARNING,
        "Hardware errors in the log",
        "The card, its link or its firmware failed since the host was started.",
        "look them up in NVIDIA's list of Xid errors; restart the host if they are new",
        _of_card(_xid),
    ),
    Rule(
        "unread",
        Severity.WARNING,
        "Not all could be checked",
        "Virtual cards and containers hide some facts.",
        "run doctor outside of the container, or as a user that may read the kernel's log",
        _of_card(_unread),
    ),
)
"""Asked in this order."""
