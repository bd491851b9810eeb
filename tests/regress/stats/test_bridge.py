"""Two stacks that share no campaign, through a reference."""

import numpy as np
import pytest

from regress.stats.bridge import bridged_p, bridged_shift
from regress.stats.exact import Strata, p_greater, swapped


def _sides(shift: float, seed: int = 1) -> tuple[Strata, Strata]:
    rng = np.random.default_rng(seed)
    noise = rng.normal(0, 0.01, (4, 6))
    # The second card is slower, which must not matter.
    return [(noise[0], noise[1] + 0.2)], [(noise[2] + 0.7, noise[3] + 0.9 + shift)]


def test_the_card_does_not_matter() -> None:
    """Only distances to the reference on the same card count."""
    assert bridged_shift(*_sides(0.0), 0.05).estimate == pytest.approx(0.0, abs=0.02)
    told = bridged_shift(*_sides(0.3), 0.05)
    assert told.low < 0.3 < told.high
    assert told.low > 0.25


def test_a_large_shift_is_shown() -> None:
    """Twice what each side gives alone, as both must be shown."""
    assert bridged_p(*_sides(0.3), 0.0) == pytest.approx(2 / 924)
    assert bridged_p(*_sides(0.3), 0.5) == 1.0


@pytest.mark.parametrize("seed", range(20))
def test_the_smallest_over_all_places(seed: int) -> None:
    """The search finds the best place between the two."""
    base, head = _sides(0.01, seed)
    places = np.linspace(-1, 1, 4001)
    best = min(
        2 * max(p_greater(swapped(base), -place), p_greater(head, place)) for place in places
    )
    assert bridged_p(base, head, 0.0) <= min(1.0, best) + 1e-12


def test_its_error_rate() -> None:
    """Where nothing differs it is rarely small: conservative."""
    low = [bridged_p(*_sides(0.0, seed), 0.0) <= 0.05 for seed in range(400)]
    assert sum(low) <= 0.05 * len(low)
