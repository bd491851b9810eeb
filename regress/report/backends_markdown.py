"""`backends` as Markdown: what to do first, then the figures of each choice."""

from collections.abc import Iterator

from regress.counted import counted
from regress.model.backends import BackendsReport, BackendTime, FamilyRegret, RankSwap
from regress.report.markdown import LIMIT, Block, escaped, fenced, fit, literal, row, table
from regress.report.printable import printable
from regress.report.view import View, render_ratio

__all__ = ["render_backends_markdown"]

_NOT_LIKE = "not like for like"


def render_backends_markdown(report: BackendsReport, view: View) -> str:
    """Return the report below the limit of a comment: long lists are folded, then cut."""
    report = printable(report)
    own = [family for family in report.families if not family.policy]
    policies = [family for family in report.families if family.policy]
    lost = [time for time in report.times if time.time_us is None]
    timed = [time for time in report.times if time.time_us is not None]
    blocks = (
        Block("", (), _headline(report)),
        *_choices("The library's own choice", own, folded=False),
        *_choices("Policies of engines", policies, folded=True),
        *_block("Where backends swap rank", [_swap(swap) for swap in report.swaps]),
        *_block("Without a time", [_lost(time) for time in lost]),
        *(_block("Times", [_time(time) for time in timed]) if view.everything else ()),
        *_block("Warnings", [f"- {escaped(line)}" for line in report.warnings]),
        Block("", (), _footer(report)),
    )
    return fit(blocks, LIMIT)


def _headline(report: BackendsReport) -> tuple[str, ...]:
    where = f"on {report.machine} ({report.setup['gpu']}), tier {report.tier}"
    return (f"### Backends of {literal(report.stack)}", "", escaped(where))


def _choices(title: str, families: list[FamilyRegret], *, folded: bool) -> Iterator[Block]:
    if families:
        head = table("choice", "family", "median", "worst", "inverted", "best", "what to do")
        rows = [_choice(family) for family in families]
        yield Block(f"{title} ({len(families)})", rows, head, folded)


def _choice(family: FamilyRegret) -> str:
    best = "<br>".join(map(literal, (family.best, *family.tied)))
    layouts = "" if family.like_for_like else f"<br>{_NOT_LIKE}"
    cost = family.cost
    told = f"<br>then at most {cost.worst:.2f}x the best's time on each of {cost.workloads}"
    return row(
        (
            f"{literal(family.chooser)}<br>{family.choice}",
            f"{family.family} ({family.mode})",
            f"{family.median:.2f}x",
            f"{family.worst:.2f}x<br>{literal(family.worst_workload)}",
            f"{family.inverted} of {family.decided}",
            f"{best}{layouts}",
            f"{escaped(family.advice)}{told}" if family.advice else "",
        )
    )


def _swap(swap: RankSwap) -> str:
    ends = (
        f"at {value} {literal(best)} leads by {render_ratio(ratio)}"
        for value, best, ratio in (
            (swap.first_value, swap.first_best, swap.first_ratio),
            (swap.second_value, swap.second_best, swap.second_ratio),
        )
    )
    return f"- {escaped(swap.axis)} ({swap.mode}, {swap.layout} KV): {'; '.join(ends)}"


def _lost(time: BackendTime) -> str:
    why = escaped(time.reason) or "no reason given"
    return f"- {literal(time.backend)} on {literal(time.workload)}: {time.status}: {why}"


def _time(time: BackendTime) -> str:
    name = f"{literal(time.backend)} on {literal(time.workload)}"
    rounds = counted(time.rounds, "round")
    return f"- {time.time_us:.1f} us: {name} ({time.layout} KV, {rounds})"


def _block(title: str, rows: list[str]) -> Iterator[Block]:
    if rows:
        yield Block(f"{title} ({len(rows)})", rows, folded=True, noun="line")


def _footer(report: BackendsReport) -> tuple[str, ...]:
    told = (
        f"Contiguous-KV backends (FA3, SDPA) are {_NOT_LIKE} with paged ones and never count as "
        "the best for a paged choice."
    )
    return (told, "", "Reproduce:", "", fenced(report.command))
