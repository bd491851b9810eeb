"""The signal "data missing": from the rounds that are there, whatever became of the jobs."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from regress.counted import counted
from regress.model.alert import Alert, Assessment, Cleared, Signal
from regress.pipeline.nights import start_of
from workloads.record import Round

__all__ = ["assess_data"]


def assess_data(
    machine: str, rounds: Iterable[Round], now: datetime, within_days: int
) -> Assessment:
    """Return an alert if a machine's newest round is older than `within_days`, or there is none."""
    key = f"{Signal.DATA_MISSING}:{machine}"
    newest = max(rounds, key=start_of, default=None)
    if newest is None:
        told = f"{machine} has no rounds at all."
        return Assessment((Alert(Signal.DATA_MISSING, key, f"{machine} has no rounds", told),))
    start = start_of(newest)
    if now - start <= timedelta(days=within_days):
        cleared = Cleared(key, f"{machine} has rounds of {start:%Y-%m-%d} again.")
        return Assessment(cleared=(cleared,))
    age = counted((now - start).days, "day")
    alert = Alert(
        Signal.DATA_MISSING,
        key,
        f"{machine} has had no new rounds for {age}",
        f"The newest round of {machine} is {age} old: nothing is known of what came later.",
        (
            f"newest round: {newest.stack.tag}, {start:%Y-%m-%d %H:%M} UTC, {newest.campaign}",
            f"rounds are expected every {counted(within_days, 'day')}",
        ),
    )
    return Assessment((alert,))
