"""`bisect` as text: what was found where, then what was measured."""

from collections import defaultdict

from rich.console import Console

from regress.counted import bounded, counted
from regress.model.bisection import Between, Bisection, CaseChange
from regress.model.verdict import Verdict
from regress.report.printable import printable
from regress.report.view import EXIT_STYLES, View, render_ratio
from workloads.record import Case

__all__ = ["render_bisection_text"]


def render_bisection_text(report: Bisection, view: View) -> str:
    """Return the report for a person."""
    report = printable(report)

    def write(console: Console) -> None:
        found = counted(len(report.steps), "step") if report.steps else "no step shown"
        if report.unmeasured:
            missing = len({one.case for one in report.unmeasured})
            found += f"; {counted(missing, 'case')} not compared for want of times"
        told = f"{report.verdict}  {report.stacks[0]} to {report.stacks[-1]}: {found}"
        console.print(told, style=EXIT_STYLES[report.exit_code])
        for step in report.steps:
            _step(console, step)
        for quiet in report.quiet:
            console.print(f"  nothing shown between {quiet.last_good} and {quiet.first_bad}")
        _unmeasured(console, report)
        rounds = ", ".join(f"{tag} {n}" for tag, n in report.measured.items())
        console.print(f"\nMeasured {len(report.measured)} of {len(report.stacks)} stacks: {rounds}")
        console.print(
            f"Of bisections in which nothing got slower, at most {bounded(report.alpha)} call "
            "anything slower. Steps that cancel each other out between equal ends are not seen."
        )
        console.print(f"Reproduce: {report.command}")

    return view.draw(write)


def _step(console: Console, step: Between) -> None:
    place = f"{step.last_good} -> {step.first_bad}"
    console.print(f"\n  {place if step.exact else f'between {place}, not narrowed down'}")
    for change in step.cases:
        console.print(f"    {change.verdict} {change.case} {_size(change)}")
        for what in change.evidence:
            console.print(f"        {what.name}: {what.base} -> {what.head}", style="dim")
    for file in step.files or ():
        functions = f" ({', '.join(file.functions)})" if file.functions else ""
        console.print(f"    {file.change}: {file.path}{functions}", style="dim")


def _unmeasured(console: Console, report: Bisection) -> None:
    """Say what is missing at which release, once a reason."""
    groups: dict[tuple[str, int, int, str], list[Case]] = defaultdict(list)
    for one in report.unmeasured:
        groups[one.stack, one.measured, one.rounds, one.reason].append(one.case)
    for (stack, measured, rounds, reason), cases in groups.items():
        some = f"in {rounds - measured} of {counted(rounds, 'round')} of {stack}"
        what = str(cases[0]) if len(cases) == 1 else f"{len(cases)} cases, first {cases[0]}"
        console.print(f"  {Verdict.NO_DATA} not measured {some}: {what}: {reason}")


def _size(change: CaseChange) -> str:
    return render_ratio(change.ratio) if change.ratio else ""
