"""A round file as text."""

from collections import Counter

from rich.console import Console

from regress.counted import counted
from regress.report.printable import printable
from regress.report.view import View
from workloads.record import Round, Status

__all__ = ["render_round_text"]


def render_round_text(found: Round, view: View) -> str:
    """Return what a round holds: where from, how long it took, what became of its cases."""
    found = printable(found)

    def write(console: Console) -> None:
        console.print(f"Round {found.id} of {found.stack.tag}", style="bold")
        imported = ", ".join(f"{name} {v}" for name, v in sorted(found.stack.imported.items()))
        machine, protocol = found.machine, found.protocol
        for label, text in (
            ("imported", imported),
            ("campaign", f"{found.campaign}, started {found.started_at}, tier {found.tier}"),
            ("machine", f"{machine.name}: {machine.gpu}, driver {machine.driver or 'none'}"),
            ("toolchain", f"torch {machine.torch}, CUDA {machine.cuda}, nvcc {machine.nvcc}"),
            ("protocol", f"version {protocol.version}, {protocol.timer}, {protocol.passes} passes"),
            ("seconds", ", ".join(f"{name} {s:.1f}" for name, s in found.seconds.items())),
            ("cases", _statuses(found)),
        ):
            console.print(f"  {label:<10}{text}")
        _lost(console, found, view)
        for code in found.warnings:
            console.print(f"Warning: {code}")
        for code, n in Counter(c for r in found.cases for c in r.warnings).most_common():
            console.print(f"Warning: {code} in {counted(n, 'case')}")

    return view.draw(write)


def _statuses(found: Round) -> str:
    counts = Counter(record.status for record in found.cases)
    return ", ".join(f"{counts[status]} {status}" for status in Status if counts[status])


def _lost(console: Console, found: Round, view: View) -> None:
    lost = [r for r in found.cases if r.status is not Status.MEASURED]
    for (status, reason), n in Counter((r.status, r.reason) for r in lost).most_common():
        console.print(f"{counted(n, 'case')} {status}: {reason or 'no reason given'}")
    for record in lost if view.everything else ():
        console.print(f"  {record.case} {record.status}")
    if view.everything:
        for record in found.cases:
            if record.time_us is not None:
                console.print(f"  {record.time_us:>10.1f} us  {record.case}")
