"""Slugs, shapes and lengths, by property."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workloads.cost import cost
from workloads.kvlen import KvLengths
from workloads.shape import AttentionShape, DType
from workloads.workload import Phase, Workload, parse

distributions = st.one_of(
    st.sampled_from(["uniform", "skew40", "skew60", "skew80", "two40"]),
    st.builds("{}.s{}".format, st.sampled_from(["lognormal", "zipf"]), st.integers(0, 10**6)),
)


@st.composite
def lengths(draw: st.DrawFn) -> KvLengths:
    batch = draw(st.integers(3, 1024))
    total = draw(st.integers(20 * batch, 2_000_000))
    return KvLengths(draw(distributions), batch, total)


@st.composite
def workloads(draw: st.DrawFn) -> Workload:
    kv_heads, group = draw(st.integers(1, 64)), draw(st.sampled_from([1, 2, 4, 8, 16]))
    types = st.sampled_from(DType)
    shape = AttentionShape(
        kv_heads * group,
        kv_heads,
        draw(st.sampled_from([64, 128])),
        draw(types),
        draw(types),
        draw(st.sampled_from([1, 16, 256])),
    )
    kv = draw(lengths())
    if draw(st.booleans()):
        return Workload(Phase.DECODE, shape, kv)
    q_len = draw(st.integers(1, min(kv.lengths())))
    return Workload(Phase.PREFILL, shape, kv, q_len, causal=draw(st.booleans()))


@given(lengths())
def test_tokens_are_conserved(kv: KvLengths) -> None:
    """Lengths sum to the total exactly and leave nobody empty."""
    assert sum(kv.lengths()) == kv.total
    assert min(kv.lengths()) >= 1
    assert len(kv.lengths()) == kv.batch


@given(lengths())
def test_lengths_repeat(kv: KvLengths) -> None:
    """The same description always gives the same lengths."""
    assert kv.lengths() == KvLengths(kv.distribution, kv.batch, kv.total).lengths()


@given(workloads())
def test_slug_is_identity(workload: Workload) -> None:
    """Parsing a slug gives the workload back."""
    assert parse(workload.slug) == workload


@given(workloads())
def test_causal_work_is_less(workload: Workload) -> None:
    """A causal mask never adds work, and K and V are counted once."""
    full = Workload(Phase.PREFILL, workload.shape, workload.kv, workload.q_len, causal=False)
    assert cost(workload).flops <= cost(full).flops
    assert cost(workload).bytes >= workload.kv.total * workload.shape.kv_token_bytes


def test_skew_shares_match_the_articles() -> None:
    """One request holds 40 % of 262,144 tokens: 104,857, the others 2,420 at a batch of 66."""
    assert KvLengths("skew40", 66, 262_144).lengths()[:2] == (104_857, 2_420)
    assert KvLengths("two40", 66, 262_144).lengths()[:3] == (104_857, 104_857, 820)


def test_seed_changes_lengths_but_python_does_not() -> None:
    """Serving-like lengths depend on the seed alone; these were drawn once and written down."""
    assert KvLengths("lognormal.s1", 4, 1000).lengths() == (59, 489, 360, 92)
    assert KvLengths("zipf.s1", 4, 1000).lengths() == (479, 121, 160, 240)
    assert KvLengths("zipf.s2", 4, 1000).lengths() != KvLengths("zipf.s1", 4, 1000).lengths()


@pytest.mark.parametrize(
    "slug",
    [
        "",
        "decode",
        "decode-h32x4-d128-bf16-p16-b66-skew0-t262144",
        "decode-h32x4-d128-bf16-p16-b66-spiky-t262144",
        "decode-h32x5-d128-bf16-p16-b66-uniform-t262144",
        "decode-h32x4-d128-bf16-p16-b66-uniform-t65",
        "decode-h32x4-d128-bf16-kvbf16-p16-b66-uniform-t262144",
        "decode-h032x4-d128-bf16-p16-b66-uniform-t262144",
        "decode-h32x4-d128-bf16-p16-q1-b66-uniform-t262144",
        "prefill-h32x8-d128-bf16-p16-q513-b4-uniform-t2048",
        "decode-h32x4-d128-bf16-p16-b2-two40-t262144",
        "decode-h0x0-d128-bf16-p16-b2-uniform-t262144",
    ],
)
def test_bad_slugs_say_why(slug: str) -> None:
    """What is no canonical slug of a possible workload is refused in one line."""
    with pytest.raises(ValueError, match=r"^[^\n]+$"):
        parse(slug)
