"""Reports as text."""
# ruff: noqa: E501 - snapshots are as wide as the reports

from pathlib import Path

from inline_snapshot import snapshot

from regress.pipeline.backends import backends
from regress.pipeline.check import check
from regress.pipeline.request import Request
from regress.report.backends_text import render_backends_text
from regress.report.check_text import render_check_text
from regress.report.round_text import render_round_text
from regress.report.view import View
from tests.regress.builders import (
    CASE,
    CONFIG,
    OTHER,
    WORKLOAD,
    lost,
    make_round,
    measured,
    write_rounds,
)
from tests.regress.report.samples import ACCEPTED, mixed, waiver
from workloads.record import Case, CaseRecord, Facts, Round, Status

QUIET = (100.0, 100.1, 99.9, 100.2, 99.8)
CUDA = Case(WORKLOAD, "flashinfer-decode-cuda")
FA3 = Case(WORKLOAD, "flashinfer-decode-tc-fa3")
VARLEN = Case(WORKLOAD, "fa3-varlen")
PAGED = Case(WORKLOAD, "flash-attn-paged")


def _rounds(tag: str, *, old: bool) -> list[Round]:
    return [make_round(tag, n, _records(t, old=old)) for n, t in enumerate(QUIET)]


def _records(t: float, *, old: bool) -> list[CaseRecord]:
    absent = lost(PAGED, Status.SKIPPED, "no wheel of flash-attn is pinned")
    auto = Facts(resolved_backend="fa2" if old else "fa3", chunk_tokens=4096)
    return [
        measured(CASE, t if old else t * 4, facts=auto, plan_us=(30.0 if old else 90.0,)),
        measured(OTHER, t),
        measured(VARLEN, t if old else t * 0.8),
        lost(FA3, Status.SKIPPED, "has no fa3 decode") if old else measured(FA3, t * 4),
        measured(CUDA, t) if old else lost(CUDA, Status.FAILED, "RuntimeError: bad group"),
        absent,
    ]


def _write(root: Path) -> Request:
    write_rounds(root, [*_rounds("v1", old=True), *_rounds("v2", old=False)])
    return Request((root,), None, "any", None, "python -m regress …")


def test_check(tmp_path: Path) -> None:
    """Verdict and action first, then failures, slower, faster, the summary, how to reproduce."""
    text = render_check_text(check("v1", "v2", _write(tmp_path), CONFIG), View())
    assert text == snapshot("""\
GONE  v1 -> v2: do not take v2 as it is: see what got worse below.
1 GONE, 1 REGRESSION, 1 IMPROVEMENT, 1 NEW, 1 SAME on synthetic (Synthetic GPU), tier any, 5 and 5 rounds

Gone (1)
  decode-h32x4-d128-bf16-p16-b66-skew40-t262144@flashinfer-decode-cuda
      failed in head: RuntimeError: bad group [failed]

Slower (1)
  4.000x [3.992, 4.008]  100.0 -> 400.0 us  decode-h32x4-d128-bf16-p16-b66-skew40-t262144@flashinfer-decode-tc-auto
      slower beyond 1.0%, p = 0.00397, 5 against 5 rounds; resolved_backend fa2 -> fa3 [slower]

Faster (1)
  0.800x [0.798, 0.802]  100.0 -> 80.0 us  decode-h32x4-d128-bf16-p16-b66-skew40-t262144@fa3-varlen
      faster beyond 1.0%, p = 0.00397, 5 against 5 rounds [faster]

New (1)
  decode-h32x4-d128-bf16-p16-b66-skew40-t262144@flashinfer-decode-tc-fa3
      was skipped in base: has no fa3 decode [appeared]

plan() host time, not counted in the verdict: 1 REGRESSION
  3.000x [3.000, 3.000]  30.0 -> 90.0 us  decode-h32x4-d128-bf16-p16-b66-skew40-t262144@flashinfer-decode-tc-auto
      slower beyond 40.0%, p = 0.00397, 5 against 5 rounds; resolved_backend fa2 -> fa3 [slower]

Not measured on either side (1)
  1 cell skipped: no wheel of flash-attn is pinned

family        GONE  REGRESSION  IMPROVEMENT  NEW  SAME
decode-sweep     1           1            1    1     1

Of 3 cells noise could hide a change of 2% in 0, 5% in 0, 10% in 0.
Reproduce: python -m regress …
Round ids and all figures: --format json. How to read this: regress/docs/
""")


def test_check_lists_what_is_folded(tmp_path: Path) -> None:
    """--all adds the SAME cells and the cases measured on neither side."""
    report = check("v1", "v2", _write(tmp_path), CONFIG)
    folded, full = (render_check_text(report, View(everything=e)) for e in (False, True))
    assert "Same (1)" not in folded
    assert "Same (1)" in full
    assert str(PAGED) not in folded
    assert str(PAGED) in full


def test_rounds_that_are_not_compared_are_told_apart(tmp_path: Path) -> None:
    """The headline counts the rounds that findings count, then what other campaigns hold."""
    request = _write(tmp_path)
    for n, campaign in enumerate(("c2", "c3")):
        write_rounds(tmp_path, [make_round("v2", n, _records(100.0, old=False), campaign)])
    text = render_check_text(check("v1", "v2", request, CONFIG), View())
    headline = text.splitlines()[1]
    assert headline.endswith("5 and 5 rounds (2 more whose times are not compared)")


