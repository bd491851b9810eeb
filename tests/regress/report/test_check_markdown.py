"""`check` as Markdown."""
# ruff: noqa: E501 - a table's row is one line, however wide

from pathlib import Path

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from regress.model.report import CheckReport, Unmeasured
from regress.report.check_markdown import render_check_markdown
from regress.report.markdown import LIMIT
from regress.report.view import View
from tests.regress.report.samples import ACCEPTED, CASE_TEXT, HOSTILE, bare, mixed, waiver
from workloads.record import Case


def _render(report: CheckReport, *, everything: bool = False) -> str:
    return render_check_markdown(report, View(everything=everything))


def test_report(tmp_path: Path) -> None:
    """Verdict and action first, then what fails, what is waived, the rest folded, the command."""
    report = mixed(tmp_path, [ACCEPTED[0], waiver(cells="tpyo", reason="old")])
    assert _render(report) == snapshot("""\
### GONE: `v1` → `v2`

**What to do:** do not take v2 as it is: see what got worse below.

1 GONE, 1 NO_DATA, 1 UNDECIDED, 1 WAIVED, 1 IMPROVEMENT, 1 NEW, 1 SAME on synthetic (Synthetic GPU), tier any, 5 and 5 rounds

#### Gone (1)

| case | ratio | time | why |
| --- | --- | --- | --- |
| `decode-h32x4-d128-bf16-p16-b66-skew40-t262144`<br>`flashinfer-decode-cuda` |  |  | failed in head: boom [`failed`] |

<details><summary>No data (1)</summary>

| case | ratio | time | why |
| --- | --- | --- | --- |
| `decode-h32x4-d128-bf16-p16-b66-skew40-t262144`<br>`flashinfer-decode-cuda-serving` |  |  | planned in rounds of base only [`planned-on-one-side`] |

</details>

<details><summary>Undecided (1)</summary>

| case | ratio | time | why |
| --- | --- | --- | --- |
| `decode-h32x4-d128-bf16-p16-b66-skew40-t262144`<br>`fa3-varlen-splits-1` |  |  | 5 rounds of head with a time but no error<br>error 0.001 → none [`error-missing`] |

</details>

<details><summary>Faster (1)</summary>

| case | ratio | time | why |
| --- | --- | --- | --- |
| `decode-h32x4-d128-bf16-p16-b66-skew40-t262144`<br>`fa3-varlen` | 0.800x [0.798, 0.802] | 100.0 → 80.0 us | faster beyond 1.0%, p = 0.00397, 5 against 5 rounds [`faster`] |

</details>

<details><summary>New (1)</summary>

| case | ratio | time | why |
| --- | --- | --- | --- |
| `decode-h32x4-d128-bf16-p16-b66-skew40-t262144`<br>`flashinfer-decode-tc-fa3` |  |  | was skipped in base: has no fa3 decode [`appeared`] |

</details>

#### Waivers that apply (1)

- 1 finding accepted by serving until 2026-03-01: auto is not used here (waiver 1)

<details><summary>Waived findings (1)</summary>

| case | ratio | time | why |
| --- | --- | --- | --- |
| `decode-h32x4-d128-bf16-p16-b66-skew40-t262144`<br>`flashinfer-decode-tc-auto` | 4.000x [3.992, 4.008] | 100.0 → 400.0 us | slower beyond 1.0%, p = 0.00397, 5 against 5 rounds<br>resolved_backend fa2 → fa3<br>kernels A → B [`slower`] |

</details>

#### Waivers to look at (1)

- waivers.toml: waiver 2 ('tpyo', owner serving): nothing to waive. Remove it if the cells are good again; otherwise correct &#96;cells&#96; or &#96;verdicts&#96;. &#91;unmatched&#93;

<details><summary>Not counted in the verdict: 1 REGRESSION</summary>

| case | ratio | time | why |
| --- | --- | --- | --- |
| `decode-h32x4-d128-bf16-p16-b66-skew40-t262144`<br>`flashinfer-decode-tc-auto` | 3.000x [3.000, 3.000] | 30.0 → 90.0 us | slower beyond 40.0%, p = 0.00397, 5 against 5 rounds<br>resolved_backend fa2 → fa3<br>kernels A → B [`slower`] |

</details>

<details><summary>Not measured on either side (1)</summary>

- 1 cell skipped: no wheel is pinned

</details>

<details><summary>7 cases by family</summary>

| family | GONE | NO_DATA | UNDECIDED | WAIVED | IMPROVEMENT | NEW | SAME |
| --- | --- | --- | --- | --- | --- | --- | --- |
| `decode-sweep` | 1 | 1 | 1 | 1 | 1 | 1 | 1 |

</details>

Of 4 cells noise could hide a change of 2% in 0, 5% in 0, 10% in 0.

Reproduce:

```sh
made up
```
""")


def test_everything_is_listed_on_request(tmp_path: Path) -> None:
    """With --all the SAME cells stand there, too."""
    report = mixed(tmp_path)
    assert "Same (" not in _render(report)
    assert "<details><summary>Same (2)</summary>" in _render(report, everything=True)


def test_hostile_reasons_stay_in_their_cell(tmp_path: Path) -> None:
    """A library's message is neither markup nor HTML, and mentions nobody."""
    text = _render(mixed(tmp_path, reason=HOSTILE))
    (line,) = [line for line in text.splitlines() if "script" in line]
    assert line.count("|") == 5
    assert "<script" not in text
    assert "@someone" not in text
    assert r"\x1b" in text.replace("&#92;", "\\")


def test_a_long_report_stays_below_the_limit(tmp_path: Path) -> None:
    """Thousands of cases, warnings and waivers are cut with counts; verdict and command stay."""
    report = mixed(tmp_path, ACCEPTED)
    (slower,) = [f for f in report.findings if f.waived == 1]
    many = tuple(msgspec.structs.replace(slower, gates=True, waived=None) for _ in range(2_000))
    report = msgspec.structs.replace(
        report,
        findings=(*many, *report.findings),
        warnings=("doubtful " * 50,) * 3_000,
        waivers=report.waivers * 300,
        unmeasured=tuple(Unmeasured(Case("w", str(n)), str(n), str(n)) for n in range(3_000)),
        command="x" * 90_000,
    )
    text = _render(report)
    assert len(text.encode()) <= LIMIT
    shown = text.split("#### Slower (2000)")[1].split("####")[0].count(CASE_TEXT)
    assert f"… {2_000 - shown} more cases, cut to fit" in text
    assert text.startswith("### NO_DATA: `v1` → `v2`\n")
    assert text.rstrip().endswith("```")


@given(st.text(max_size=40))
def test_no_text_opens_a_fold_or_a_tag(text: str) -> None:
    """Whatever the names and warnings are, the only tags are those of the report."""
    report = bare(warnings=(text,), command="made up", machine=text, base=text, head=text)
    made = _render(report)
    for tag in ("<details>", "</details>", "<summary>", "</summary>", "<br>", "<code>", "</code>"):
        made = made.replace(tag, "")
    assert "<" not in made


def test_what_is_not_measured_is_counted_by_cell(tmp_path: Path) -> None:
    """A line speaks of all cells that share a reason; the title has their number."""
    alike = tuple(Unmeasured(Case("w", str(n)), "skipped: a", "skipped: a") for n in range(3))
    text = _render(msgspec.structs.replace(mixed(tmp_path), unmeasured=alike))
    assert "Not measured on either side (3)</summary>\n\n- 3 cells skipped: a\n" in text
