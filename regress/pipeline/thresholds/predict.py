"""What the model of a planner predicts along an axis, for the GPU that the rounds name."""

from collections.abc import Sequence
from math import ceil
from typing import Final

from msgspec.structs import replace

from regress.config import ThresholdsRule
from regress.detect.threshold_bisect import narrowed, next_batches
from regress.model.line import Axis
from regress.model.thresholds import Bracket
from regress.pipeline.thresholds.lines import parsed
from workloads.backend import backend
from workloads.devices import DEVICES, Device
from workloads.planner import plan
from workloads.record import Machine, Round

__all__ = ["device_of", "occupancy_of", "predicted_of"]

_CUDA: Final = "flashinfer-decode-cuda"
_SERVING: Final = "flashinfer-decode-cuda-serving"


def predicted_of(axis: Axis, rounds: Sequence[Round], rule: ThresholdsRule) -> Bracket | None:
    """Return where the model stops splitting, or None if it does not know backend or GPU.

    Looked for by bisection: along an axis a planner that has stopped does not begin again.
    """
    latest = rounds[-1]
    device = device_of(latest.machine)
    if device is None:
        return None
    version = latest.stack.imported.get(backend(axis.backend).library)
    occupancy = occupancy_of(axis.shape, rounds) if axis.backend.startswith(_CUDA) else None
    known: dict[int, bool] = {}
    unlimited = replace(rule, most_batches=rule.largest_batch)
    while tried := next_batches(known, None, unlimited):
        for batch in tried:
            workload = parsed(axis.case(batch).workload)
            try:
                made = plan(axis.backend, workload, device, version=version, occupancy=occupancy)
            except ValueError:
                # The model says so where it knows nothing of a backend, type or head count.
                return None
            known[batch] = max(made.splits) > 1
    return narrowed(known, rule)


def device_of(machine: Machine) -> Device | None:
    """Return the GPU of a round, known by its name and its SMs; None if the table lacks it."""
    words = machine.gpu.lower().split()
    fitting = (d for d in DEVICES if d.name.partition("-")[0] in words)
    return next((d for d in fitting if d.sms == machine.sm_count), None)


def occupancy_of(shape: str, rounds: Sequence[Round]) -> int | None:
    """Return the CTAs of the CUDA-core decode kernel on an SM, as a plan for serving tells it.

    Such a plan pads its grid to all CTAs that the GPU holds, as long as the batch is smaller.
    """
    padded = [
        (record.facts.padded_batch, parsed(record.case.workload).shape.kv_heads, r.machine.sm_count)
        for r in rounds
        for record in r.cases
        if record.case.backend == _SERVING
        and record.case.workload.startswith(f"{shape}-b")
        and record.facts is not None
        and record.facts.padded_batch is not None
    ]
    if not padded:
        return None
    batch, kv_heads, sms = min(padded)
    return ceil(batch * kv_heads / sms)
