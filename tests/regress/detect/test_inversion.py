"""Where backends swap rank."""

from regress.detect.inversion import detect_rank_swaps
from regress.model.race import Race
from tests.regress.builders import CONFIG
from workloads.workload import parse

FA2, FA3 = "flashinfer-prefill-fa2", "flashinfer-prefill-fa3"
WIGGLE = (1.0, 1.001, 0.999, 1.002, 0.998)


def _prefill(q_len: int, times: dict[str, float], rounds: int = 5) -> Race:
    workload = parse(f"prefill-h32x8-d128-bf16-p16-q{q_len}-b4-uniform-t32768")
    many = {name: [t * w for w in WIGGLE[:rounds]] for name, t in times.items()}
    return Race(workload, many, {}, ("r",))


def _decode(batch: int, times: dict[str, float]) -> Race:
    workload = parse(f"decode-h32x4-d128-bf16-p16-b{batch}-skew40-t262144")
    return Race(workload, {n: [t * w for w in WIGGLE] for n, t in times.items()}, {}, ("r",))


def test_a_swap_along_query_length() -> None:
    """The swap is found between the last and the first workload with another fastest backend."""
    races = [
        _prefill(2, {FA2: 100, FA3: 400}),
        _prefill(128, {FA2: 100, FA3: 200}),
        _prefill(1024, {FA2: 300, FA3: 200}),
    ]
    (swap,) = detect_rank_swaps(races, CONFIG.backends)
    assert (swap.axis, swap.first_value, swap.second_value) == ("query length", 128, 1024)
    assert (swap.first_best, swap.second_best) == (FA2, FA3)


def test_a_swap_along_batch_size() -> None:
    """At equal KV tokens the planner's threshold shows as a swap."""
    cuda, tensor = "flashinfer-decode-cuda", "flashinfer-decode-tc-fa2"
    races = [
        _decode(32, {cuda: 380, tensor: 147}),
        _decode(66, {cuda: 396, tensor: 1484}),
    ]
    (swap,) = detect_rank_swaps(races, CONFIG.backends)
    assert swap.axis == "batch size at equal KV tokens"
    assert (swap.first_best, swap.second_best) == (tensor, cuda)


def test_a_tie_is_no_swap() -> None:
    """An order that is not shown does not count, nor with too few rounds."""
    close = [_prefill(2, {FA2: 100, FA3: 101}), _prefill(128, {FA2: 101, FA3: 100})]
    few = [_prefill(2, {FA2: 100, FA3: 200}, 2), _prefill(128, {FA2: 200, FA3: 100}, 2)]
    assert detect_rank_swaps(close, CONFIG.backends) == ()
    assert detect_rank_swaps(few, CONFIG.backends) == ()


def test_layouts_and_choosers_stay_apart() -> None:
    """Contiguous KV does not swap rank with paged, and auto is no backend of its own."""
    varlen, auto = "fa3-varlen", "flashinfer-prefill-auto"
    races = [
        _prefill(2, {FA2: 100, varlen: 400, auto: 400}),
        _prefill(1024, {FA2: 300, varlen: 200, auto: 200}),
    ]
    assert detect_rank_swaps(races, CONFIG.backends) == ()
