"""What the gate says where there is no report: each ending a title, what happened, what to do."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from regress.model.bump import RUN_LABEL, Bump, BumpCode
from regress.model.ending import Ending, Measured
from regress.report.gate_story import render_moves
from regress.report.markdown import Block, escaped, fenced, literal
from regress.report.workflow_commands import harmless

__all__ = [
    "Words",
    "ending_blocks",
    "render_accepted",
    "words_of",
]

_RETRY: Final = "re-run all jobs of this run; if it happens again, look at the GPU runner."


class Words(NamedTuple):
    """Plain text: a title, what happened, and what to do."""

    title: str
    told: str
    action: str


def words_of(bump: Bump, ending: Ending, measured: Measured) -> Words:
    """Return what to say of an ending; JUDGED and ACCEPTED have words of their own."""
    moves = render_moves(bump)
    return {
        Ending.LOST: Words(
            f"{moves}: nothing was judged",
            f"{_why_lost(measured)}. This is no pass.",
            _RETRY,
        ),
        Ending.STOPPED: Words(
            f"{moves}: cannot be measured",
            "The GPU job refused to measure these versions; what it said stands below.",
            "see whether the package index has these versions for this runner, then push again.",
        ),
        Ending.WAITING: Words(
            f"{moves}: waits for a maintainer",
            "This pull request comes from a fork. Only version numbers of it reach the GPU runner, "
            "but its time is yours.",
            f"somebody with write access sets the label {RUN_LABEL}; it counts for commit "
            f"{bump.head_sha[:12]}, and after a push it must be set again.",
        ),
        Ending.REFUSED: Words(
            "Pins of attention libraries are refused",
            f"{bump.reason.message}.",
            _REFUSALS.get(bump.reason.code, "correct the file."),
        ),
        Ending.NOT_GATED: Words(
            "Pins of attention libraries changed and are not gated",
            f"{bump.reason.message}.",
            "nothing, if that is meant: nothing was measured.",
        ),
        Ending.UNCHANGED: Words(
            "No attention library changes any more",
            f"Commit {bump.head_sha[:12]} leaves the pins as they are: nothing was measured.",
            "nothing.",
        ),
        Ending.SET_ASIDE: Words("Not looked at", f"{bump.reason.message}.", "nothing."),
    }[ending]


_REFUSALS: Final = {
    BumpCode.BAD_VERSION: "pin a version as PEP 440 writes it, NAME==VERSION, and push again.",
    BumpCode.CONFLICT: "make the files agree, or name those that count with --pins.",
    BumpCode.UNREADABLE: "correct the file, or name the files that count with --pins.",
}


def _why_lost(measured: Measured) -> str:
    if measured.doctor and not measured.doctor.fit:
        return "The host of the GPU job is not fit to measure"
    return f"The GPU job was lost: {measured.damage}"


def ending_blocks(bump: Bump, ending: Ending, measured: Measured, run_url: str) -> list[Block]:
    """Return the comment of an ending without a report."""
    words = words_of(bump, ending, measured)
    head = (f"### {escaped(words.title)}", "", escaped(words.told))
    blocks = [Block("", (), (*head, "", f"**What to do:** {escaped(words.action)}"))]
    if ending in {Ending.LOST, Ending.STOPPED}:
        blocks += [*host_blocks(measured, folded=False), *_log_blocks(measured.log)]
    blocks += note_blocks(bump)
    link = f"<sub>Commit {literal(bump.head_sha[:12])} · [run]({run_url})</sub>"
    return [*blocks, Block("", (), (link,))]


def host_blocks(measured: Measured, *, folded: bool) -> list[Block]:
    """Return what doctor found, if it is known and anything."""
    doctor = measured.doctor
    if doctor is None or not doctor.findings:
        return []
    rows = [
        f"- **{escaped(found.severity)}** {escaped(found.title)}: {escaped(found.message)} "
        f"({escaped(found.remedy)})"
        for found in doctor.findings
    ]
    fit = "fit" if doctor.fit else "not fit to measure"
    return [Block(f"Host: {fit} ({len(rows)})", rows, folded=folded, noun="line")]


def _log_blocks(log: Sequence[str]) -> list[Block]:
    if not log:
        return []
    text = harmless("\n".join(line[:300] for line in log)).rstrip("\n")
    return [Block("Last lines of the GPU job", (), (fenced(text, "text"),))]


def note_blocks(bump: Bump) -> list[Block]:
    """Return what else should be said: ranges, and labels that do not count."""
    rows = [f"- {escaped(note)}" for note in bump.notes]
    return [Block("Also", rows, noun="line")] if rows else []


def render_accepted(bump: Bump) -> str:
    """Return what stands above the verdict once it is accepted: who, when, for which commit."""
    given = bump.accepted
    if given is None:
        msg = "nobody accepted it"
        raise ValueError(msg)
    return (
        f"### Accepted by {literal(given.login)}: {escaped(render_moves(bump))}\n\n"
        f"WAIVED: {literal(given.login)} ({escaped(given.role)}) set the label "
        f"{literal(given.label)} on {escaped(given.at)}, for commit {literal(given.sha[:12])} and "
        "no later one. What was found stands as it was, and nothing was measured again.\n\n"
        "---\n\n"
    )
