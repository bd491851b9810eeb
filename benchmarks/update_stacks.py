"""The action `stacks update`: stacks for releases that are new on the package index."""

import argparse
import sys
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name

from benchmarks.errors import UserError
from benchmarks.paths import STACKS
from benchmarks.stacks import Stack, format_time, load_stacks, parse_stacks

if TYPE_CHECKING:
    from benchmarks.index import Index, Release

__all__ = ["News", "add_update", "find_news"]


@dataclass(frozen=True, slots=True)
class News:
    """What the index has and the list has not, oldest first.

    Attributes
    ----------
    stacks
        What can be added.
    waiting
        Releases that are too young.
    by_hand
        Releases with prebuilt GPU code: only a person knows for which CUDA.
    problems
        Why releases or libraries could not be looked up, one line each.
    """

    stacks: tuple[Stack, ...]
    waiting: tuple["Release", ...]
    by_hand: tuple["Release", ...]
    problems: tuple[str, ...]


def find_news(index: "Index", known: tuple[Stack, ...], until: datetime) -> News:
    """Look for stable releases of every library on the list.

    What is older than the first stack of its library was left out on purpose, and so were
    pre-releases and what was yanked.

    Parameters
    ----------
    index
        Package index.
    known
        The list so far, oldest first.
    until
        Later uploads wait.
    """
    from benchmarks.companions import LIBRARIES, make_stack

    problems: list[str] = []
    fresh: list[Release] = []
    for library in LIBRARIES:
        try:
            fresh += _fresh(index, library, known)
        except UserError as error:
            problems.append(str(error))
    stacks: list[Stack] = []
    fresh.sort(key=lambda release: release.time)
    due = [release for release in fresh if release.time <= until]
    for release in due:
        if _is_prebuilt(release):
            continue
        try:
            listed = sorted((*known, *stacks), key=lambda stack: stack.time)
            stacks.append(make_stack(index, release.name, release.version, tuple(listed)))
        except UserError as error:
            problems.append(str(error))
    waiting = tuple(release for release in fresh if release.time > until)
    by_hand = tuple(release for release in due if _is_prebuilt(release))
    return News(tuple(stacks), waiting, by_hand, tuple(problems))


def _fresh(index: "Index", library: str, known: tuple[Stack, ...]) -> list["Release"]:
    from benchmarks.companions import tag_of

    tags = {stack.tag for stack in known}
    times = [stack.time for stack in known if _names(stack, library)]
    if not times:
        return []
    return [
        release
        for release in index.load_releases(library)
        if release.time > times[0]
        and not (release.prerelease or release.yanked)
        and tag_of(canonicalize_name(release.name), release.version) not in tags
    ]


def _names(stack: Stack, library: str) -> bool:
    """Whether a stack is a release of this library, and not one that is pinned beside another."""
    from benchmarks.companions import tag_of

    return library in stack.pins and stack.tag == tag_of(library, stack.pins[library])


def _is_prebuilt(release: "Release") -> bool:
    return not all(wheel.file.endswith("-any.whl") for wheel in release.wheels)


def add_update(actions: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `stacks update`."""
    parser = actions.add_parser("update", help="add what is new on the package index")
    parser.add_argument("--dry-run", action="store_true", help="only say what would be added")
    parser.add_argument(
        "--known", type=Path, metavar="FILE", help="first take over what this list has more"
    )
    parser.add_argument(
        "--min-age-h",
        type=_hours,
        default=timedelta(),
        metavar="HOURS",
        help="leave younger releases for another day (default 0)",
    )
    parser.set_defaults(func=_update)


def _hours(text: str) -> timedelta:
    if not text.isdecimal() or len(text) > len("8760"):
        msg = f"{text!r} is no number of hours"
        raise argparse.ArgumentTypeError(msg)
    return timedelta(hours=int(text))


def _update(arguments: argparse.Namespace) -> int:
    from benchmarks.index import open_index

    listed = tuple(stack for stack in load_stacks(STACKS) if not stack.ad_hoc)
    taken = _taken_over(arguments.known, listed) if arguments.known else ()
    known = tuple(sorted((*listed, *taken), key=lambda stack: stack.time))
    with open_index() as index:
        news = find_news(index, known, datetime.now(UTC) - arguments.min_age_h)
    if not arguments.dry_run:
        _write((*taken, *news.stacks))
    sys.stdout.write(_render(taken, news))
    if news.problems:
        raise UserError("; ".join(news.problems))
    return 0


def _taken_over(path: Path, listed: tuple[Stack, ...]) -> tuple[Stack, ...]:
    """Return what another list has more; without that file nothing was found before."""
    if not path.exists():
        return ()
    tags = {stack.tag for stack in listed}
    # What is no text is no TOML either, and that is told.
    found = parse_stacks(path.read_text(encoding="utf-8", errors="replace"), str(path))
    return tuple(stack for stack in found if stack.tag not in tags)


def _write(stacks: tuple[Stack, ...]) -> None:
    from benchmarks.stackfile import add_stack

    for stack in stacks:
        add_stack(STACKS, stack)


def _render(taken: tuple[Stack, ...], news: News) -> str:
    lines = [
        *(f"taken over: {_line(stack)}" for stack in taken),
        *(f"new: {_line(stack)}" for stack in news.stacks),
        *(f"waits: {r.name}=={r.version} of {format_time(r.time)}" for r in news.waiting),
        *(
            f"by hand: {r.name}=={r.version} brings prebuilt GPU code, say for which CUDA: "
            f"python -m benchmarks stacks add {r.name}=={r.version} --cuda MAJOR"
            for r in news.by_hand
        ),
    ]
    return "".join(f"{line}\n" for line in lines or ["nothing new"])


def _line(stack: Stack) -> str:
    pins = " ".join(f"{name}=={version}" for name, version in stack.pins.items())
    return f"{stack.tag}  {format_time(stack.time)}  {pins}"
