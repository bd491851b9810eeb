"""The catalog against what it must hold."""

from collections import Counter

import pytest

from workloads.backend import BACKENDS, Mode, alias_of, backend, kvcache_name
from workloads.catalog import FAMILIES, TIERS, aliases, cases
from workloads.policy import POLICIES
from workloads.workload import Phase, parse

SWEEP = cases("sweep")


def test_tiers_are_nested_and_bounded() -> None:
    """The gate has at most 80 cases, nightly at most 250, and each tier holds the smaller one."""
    gate, nightly = cases("gate"), cases("nightly")
    assert len(gate) <= 80
    assert len(nightly) <= 250
    assert set(gate) < set(nightly) < set(SWEEP)


def test_gate_holds_every_backend() -> None:
    """Every backend but the scripted one, so every mode too, is in the gate, by itself or alias."""
    named = {e.case.backend for e in cases("gate")} | {c.backend for c, _ in aliases()}
    assert named == {b.name for b in BACKENDS} - {"scripted"}


def test_gate_holds_every_head_group() -> None:
    """Head groups 1, 4, 8 and 16 appear."""
    groups = {parse(e.case.workload).shape.group for e in cases("gate")}
    assert {1, 4, 8, 16} <= groups


def test_cases_are_unique_and_canonical() -> None:
    """No case stands twice, and every slug is one that parse() takes."""
    assert max(Counter(e.case for e in SWEEP).values()) == 1
    assert {e.family for e in SWEEP} == set(FAMILIES)
    for entry in SWEEP:
        assert parse(entry.case.workload).slug == entry.case.workload


def test_decode_cases_have_decode_backends() -> None:
    """A backend is only asked for phases it can run."""
    for entry in SWEEP:
        assert parse(entry.case.workload).phase in backend(entry.case.backend).phases


def test_sweep_is_dense_around_the_thresholds() -> None:
    """The batch axis brackets the planners' limits on 132 SMs with 4 KV heads."""
    batches = {parse(e.case.workload).kv.batch for e in SWEEP if e.family == "decode-sweep"}
    assert {8, 48, 56, 60, 64, 65, 66, 67, 320, 400, 992, 993, 1024} <= batches


def test_kv_cache_fits_an_80_gb_card() -> None:
    """No workload needs more than 20 GiB of KV cache."""
    for entry in SWEEP:
        workload = parse(entry.case.workload)
        assert workload.kv.total * workload.shape.kv_token_bytes <= 20 * 2**30


def test_aliases_are_not_measured() -> None:
    """A setting that cannot differ names the case that stands for it, which is measured."""
    measured = {e.case for e in SWEEP}
    for case, target in aliases():
        assert case not in measured
        assert target in measured
        assert alias_of(target.backend, parse(target.workload)) is None


def test_split_forces_packing() -> None:
    """`pack_gqa=False, num_splits=4` runs packed; without a group there is nothing to pack."""
    gqa = parse("decode-h32x8-d128-bf16-p16-b128-uniform-t262144")
    mha = parse("decode-h32x32-d128-bf16-p16-b64-uniform-t131072")
    assert alias_of(kvcache_name("false", "4"), gqa) == kvcache_name("true", "4")
    assert alias_of(kvcache_name("false", "1"), gqa) is None
    assert alias_of(kvcache_name("true", "1"), mha) == kvcache_name("false", "1")


def test_serving_is_a_mode_of_its_own() -> None:
    """Names ending in -serving are the serving mode, and no others."""
    for one in BACKENDS:
        assert (one.mode is Mode.SERVING) == one.name.endswith("-serving")


def test_sglang_rule() -> None:
    """FP8 KV: tensor cores; BF16 and group of 4 or more: tensor cores; else CUDA cores."""
    rule = next(p for p in POLICIES if p.name == "sglang-tensor-cores").choose
    chosen = {
        "decode-h32x4-d128-bf16-kvfp8-p16-b64-uniform-t262144": "flashinfer-decode-tc-auto",
        "decode-h32x8-d128-bf16-p16-b64-uniform-t262144": "flashinfer-decode-tc-auto",
        "decode-h32x16-d128-bf16-p16-b64-uniform-t262144": "flashinfer-decode-cuda",
        "decode-h32x32-d128-bf16-kvfp8-p16-b64-uniform-t262144": "flashinfer-decode-tc-auto",
    }
    assert {slug: rule(parse(slug)) for slug in chosen} == chosen


def test_policies_choose_known_backends() -> None:
    """Whatever a policy picks exists and can run the phase."""
    for entry in SWEEP:
        workload = parse(entry.case.workload)
        for policy in POLICIES:
            name = policy.choose(workload)
            if name is not None:
                assert workload.phase in backend(name).phases
    assert any(parse(e.case.workload).phase is Phase.PREFILL for e in SWEEP)


def test_unknown_names_are_refused() -> None:
    """An unknown tier or backend gets one line with what there is."""
    with pytest.raises(ValueError, match="gate, nightly, sweep"):
        cases("weekly")
    with pytest.raises(ValueError, match="list backends"):
        backend("fa9")
    assert TIERS == ("gate", "nightly", "sweep")
