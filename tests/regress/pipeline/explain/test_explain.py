"""What `explain` says of a batch."""

import pytest

from regress.model.explain import BackendExplained, Explanation
from regress.pipeline.explain.explain import DECODE_BACKENDS, explain, explain_backend
from regress.pipeline.explain.measured import load_measured
from regress.pipeline.explain.subject import Subject
from workloads.devices import parse_device
from workloads.planner import Batch
from workloads.shape import AttentionShape
from workloads.workload import parse

SHAPE = AttentionShape(32, 4)
SKEWED = "decode-h32x4-d128-bf16-p16-b{}-skew40-t262144"
FA2, CUDA, FA3 = DECODE_BACKENDS


def subject(slug: str, device: str = "h200", release: str | None = None) -> Subject:
    return Subject(slug, Batch.of(parse(slug)), parse_device(device), release)


def told(slug: str, name: str, device: str = "h200") -> BackendExplained:
    return explain_backend(subject(slug, device), name, {}).told


def explained(about: Subject, *names: str) -> Explanation:
    return explain(about, [explain_backend(about, name, {}) for name in names], "command")


def test_the_rule_that_ends_splitting_is_named() -> None:
    """At the budget, the sentence has the rule, the long request and how much is idle."""
    why = told(SKEWED.format(66), FA2).why
    assert "66 requests reach the budget of 66 work items per KV head" in why
    assert "(2 x 132 SMs / 4 heads): nothing is split" in why
    assert "the request of 104,857 tokens keeps one CTA a head busy for 100% of the time" in why
    assert "while 93% of the SM time is idle" in why


def test_a_profiler_names_a_prefill_kernel() -> None:
    """Tensor-core decode says why a profiler shows prefill; CUDA cores have nothing to say."""
    assert "at q_len 1" in told(SKEWED.format(66), FA2).profiler
    assert told(SKEWED.format(66), CUDA).profiler == ""


@pytest.mark.parametrize(
    ("name", "device", "threshold"),
    [
        (FA2, "h200", 66),
        (FA2, "h20", 39),
        (CUDA, "h200", 297),
        (FA3, "h200", 993),
        ("flashinfer-decode-tc-fa3", "h200", None),
    ],
)
def test_thresholds(name: str, device: str, threshold: int | None) -> None:
    """Each backend tells from how many requests on it splits nothing, on the device asked for."""
    plan = told(SKEWED.format(66), name, device).plan
    assert plan is not None
    assert plan.threshold == threshold


@pytest.mark.parametrize(("name", "device"), [(FA2, "h20"), (CUDA, "h200"), (FA3, "h200")])
def test_splitting_ends_at_the_threshold(name: str, device: str) -> None:
    """One request fewer is still split, exactly at the threshold nothing is."""
    at = told(SKEWED.format(400), name, device).plan
    assert at is not None
    assert at.threshold is not None
    before, after = (
        told(SKEWED.format(batch), name, device).plan for batch in (at.threshold - 1, at.threshold)
    )
    assert before is not None
    assert after is not None
    assert before.longest_splits > 1 == after.longest_splits


def test_an_uneven_batch_gets_advice() -> None:
    """Another backend on the same layout, a better one on another, and two smaller batches."""
    advice = explained(subject(SKEWED.format(66)), FA2).advice
    assert [line.split(":")[0] for line in advice] == [
        f"Instead of {FA2}",
        f"Instead of {FA2}",
        f"With {FA2}",
    ]
    assert "not like for like" not in advice[0]
    assert "fa3-varlen would take" in advice[1]
    assert "contiguous KV: not like for like" in advice[1]
    assert "batches of 33 and 33 requests" in advice[2]


def test_an_even_batch_on_the_best_backend_gets_none() -> None:
    """Where nothing is 10 % better, nothing is said."""
    slug = "decode-h32x4-d128-bf16-p16-b64-uniform-t262144"
    assert explained(subject(slug), FA2, FA3).advice == ()


def test_a_backend_that_cannot_run_says_why() -> None:
    """A refusal of a planner is told in its words, and so is a missing model of time."""
    fp8 = "decode-h32x4-d128-bf16-kvfp8-p16-b64-uniform-t262144"
    assert "FlashAttention-3 wants query and KV of one type" in told(fp8, FA3).refused
    prefill = "prefill-h32x8-d128-bf16-p16-q16-b16-uniform-t65536"
    part = told(prefill, "flashinfer-prefill-fa2")
    assert part.plan is not None
    assert part.predicted is None
    assert part.unpredicted == "time is modelled for decode only"


def test_few_requests_leave_sms_empty() -> None:
    """Where there are fewer CTAs than SMs, that is what is said."""
    small = Subject("three", Batch((5, 6, 7), SHAPE), parse_device("h200"))
    assert "there are only 12 CTAs for 132 SMs" in explain_backend(small, FA2, {}).told.why


def test_recorded_times_are_of_the_release_asked_for() -> None:
    """A measured time is the median of the recorded rounds of that stack, else of the newest."""
    slug = SKEWED.format(66)
    old, newest = load_measured(slug, "0.6.1"), load_measured(slug, None)
    assert {known.stack for known in old.values()} == {"v0.6.1"}
    assert {known.stack for known in newest.values()} == {"v0.7.4"}
    auto = "flashinfer-decode-tc-auto"
    # 0.6.1 chose fa3, 0.7.4 chose fa2.
    assert 1900 < old[auto].time_us < 2200
    assert 1300 < newest[auto].time_us < 1600
    assert load_measured(slug, "9.9.9") == {}


@pytest.mark.parametrize(("release", "path"), [("0.5.3", "fa2"), ("0.6.1", "fa3")])
def test_rules_of_a_release_apply(release: str, path: str) -> None:
    """`auto` becomes what it was in the release asked for."""
    about = subject(SKEWED.format(66), release=release)
    assert explain_backend(about, "flashinfer-decode-tc-auto", {}).told.path == path
