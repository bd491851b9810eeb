"""Markdown of untrusted text, and reports that stay within a limit.

Reasons come from libraries and names from files: nothing in them may become markup, mention a
user or refer to an issue.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from regress.counted import counted

__all__ = ["LIMIT", "Block", "escaped", "fenced", "fit", "literal", "row", "table"]

LIMIT: Final = 65_536
"""Characters in a comment on GitHub; counted here in bytes of UTF-8, which are never fewer."""

REST: Final = "`--format json`"
"""Where rows are that were cut."""

_LONGEST: Final = 400
_LONGEST_COMMAND: Final = 4_000
_PLAIN: Final = re.compile(r"[\w@.,:;=+/%-][\w@.,:;=+/% -]*", re.ASCII)
# An underscore inside a word is no markup, and names are full of them.
_MARKUP: Final = re.compile(r"[&<>\\`*\[\]~|$]|(?<![^\W_])_|_(?![^\W_])")
_LINKING: Final = re.compile(r"[@#]|(?<=\bGH)-(?=\d)", re.IGNORECASE)
_UNLINKED: Final = "&#8203;"


def escaped(text: str) -> str:
    """Return prose as prose: no markup, no mention, no reference; cut if it is long."""
    safe = _MARKUP.sub(_entity, _cut(text).replace(" -> ", " → "))
    # Entities have a # of their own, which must stay as it is.
    parts = re.split(r"(&#\d+;)", safe)
    parts[::2] = [_LINKING.sub(rf"\g<0>{_UNLINKED}", part) for part in parts[::2]]
    return "".join(parts)


def literal(text: str) -> str:
    """Return text as code; cut if it is long."""
    text = _cut(text)
    if _PLAIN.fullmatch(text):
        return f"`{text}`"
    return f"<code>{_MARKUP.sub(_entity, text)}</code>"


def fenced(text: str, language: str = "sh") -> str:
    """Return text as a block of code that no backtick in it ends; cut if it is very long."""
    text = _cut(text, _LONGEST_COMMAND)
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def _entity(found: re.Match[str]) -> str:
    return f"&#{ord(found[0])};"


def _cut(text: str, longest: int = _LONGEST) -> str:
    return text if len(text) <= longest else f"{text[:longest]}…"


def row(cells: Iterable[str]) -> str:
    """Return a row of a table; its cells are Markdown already."""
    return f"| {' | '.join(cells)} |"


def table(*titles: str) -> tuple[str, str]:
    """Return the two lines above the rows of a table."""
    return row(titles), row("---" for _ in titles)


@dataclass(frozen=True, slots=True)
class Block:
    """A part of a report whose rows may be cut.

    Attributes
    ----------
    title
        Heading, or summary if it is folded; empty for none. It is Markdown already.
    rows
        The lines in question, in order.
    head
        Lines above the rows.
    folded
        Whether the reader must open it.
    noun
        What a row is, for the line that says how many were cut.
    """

    title: str
    rows: Sequence[str]
    head: Sequence[str] = ()
    folded: bool = False
    noun: str = "row"

    def render(self, shown: int, rest: str = REST) -> str:
        """Return the block with its first `shown` rows, and how many more there are."""
        body = "\n".join((*self.head, *self.rows[:shown]))
        if shown < len(self.rows):
            more = counted(len(self.rows) - shown, f"more {self.noun}")
            body += f"\n\n… {more}, cut to fit: {rest} has all."
        if self.folded:
            return f"<details><summary>{self.title}</summary>\n\n{body}\n\n</details>"
        return f"#### {self.title}\n\n{body}" if self.title else body


def fit(blocks: Sequence[Block], limit: int = LIMIT, rest: str = REST) -> str:
    """Return the blocks as one text below the limit; earlier blocks keep more of their rows.

    What a block has beside its rows is never cut: whoever makes it keeps that short. `rest` says
    where rows are that were cut.
    """
    shown = [0] * len(blocks)
    left = limit - sum(_size(block.render(0, rest)) + len("\n\n") for block in blocks)
    for number, block in enumerate(blocks):
        for line in block.rows:
            left -= _size(line) + len("\n")
            if left <= 0:
                break
            shown[number] += 1
    texts = (block.render(count, rest) for block, count in zip(blocks, shown, strict=True))
    return "\n\n".join(texts) + "\n"


def _size(text: str) -> int:
    return len(text.encode("utf-8", "backslashreplace"))
