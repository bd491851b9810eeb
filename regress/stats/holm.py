"""Testing many hypotheses at once with one error rate for the whole family."""

from collections.abc import Sequence

__all__ = ["holm"]


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Return adjusted p-values, in the order given.

    Rejecting those of at most alpha falsely rejects anything with probability at most alpha,
    however the tests depend on each other (Holm 1979).
    """
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for place, index in enumerate(order):
        largest = max(largest, min(1.0, (len(p_values) - place) * p_values[index]))
        adjusted[index] = largest
    return tuple(adjusted)
