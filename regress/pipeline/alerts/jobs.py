"""The signal "job failed": from what GitHub says of the jobs of a run."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec

from regress.errors import UsageError
from regress.model.alert import Alert, Assessment, Cleared, Signal

__all__ = ["assess_jobs", "broken_step", "judged_step", "load_needs"]

_FAILED: Final = frozenset({"failure", "cancelled"})
"""A job that ran out of time, or that no runner took, is one of these."""


class _Job(msgspec.Struct, frozen=True):
    result: str


def load_needs(path: Path) -> Mapping[str, str]:
    """Return the result of each job from a file that holds GitHub's context `needs` as JSON.

    Raises
    ------
    UsageError
        If it cannot be read or is something else.
    """
    try:
        jobs = msgspec.json.decode(path.read_bytes(), type=dict[str, _Job])
    except (OSError, msgspec.DecodeError) as error:
        msg = f"--needs {path} is no context `needs` of GitHub as JSON: {error}"
        raise UsageError(msg) from error
    return {name: job.result for name, job in jobs.items()}


def assess_jobs(results: Mapping[str, str], said: tuple[str, ...] = ()) -> Assessment:
    """Return an alert for each job that failed; a skipped job says nothing.

    Parameters
    ----------
    results
        GitHub's result by job.
    said
        What the jobs themselves wrote of their faults, e.g. the findings of the doctor.
    """
    alerts = tuple(
        Alert(
            Signal.JOB_FAILED,
            _key(job),
            f"nightly job {job} failed",
            f"The job {job} ended with {result}: nothing is known of what it would have said.",
            said,
        )
        for job, result in results.items()
        if result in _FAILED
    )
    cleared = tuple(
        Cleared(_key(job), f"The job {job} ended with success.")
        for job, result in results.items()
        if result == "success"
    )
    return Assessment(alerts, cleared)


def broken_step(step: str, message: str) -> Assessment:
    """Return the alert for a step of the judging that ended with a message."""
    told = f"{step} could not be judged: nothing is known of it."
    alert = Alert(Signal.JOB_FAILED, _key(step), f"{step} could not be judged", told, (message,))
    return Assessment((alert,))


def judged_step(step: str) -> Cleared:
    """Return the proof that a step of the judging went well."""
    return Cleared(_key(step), f"{step} was judged.")


def _key(name: str) -> str:
    return f"{Signal.JOB_FAILED}:{name}"
