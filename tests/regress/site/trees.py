"""A folder of round files to make a site of: one recorded campaign, cut down to some cases."""

import gzip
import re
from pathlib import Path
from typing import Final

import msgspec

from regress.config import load_config
from regress.site.subject import Subject, load_subject
from regress.store.load import load_round
from regress.store.tree import RECORDED
from workloads import catalog
from workloads.record import Round

__all__ = ["CAMPAIGN", "subject_of", "write_part_of_recorded"]

_SOME: Final = re.compile(r"-b66-|-b32-skew|-q2-|-q8192-|fp8|-b128-")
CAMPAIGN = "20261129-h200"
"""It holds five releases, with a regression that a later one took back."""


def write_part_of_recorded(root: Path) -> list[Round]:
    """Write the campaign's rounds as if only some cases of the gate tier had been asked for."""
    gate = {entry.case for entry in catalog.cases("gate") if _SOME.search(entry.case.workload)}
    written = []
    for path in sorted((RECORDED / "h200").rglob("*.json.gz")):
        whole = load_round(path)
        if whole.campaign != CAMPAIGN:
            continue
        cases = tuple(record for record in whole.cases if record.case in gate)
        part = msgspec.structs.replace(whole, cases=cases, tier="custom", design=None)
        target = root / "h200" / part.stack.tag / path.name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(gzip.compress(msgspec.json.encode(part), mtime=0))
        written.append(part)
    return written


def subject_of(root: Path) -> Subject:
    """What a site of these rounds shows."""
    return load_subject((root,), None, f"--rounds {root}", load_config())
