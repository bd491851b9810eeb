"""The whole of `calibrate`: recorded rounds in, the suite's own error rates out."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from regress.config import Config
from regress.counted import counted
from regress.detect.decide import bounds
from regress.errors import NoDataError
from regress.model.calibration import CALIBRATION_SCHEMA, Calibration, CellNoise, GateTrace
from regress.model.finding import Metric
from regress.model.rates import Group, NullRate, RuleRate
from regress.pipeline.calibrate.data import (
    LEAST_PROCESSES,
    Stratum,
    pick_rounds,
    strata_of_twins,
)
from regress.pipeline.calibrate.hidden import HIDDEN, HiddenGate, hidden_power, slowed
from regress.pipeline.calibrate.noise import campaigns_used, cell_noise, limits_of_twins
from regress.pipeline.calibrate.null import (
    ACROSS,
    HELD_OUT,
    POOLED,
    NullGate,
    NullOutcome,
    null_rates,
    trace_of,
)
from regress.pipeline.calibrate.power import PowerGate, PowerOutcome, detectable, power_of
from regress.pipeline.calibrate.rules import COMPARED, RulesGate, rule_rates
from regress.pipeline.calibrate.setting import Setting, run_jobs, source_of, workers_of
from regress.pipeline.calibrate.targets import ALL_SMALL, targets
from regress.pipeline.calibrate.twins import offsets, uniformity
from regress.pipeline.cells import index
from regress.stats.rates import require_scipy
from regress.store.setup import setup
from workloads import catalog
from workloads.record import Case, Round

__all__ = ["Simulated", "Simulation", "calibrate", "digest_of", "noise_of", "setting_of"]

_TRACED = 20
_POWER_SHARE = 20
_COMPARED_SHARE = 40
_RULES_SHARE = 8
_PLANTING = 6
_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class Simulated:
    """How much is simulated.

    Attributes
    ----------
    gates
        Null gates of each kind. Planted changes are tried in a twentieth of that number, other
        rules on an eighth without and a fortieth with planted changes.
    workers
        Processes to simulate with; the results do not depend on it.
    """

    tier: str
    gates: int
    seed: int
    workers: int
    twins: tuple[str, ...]
    command: str


def calibrate(
    rounds: Mapping[str, Sequence[Round]], wanted: Simulated, config: Config
) -> Calibration:
    """Measure noise and error rates.

    Parameters
    ----------
    rounds
        All rounds of a machine by stack.

    Raises
    ------
    UsageError
        If scipy is missing.
    NoDataError
        If no campaign has enough rounds of the twins.
    """
    require_scipy()
    used = pick_rounds(rounds, wanted.twins)
    strata = strata_of_twins(used, wanted.twins, wanted.tier)
    if not strata:
        msg = (
            f"no campaign has {LEAST_PROCESSES} rounds of {' and '.join(wanted.twins)} that hold "
            f"tier {wanted.tier}: measure them first"
        )
        raise NoDataError(msg)
    with workers_of(wanted.workers) as executor:
        return rounded(Simulation(used, strata, wanted, config, executor).run())


def noise_of(used: Sequence[Round], twins: Sequence[str], config: Config) -> tuple[CellNoise, ...]:
    """Return the noise of every case that these rounds time."""
    return cell_noise(index(used), {r.id: r.stack.tag for r in used}, twins, config)


def setting_of(
    strata: Sequence[Stratum], cells: Sequence[CellNoise], wanted: Simulated, config: Config
) -> Setting:
    """Return what simulated gates need."""
    cases = strata[0].cases
    known = {c.case: c for c in cells}
    simulated = [known[case] for case in cases]
    limits = limits_of_twins([r for s in strata for r in s.rounds], simulated, config)
    return Setting(
        sources=tuple(source_of(s, wanted.twins) for s in strata),
        cases=cases,
        families=tuple(known[case].family for case in cases),
        limits=tuple(limits[case] for case in cases),
        large=tuple(known[case].time_us >= config.noise.small_below_us for case in cases),
        rule=config.ab,
        seed=wanted.seed,
    )


@dataclass(frozen=True, slots=True)
class Simulation:
    """A calibration being made.

    Attributes
    ----------
    used
        All rounds that tell noise.
    strata
        Campaigns to draw gates from: at least one.
    executor
        Simulates; None for this process.
    """

    used: tuple[Round, ...]
    strata: tuple[Stratum, ...]
    wanted: Simulated
    config: Config
    executor: Executor | None
    cells: tuple[CellNoise, ...] = field(init=False)
    setting: Setting = field(init=False)

    def __post_init__(self) -> None:
        """Work out noise and limits."""
        cells = noise_of(self.used, self.wanted.twins, self.config)
        setting = setting_of(self.strata, cells, self.wanted, self.config)
        object.__setattr__(self, "cells", cells)
        object.__setattr__(self, "setting", setting)

    def run(self) -> Calibration:
        """Simulate everything."""
        wanted, setting = self.wanted, self.setting
        null, trace = self.null()
        power = self._run(PowerGate(setting), range(self._part))
        powers = power_of(power, self._groups())
        rules = self.rules()
        drawn = {s.campaign: len(s.rounds) for s in self.strata}
        campaigns = campaigns_used(self.used, self.cells, drawn, wanted.tier)
        return Calibration(
            schema=CALIBRATION_SCHEMA,
            command=wanted.command,
            machine=self.used[0].machine.name,
            setup=dict(setup(self.used[0])),
            thresholds=digest_of(self.config),
            seed=wanted.seed,
            gates=wanted.gates,
            tier=wanted.tier,
            twins=wanted.twins,
            rounds=tuple(r.id for r in self.used),
            until=max(r.started_at for r in self.used),
            campaigns=campaigns,
            cells=self._with_detectable(power),
            null=null,
            power=powers,
            hidden=hidden_power(self.hidden(), self._groups()),
            offsets=offsets(setting.sources, setting.cases, self.config.ab.margin.minimum),
            uniformity=uniformity(setting.sources, wanted.seed),
            rules=rules,
            targets=targets(campaigns, null, powers, rules),
            trace=trace,
            warnings=self._warnings(),
        )

    def null(self) -> tuple[tuple[NullRate, ...], tuple[GateTrace, ...]]:
        """Return the rates of gates in which nothing changed, and the first of these gates."""
        numbers = range(self.wanted.gates)
        pooled = self._run(NullGate(self.setting, POOLED), numbers)
        families = tuple(dict.fromkeys(self.setting.families))
        rates = [*null_rates(pooled, POOLED, families)]
        if held_out := self._held_out():
            rates += null_rates(held_out, HELD_OUT, families)
        sided = self.setting.sided(self.config.kernel_time.min_rounds)
        if sided.sources:
            rates += null_rates(self._run(NullGate(sided, ACROSS), numbers), ACROSS, families)
        return tuple(rates), trace_of(pooled[:_TRACED])

    def _held_out(self) -> list[NullOutcome]:
        """Simulate each campaign's gates with the floors that all other campaigns give."""
        found: list[NullOutcome] = []
        for stratum in self.strata if len(self.strata) > 1 else ():
            others = [r for r in self.used if r.campaign != stratum.campaign]
            cells = noise_of(others, self.wanted.twins, self.config)
            if {*stratum.cases} <= {c.case for c in cells}:
                setting = setting_of((stratum,), cells, self.wanted, self.config)
                numbers = range(self.wanted.gates // len(self.strata))
                found += self._run(NullGate(setting, HELD_OUT), numbers)
        return found

    def hidden(self) -> list[NDArray[np.bool_]]:
        """Return what gates find of passes that are slow now and then."""
        rng = np.random.default_rng([self.wanted.seed, _PLANTING])
        planted = tuple(
            tuple(slowed(s, share, rng) for share in HIDDEN.values()) for s in self.strata
        )
        return self._run(HiddenGate(self.setting, planted), range(self._part))

    def rules(self) -> tuple[RuleRate, ...]:
        """Return the rates of all rules, ours among them."""
        known, rule = self._known, self.config.kernel_time
        limits = tuple(
            bounds(rule, upper_noise(known[case]), small=not large, block=False)
            for case, large in zip(self.setting.cases, self.setting.large, strict=True)
        )
        planted = RulesGate(self.setting, limits, rule, COMPARED)
        part = max(self.wanted.gates // _COMPARED_SHARE, 2)
        rest = range(part, max(self.wanted.gates // _RULES_SHARE, part))
        return rule_rates(
            self._run(replace(planted, planted=()), rest), self._run(planted, range(part))
        )

    def _run(self, job: Callable[[int], _Result], numbers: range) -> list[_Result]:
        return run_jobs(job, numbers, self.executor)

    @property
    def _part(self) -> int:
        return max(self.wanted.gates // _POWER_SHARE, 2)

    @property
    def _known(self) -> dict[Case, CellNoise]:
        return {c.case: c for c in self.cells}

    def _groups(self) -> dict[str, tuple[int, ...]]:
        """Return the simulated cells of each group and family that has any."""
        kinds = [self._known[case].group for case in self.setting.cases]
        pairs = list(zip(kinds, self.setting.families, strict=True))
        names = (*Group, *dict.fromkeys(self.setting.families))
        found = {str(name): tuple(n for n, p in enumerate(pairs) if name in p) for name in names}
        found[ALL_SMALL] = tuple(n for n, large in enumerate(self.setting.large) if not large)
        return {name: members for name, members in found.items() if members}

    def _with_detectable(self, power: Sequence[PowerOutcome]) -> tuple[CellNoise, ...]:
        least, more = (
            dict(zip(self.setting.cases, detectable(power, share), strict=True))
            for share in (0.80, 0.95)
        )
        return tuple(
            msgspec.structs.replace(
                c, detectable_80=least.get(c.case), detectable_95=more.get(c.case)
            )
            for c in self.cells
            if upper_noise(c) is not None
        )

    def _warnings(self) -> tuple[str, ...]:
        known, tier = self._known, self.wanted.tier
        lost = [e.case for e in catalog.cases(tier) if e.case not in self.setting.cases]
        tried = sum(case in known for case in lost)
        unknown = sum(upper_noise(known[case]) is None for case in self.setting.cases)
        lines = []
        if lost:
            lines.append(
                f"{counted(len(lost), 'case')} of tier {tier} not simulated: not measured in "
                f"every round ({tried} of them in some)"
            )
        if unknown:
            lines.append(f"{counted(unknown, 'case')} with too few rounds for a noise of its own")
        return tuple(lines)


def upper_noise(cell: CellNoise) -> float | None:
    """Return the upper bound of a cell's noise in kernel time; None if unknown."""
    figure = cell.noise.get(Metric.KERNEL_TIME)
    return figure.upper if figure else None


def rounded(told: Calibration) -> Calibration:
    """Return the same with five significant digits: further ones differ between processors."""
    found: Calibration = msgspec.convert(_rounded(msgspec.to_builtins(told)), Calibration)
    return found


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.5g}")
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    return [_rounded(item) for item in value] if isinstance(value, list | tuple) else value


def digest_of(config: Config) -> str:
    """Return what tells thresholds apart that decide gates: 12 hex digits of their SHA-256."""
    deciding = config.kernel_time, config.spread, config.ab, config.noise
    return sha256(msgspec.json.encode(deciding, order="deterministic")).hexdigest()[:12]
