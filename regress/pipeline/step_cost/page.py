"""The generated parts of the page about step costs."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from regress.config import Config
from regress.model.thresholds import StackPair
from regress.pipeline.request import ANY_TIER, Request
from regress.pipeline.step_cost.profile import load_profile
from regress.pipeline.step_cost.step_cost import step_cost
from regress.pipeline.step_cost.trial import Trial, try_out
from regress.report.step_cost_markdown import render_step_cost_tables
from regress.store.tree import RECORDED
from workloads.record import Round

__all__ = ["PROFILES", "STEP_COST_PAGE", "step_cost_blocks"]

STEP_COST_PAGE: Final = "step-cost.md"
PROFILES: Final = Path(__file__).parents[2] / "profiles"
_SHOWN: Final = (
    ("qwen3-30b-a3b.toml", StackPair("v0.6.1", "v0.6.4")),
    ("qwen3-30b-a3b-serving.toml", StackPair("v0.6.1", "v0.6.4")),
    ("llama-3-8b.toml", StackPair(None, "v0.6.4")),
)
_TRIED: Final = "v0.6.4"


def step_cost_blocks(rounds: Mapping[str, Sequence[Round]], config: Config) -> dict[str, str]:
    """Return the tables of the shipped profiles and the errors of interpolation, by block.

    Raises
    ------
    RegressError
        If the recorded rounds are damaged or lack a stack.
    """
    return {
        "step-costs": "\n".join(_costs(name, stacks, config) for name, stacks in _SHOWN),
        "interpolation": _errors(try_out(_TRIED, rounds[_TRIED])),
    }


def _costs(name: str, stacks: StackPair, config: Config) -> str:
    tags = " ".join(tag for tag in (stacks.base, stacks.head) if tag)
    command = f"python -m regress step-cost regress/profiles/{name} {tags} --recorded"
    request = Request((RECORDED,), None, ANY_TIER, None, command)
    report = step_cost(load_profile(PROFILES / name), stacks, request, config)
    return f"### `{name}`, {tags.replace(' ', ' → ')}\n\n{render_step_cost_tables(report)}"


def _errors(trial: Trial) -> str:
    return (
        f"Of {trial.cases} decode cases of {_TRIED}, left out one at a time, {trial.tried} lie "
        f"between such neighbours. The line was off by {trial.median:.1%} (median), "
        f"{trial.most:.1%} at worst.\n"
    )
