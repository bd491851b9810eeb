"""Alerts as issues: title, text with a hidden memory, and what is said when they end."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from regress.model.alert import Alert, Memory, State
from regress.report.markdown import LIMIT, Block, escaped, fenced, fit
from regress.report.printable import escape

__all__ = [
    "Links",
    "parse_memory",
    "remember",
    "render_closed",
    "render_issue",
    "render_title",
]

_MARKER: Final = "attention-regress alert"
_MEMORY: Final = re.compile(rf"<!-- {_MARKER} (\{{.*\}}) -->")
_LONGEST_TITLE: Final = 200
_MOST_STATES: Final = 90
_SPARE: Final = 4_000
"""Left for the line that says that it is over."""
_HISTORY: Final = "#### History\n\n"
_FETCH: Final = "git fetch origin attention-data && git worktree add --detach data FETCH_HEAD"


@dataclass(frozen=True, slots=True)
class Links:
    """Where to look further; empty for what there is not.

    Attributes
    ----------
    run
        Address of the run.
    site
        Address of the published site, with a slash at its end.
    """

    run: str = ""
    site: str = ""


def remember(
    alert: Alert, known: Memory | None, state: State, since: str, *, anew: bool = False
) -> Memory:
    """Return what an issue knows with tonight's state; one of the same day is replaced.

    It stands since then if nothing is known of it, or if it was over and begins `anew`.
    """
    first = since if known is None or anew else known.since
    states = _states(known.states if known else (), state)
    return Memory(alert.key, alert.signal, first, alert.stacks, states)


def _states(before: Sequence[State], state: State) -> tuple[State, ...]:
    return (*(s for s in before if s.day != state.day), state)[-_MOST_STATES:]


def parse_memory(body: str) -> Memory | None:
    """Return what an issue's text remembers; None if it is none of ours or was damaged."""
    found = _MEMORY.search(body or "")
    if found is None:
        return None
    try:
        return msgspec.json.decode(found[1], type=Memory)
    except msgspec.DecodeError:
        return None


def render_title(alert: Alert, memory: Memory) -> str:
    """Return what it is, how much and since when, in one line of plain text."""
    text = escape(f"{alert.title}, since {memory.since[:10]}")
    return text if len(text) <= _LONGEST_TITLE else f"{text[:_LONGEST_TITLE]}…"


def render_issue(alert: Alert, memory: Memory, links: Links) -> str:
    """Return the text of an issue below GitHub's limit; long lists are cut."""
    blocks = [Block("", (), (f"**{escaped(escape(alert.verdict))}**",))]
    if alert.evidence:
        blocks.append(Block("Evidence", _list(alert.evidence), noun="line"))
    if alert.reproduce:
        blocks.append(Block("Reproduce", (), (fenced(f"{_FETCH}\n{escape(alert.reproduce)}"),)))
    blocks.append(Block("History", [_state(s) for s in reversed(memory.states)], noun="day"))
    told = [
        *([f"[Site]({links.site}{alert.page})"] if links.site else []),
        *([f"[Run]({links.run})"] if links.run else []),
        "Closed by itself once rounds show that it is over; close it as not planned to mute it.",
    ]
    blocks.append(Block("", (), (" · ".join(told),)))
    return fit(blocks, LIMIT - _SPARE - len(_hidden(memory))) + f"\n{_hidden(memory)}\n"


def render_closed(body: str, memory: Memory, state: State) -> str:
    """Return the text of an issue that is over: the same, with a last state."""
    states = _states(memory.states, state)
    over = msgspec.structs.replace(memory, states=states)
    told = body.replace(_HISTORY, f"{_HISTORY}{_state(state)}\n", 1)
    return _MEMORY.sub(lambda _: _hidden(over), told)


def _list(lines: Sequence[str]) -> list[str]:
    return [f"- {escaped(escape(line))}" for line in lines]


def _state(state: State) -> str:
    run = f" ([run]({state.run}))" if state.run else ""
    return f"- {state.day}: {escaped(escape(state.told))}{run}"


def _hidden(memory: Memory) -> str:
    """Return a comment that holds the memory; nothing in it may end the comment."""
    data = msgspec.json.encode(memory).decode()
    return f"<!-- {_MARKER} {data.replace('>', chr(92) + 'u003e')} -->"
