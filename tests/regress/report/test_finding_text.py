"""One finding as lines of text."""

from regress.model.finding import (
    Change,
    Finding,
    Measured,
    Metric,
    Ratio,
    RoundIds,
    Series,
)
from regress.model.reason import REASONS, Reason, ReasonCode
from regress.report.finding_text import render_evidence, render_finding
from regress.report.view import View
from tests.regress.builders import CASE

SHAPES = (
    "flashinfer::Paged<<<66x1x4, 32x1x4>>> + flashinfer::Merge<<<1x1x1, 8x1x1>>>",
    "a::Flat<<<1, 2>>>",
)


def _finding(*evidence: Change) -> Finding:
    reason = Reason(ReasonCode.SLOWER, "slower")
    return Finding(
        *("ab", "made-up", Series(CASE, Metric.KERNEL_TIME), REASONS[reason.code].verdict, reason),
        RoundIds(("b",), ("h",)),
        evidence=evidence,
    )


def _lines(*evidence: Change, everything: bool = False) -> tuple[str, ...]:
    return render_finding(_finding(*evidence), View(everything=everything))


def test_what_follows_from_other_facts_is_folded() -> None:
    """Backend, split and chunks stand beside the reason; the rest is counted."""
    changes = [
        Change("resolved_backend", "fa2", "fa3"),
        Change("splits_kv", base=True, head=False),
        Change("chunk_tokens", 4096, None),
        Change("q_tile", 16, None),
        Change("work_items", 66, 12),
    ]
    told = "resolved_backend fa2 -> fa3; splits_kv yes -> no; chunk_tokens 4096 -> none"
    assert _lines(*changes)[1] == f"      slower; {told}; 2 more: --all [slower]"
    full = f"{told}; q_tile 16 -> none; work_items 66 -> 12"
    assert _lines(*changes, everything=True)[1] == f"      slower; {full} [slower]"


def test_where_there_is_no_option_none_is_named() -> None:
    """A comment or a code scanning alert cannot be asked for more."""
    changes = Change("splits_kv", base=True, head=False), Change("q_tile", 16, None)
    assert render_evidence(_finding(*changes), View()) == ("splits_kv yes -> no",)


def test_kernels_are_named_without_launch_shapes() -> None:
    """Their line is short; --all gives the shapes."""
    change = Change("kernels", *SHAPES)
    assert _lines(change)[2] == "      kernels Paged + Merge -> Flat"
    assert _lines(change, everything=True)[2] == f"      kernels {SHAPES[0]} -> {SHAPES[1]}"
    other = Change("kernels", "a::Flat<<<1, 2>>>", "a::Flat<<<9, 2>>>")
    assert _lines(other)[2] == "      kernels in other launch shapes: Flat"


def test_a_line_of_kernels_has_an_end() -> None:
    """However many kernels run, the line stays within 160 columns."""
    many = " + ".join(f"space::Kernel{n}<<<1, 2>>>" for n in range(40))
    line = _lines(Change("kernels", many, f"{many} + b<<<1, 2>>>"))[2]
    assert len(line) <= 160


def test_cycles_stand_beside_the_time() -> None:
    """A ratio in SM cycles is evidence, with its interval."""
    figures = Measured(
        *(100.0, 120.0, Ratio(1.2, 1.19, 1.21, 0.9), None, 0.01, 0.01, 0.0, 1.0),
        cycles=Ratio(1.0, 0.99, 1.01, 0.9),
    )
    reason = Reason(ReasonCode.SLOWER, "slower")
    finding = Finding(
        *("ab", "made-up", Series(CASE, Metric.KERNEL_TIME), REASONS[reason.code].verdict, reason),
        RoundIds((), ()),
        measured=figures,
    )
    assert (
        "slower; 1.000x [0.990, 1.010] in SM cycles [slower]" in render_finding(finding, View())[1]
    )


def test_large_numbers_are_readable() -> None:
    """No exponents: thousands are set apart."""
    assert "sm_cycles 1,843,200 -> 250000" in _lines(Change("sm_cycles", 1843200.0, 250000))[1]
