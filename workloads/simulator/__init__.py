"""How long a plan takes, by a model of the card that was fitted on recorded times."""

from workloads.simulator.simulate import Simulation, simulate

__all__ = ["Simulation", "simulate"]