def test_unknown_noise_is_not_told_as_quiet(tmp_path: Path) -> None:
    """With one round a side nothing is known of noise, so nothing is said to be below 2 %."""
    write_rounds(tmp_path, [_rounds("v1", old=True)[0], _rounds("v2", old=False)[0]])
    request = Request((tmp_path,), None, "any", None, "made up")
    text = render_check_text(check("v1", "v2", request, CONFIG), View())
    assert "Too noisy" not in text
    assert "Noise unknown in 3 cells: too few rounds." in text


def test_what_is_waived_has_a_section_of_its_own(tmp_path: Path) -> None:
    """Who accepts what until when, then the cells; waivers to look at stand by the warnings."""
    waivers = [*ACCEPTED, waiver(cells="tpyo"), waiver(since="v3")]
    report = mixed(tmp_path, waivers)
    lines = render_check_text(report, View()).splitlines()
    at = lines.index("Waived (2)")
    told = "  accepted by serving until 2026-03-01: auto is not used here (waiver 1)"
    assert lines[at + 1] == told
    assert lines[at + 2].startswith("  4.000x")
    assert "  accepted by serving until 2026-03-01: dropped (waiver 2)" in lines
    typo, unknown = (line for line in lines if line.startswith("Waiver to look at: "))
    assert "waivers.toml: waiver 3 ('tpyo', owner serving): nothing to waive." in typo
    assert "waiver 4 ('tc-auto$', owner serving): no stack 'v3' is known" in unknown
    assert "Slower" not in "\n".join(lines)
    full = render_check_text(report, View(everything=True))
    assert "resolved_backend fa2 -> fa3 [slower]" in full.split("Waived (2)")[1]


def test_a_pass_with_waivers_says_so(tmp_path: Path) -> None:
    """Nobody is told that no cell got worse."""
    report = mixed(tmp_path, [ACCEPTED[0]], pattern="tc-auto$|tc-fa2$")
    first, *_ = render_check_text(report, View()).splitlines()
    told = "v2 can be taken: all that got worse is waived, see below."
    assert first == f"WAIVED  v1 -> v2: {told}"
    assert render_check_text(report, View(everything=True)).count("WAIVED") >= 2


def test_color_only_where_it_is_understood(tmp_path: Path) -> None:
    """Escape codes appear on request only."""
    report = check("v1", "v2", _write(tmp_path), CONFIG)
    assert "\x1b[" not in render_check_text(report, View())
    assert "\x1b[" in render_check_text(report, View(color=True))


def test_backends(tmp_path: Path) -> None:
    """The inverted choice, what to do, policies, swaps and what has no time."""
    text = render_backends_text(backends("v2", _write(tmp_path), CONFIG), View())
    assert text == snapshot("""\
Backends of v2 on synthetic (Synthetic GPU), tier any

INVERTED  decode (eager), flashinfer-decode-tc-auto
  4.00x the best paged backend's time (median), 4.00x at worst (decode-h32x4-d128-bf16-p16-b66-skew40-t262144)
  1 of 1 decided workload inverted; most often best: flashinfer-decode-tc-fa2 (1)
  what to do: build BatchDecodeWithPagedKVCacheWrapper with use_tensor_cores=True, backend="fa2"
  what that costs: at most 1.00x the best's time on each of 1 workload

Regret of the engines' policies
policy               family   mode  median  worst  inverted                      best            layouts
sglang-fa2-pin       decode  eager   1.00x  1.00x       0/1  flashinfer-decode-tc-fa2
sglang-hopper-fa3    decode  eager   1.00x  1.00x       0/1                fa3-varlen  not like for like
sglang-tensor-cores  decode  eager   4.00x  4.00x       1/1  flashinfer-decode-tc-fa2

Where backends swap rank
  nowhere that these rounds show
Without a time
  flash-attn-paged: skipped on 1 workload: no wheel of flash-attn is pinned
  flashinfer-decode-cuda: failed on 1 workload: RuntimeError: bad group

Contiguous-KV backends (FA3, SDPA) are not like for like with paged ones and never count as the best for a paged choice.
Reproduce: python -m regress …
""")


def test_backends_without_a_chooser(tmp_path: Path) -> None:
    """Where no `auto` has a time, that is said instead of nothing."""
    write_rounds(tmp_path, [make_round("v1", n, [measured(OTHER, t)]) for n, t in enumerate(QUIET)])
    alone = Request((tmp_path,), None, "any", None, "made up")
    told = "no `auto` was measured here"
    assert told in render_backends_text(backends("v1", alone, CONFIG), View())
    report = backends("v2", _write(tmp_path / "both"), CONFIG)
    assert told not in render_backends_text(report, View())


def test_backends_times_are_labelled(tmp_path: Path) -> None:
    """With --all, contiguous KV stands beside paged KV with its label."""
    report = backends("v2", _write(tmp_path), CONFIG)
    lines = render_backends_text(report, View(everything=True)).splitlines()
    (varlen,) = [line for line in lines if "fa3-varlen (5 rounds)" in line]
    assert varlen.endswith("not like for like: contiguous KV")


def test_round() -> None:
    """A round file's summary."""
    assert render_round_text(_rounds("v2", old=False)[0], View()) == snapshot("""\
Round v2-c1-0 of v2
  imported  flashinfer-python 2
  campaign  c1, started 2026-01-01T00:00:00Z, tier nightly
  machine   synthetic: Synthetic GPU, driver 580.65.06
  toolchain torch 2.11.0, CUDA 13.0, nvcc 13.0
  protocol  version 1, cuda-graph-events, 3 passes
  seconds   total 10.0
  cases     4 measured, 1 skipped, 1 failed
1 case failed: RuntimeError: bad group
1 case skipped: no wheel of flash-attn is pinned
""")
