"""What asv's own command line says: the cells it selects and the stacks it names."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from asv import commands

from benchmarks.errors import UserError
from benchmarks.ledger import BRANCH
from benchmarks.stacks import Stack, find_stack

__all__ = ["asked_for", "check_names"]

_REVISIONS: Final = ("range", "base", "branch", "revision1", "revision2")
_WORDS: Final = frozenset({"", "ALL", "NEW", "EXISTING", "HEAD", BRANCH})
_HASH: Final = re.compile(r"[0-9a-f]{4,40}")


def _parse(argv: Sequence[str]) -> dict[str, Any]:
    parser, _ = commands.make_argparser()
    return dict(vars(parser.parse_args(list(argv))))


def asked_for(argv: Sequence[str]) -> dict[str, str]:
    """Return what asv's own command line selects, as variables for the worker.

    `-b` and the benchmark of `asv find` become ATTN_BENCH, `--quick` becomes ATTN_QUICK.
    """
    arguments = _parse(argv)
    bench = arguments.get("bench") or []
    patterns = [bench] if isinstance(bench, str) else list(bench)
    found = {"ATTN_BENCH": json.dumps(patterns)}
    return found | ({"ATTN_QUICK": "1"} if arguments.get("quick") else {})


def check_names(argv: Sequence[str], stacks: tuple[Stack, ...]) -> None:
    """Refuse a command line that names a stack that is not in the lists.

    asv itself ends in a traceback then.

    Raises
    ------
    UserError
        If a tag is unknown, or the range is TAGS, which asv 0.6.6 stores under names that no
        other command of its finds.
    """
    arguments = _parse(argv)
    for name in _REVISIONS:
        value = arguments.get(name)
        for tag in _tags(value) if isinstance(value, str) else ():
            if tag == "TAGS":
                msg = "asv stores results of TAGS under the wrong names: use ALL, or a range"
                raise UserError(msg)
            find_stack(tag, stacks)


def _tags(revision: str) -> Iterator[str]:
    if revision.startswith("HASHFILE:"):
        return
    for end in re.split(r"\.\.\.?", revision):
        word = re.sub(r"[\^~:@].*", "", end)
        if word not in _WORDS and not _HASH.fullmatch(word):
            yield word
