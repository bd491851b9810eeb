"""A batch on a device, planned and timed by the models."""

from dataclasses import dataclass

from regress.model.explain import ModelError
from workloads.backend import backend
from workloads.devices import Device
from workloads.planner import Batch, Plan, plan_batch
from workloads.shape import AttentionShape
from workloads.simulator import Simulation, simulate
from workloads.simulator.rates import load_rates

__all__ = ["Subject", "describe_shape", "model_error", "plan_subject", "run_model"]


@dataclass(frozen=True, slots=True)
class Subject:
    """What is to be explained.

    Attributes
    ----------
    name
        Slug, or where the KV lengths are from.
    flashinfer
        Release whose rules apply; None for the newest known.
    occupancy
        CTAs of FlashInfer's CUDA-core kernel that an SM holds; None to take what is known.
    """

    name: str
    batch: Batch
    device: Device
    flashinfer: str | None = None
    occupancy: int | None = None


def plan_subject(subject: Subject, name: str) -> Plan:
    """Plan the batch on a backend.

    Raises
    ------
    ValueError
        If the backend cannot run it or is not known.
    """
    release = subject.flashinfer if backend(name).library == "flashinfer-python" else None
    given = subject.occupancy
    return plan_batch(name, subject.batch, subject.device, version=release, occupancy=given)


def run_model(plan: Plan, subject: Subject) -> Simulation:
    """Run a plan through the model of time.

    Raises
    ------
    ValueError
        If there is no such model; the message says why.
    """
    if plan.batch.q_len > 1:
        msg = "time is modelled for decode only"
        raise ValueError(msg)
    fitted = load_rates().paths.get(plan.path)
    if fitted is None:
        msg = f"no recorded round has run {plan.path}, so nothing is known of its speed"
        raise ValueError(msg)
    return simulate(plan, subject.device, fitted.rates)


def model_error(path: str) -> ModelError:
    """Return how far the model was off on recorded cells of a path that has rates."""
    rates = load_rates()
    known = rates.paths[path]
    return ModelError(rates.gpu, known.cells, known.median_error, known.most_error)


def describe_shape(shape: AttentionShape) -> str:
    """Return a shape in words."""
    return (
        f"{shape.q_heads}/{shape.kv_heads} heads, head dimension {shape.head_dim}, "
        f"{shape.dtype} query, {shape.kv_dtype} KV, page {shape.page_size}"
    )
