"""`check` as Markdown, for a comment on a pull request or the summary of a job."""

from collections import Counter
from collections.abc import Iterator, Sequence

from regress.counted import counted
from regress.errors import ExitCode
from regress.model.finding import Finding
from regress.model.report import CheckReport
from regress.model.verdict import WORST_FIRST, Verdict
from regress.report.finding_text import render_evidence, render_figures
from regress.report.headline import (
    SECTIONS,
    render_action,
    render_blindness,
    render_counts,
    render_scope,
    render_unmeasured,
    section,
)
from regress.report.markdown import LIMIT, Block, escaped, fenced, fit, literal, row, table
from regress.report.printable import printable
from regress.report.run_text import STAGE_HEADER, render_certainty, stage_rows
from regress.report.view import View
from regress.report.waived_text import accepted, render_acceptance, render_waiver_findings

__all__ = ["detail_blocks", "render_check_markdown", "sureness"]

_TITLES = ("case", "ratio", "time", "why")


def render_check_markdown(report: CheckReport, view: View) -> str:
    """Return the report below the limit of a comment: long lists are folded, then cut."""
    report = printable(report)
    blocks = (
        Block("", (), _headline(report)),
        *detail_blocks(report, view),
        Block("", (), _footer(report)),
    )
    return fit(blocks, LIMIT)


def detail_blocks(
    report: CheckReport, view: View, *, all_folded: bool = False
) -> tuple[Block, ...]:
    """Return all that stands between headline and footer; what fails is open unless told."""
    return (
        *_sections(report, view, all_folded=all_folded),
        *_waived(report, view),
        *_listed("Waivers to look at", list(render_waiver_findings(report)), folded=all_folded),
        *_information(report, view),
        *_unmeasured(report),
        *_listed("Warnings", report.warnings),
        _families(report),
        *_stages(report),
    )


def _headline(report: CheckReport) -> tuple[str, ...]:
    pair = f"{literal(report.base)} → {literal(report.head)}"
    return (
        f"### {report.verdict}: {pair}",
        "",
        f"**What to do:** {escaped(render_action(report))}",
        "",
        escaped(render_scope(report)),
    )


def _sections(report: CheckReport, view: View, *, all_folded: bool) -> Iterator[Block]:
    """Yield what fails first and open, the rest folded."""
    for title, verdict in SECTIONS:
        found = section(report, verdict)
        if found and (verdict is not Verdict.SAME or view.everything):
            folded = all_folded or report.code_of(verdict) is not ExitCode.REGRESSION
            yield _findings(f"{title} ({len(found)})", found, view, folded=folded)


def _findings(title: str, found: Sequence[Finding], view: View, *, folded: bool) -> Block:
    return Block(title, [_row(f, view) for f in found], table(*_TITLES), folded, "case")


def _row(finding: Finding, view: View) -> str:
    case = finding.series.case
    why = escaped(finding.reason.message), *map(escaped, render_evidence(finding, view))
    figures = [text.replace("->", "→") for text in render_figures(finding)]
    return row(
        (
            f"{literal(case.workload)}<br>{literal(case.backend)}",
            *(figures or ("", "")),
            f"{'<br>'.join(why)} [{literal(finding.reason.code)}]",
        )
    )


def _waived(report: CheckReport, view: View) -> Iterator[Block]:
    groups = list(accepted(report))
    lines = [f"{counted(len(found), 'finding')} {render_acceptance(use)}" for use, found in groups]
    yield from _listed("Waivers that apply", lines, folded=False)
    waived = [finding for _, found in groups for finding in found]
    if waived:
        yield _findings(f"Waived findings ({len(waived)})", waived, view, folded=True)


def _information(report: CheckReport, view: View) -> Iterator[Block]:
    found = [f for f in report.findings if not f.gates and f.waived is None]
    quiet = () if view.everything else (Verdict.SAME, Verdict.UNDECIDED)
    told = render_counts(f.verdict for f in found)
    shown = [f for f in found if f.verdict not in quiet]
    if shown:
        yield _findings(f"Not counted in the verdict: {told}", shown, view, folded=True)


def _listed(title: str, lines: Sequence[str], *, folded: bool = True) -> Iterator[Block]:
    if lines:
        rows = [f"- {escaped(line)}" for line in lines]
        yield Block(f"{title} ({len(lines)})", rows, folded=folded, noun="line")


def _unmeasured(report: CheckReport) -> Iterator[Block]:
    if report.unmeasured:
        rows = [f"- {escaped(line)}" for line in render_unmeasured(report)]
        title = f"Not measured on either side ({len(report.unmeasured)})"
        yield Block(title, rows, folded=True, noun="line")


def _families(report: CheckReport) -> Block:
    counts = Counter((cell.family, cell.verdict) for cell in report.cells)
    shown = [v for v in WORST_FIRST if any(verdict is v for _, verdict in counts)]
    families = dict.fromkeys(cell.family for cell in report.cells)
    rows = [row((literal(name), *(str(counts[name, v] or "") for v in shown))) for name in families]
    told = f"{counted(len(report.cells), 'case')} by family"
    return Block(told, rows, table("family", *shown), folded=True, noun="family row")


def _stages(report: CheckReport) -> Iterator[Block]:
    if report.run:
        rows = [row((literal(name), *counts)) for name, *counts in stage_rows(report.run)]
        yield Block("Stages of the run", rows, table(*STAGE_HEADER), folded=True, noun="stage")


def _footer(report: CheckReport) -> tuple[str, ...]:
    told = sureness(report)
    return (*((told, "") if told else ()), "Reproduce:", "", fenced(report.command))


def sureness(report: CheckReport) -> str:
    """Return how often such a report is wrong, and what noise can hide; empty if not known."""
    return " ".join(map(escaped, (*render_certainty(report), *render_blindness(report))))
