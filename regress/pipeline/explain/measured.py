"""Recorded times of one workload."""

from collections import defaultdict
from statistics import median

from packaging.version import InvalidVersion, Version

from regress.model.explain import Measured
from regress.pipeline.explain.timed import MACHINE
from regress.store.load import load_round
from regress.store.tree import RECORDED, scan

__all__ = ["load_measured"]


def load_measured(slug: str, release: str | None) -> dict[str, Measured]:
    """Return the recorded times of a workload on the H200, by backend.

    Parameters
    ----------
    release
        Of FlashInfer, whose stack is meant; None for the newest that was recorded.

    Raises
    ------
    UsageError
        If a round file is damaged.
    """
    tree = scan((RECORDED,))
    tags = [tag for tag in tree.tags(MACHINE) if release is None or tag == f"v{release}"]
    if not tags:
        return {}
    stack = max(tags, key=_age)
    times: dict[str, list[float]] = defaultdict(list)
    rounds = [load_round(path) for path in tree.files[MACHINE, stack]]
    for one in rounds:
        for record in one.cases:
            if record.case.workload == slug and record.time_us is not None:
                times[record.case.backend].append(record.time_us)
    gpu = rounds[-1].machine.gpu
    return {name: Measured(gpu, stack, len(us), median(us)) for name, us in times.items()}


def _age(tag: str) -> tuple[bool, Version]:
    try:
        return True, Version(tag.removeprefix("v"))
    except InvalidVersion:
        return False, Version("0")
