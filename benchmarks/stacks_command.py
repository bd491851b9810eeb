"""The command `stacks`: show and extend the lists of stacks."""

import argparse
import sys
from pathlib import Path

from benchmarks.adhoc import make_from_git, make_from_wheel
from benchmarks.errors import UserError
from benchmarks.paths import ADHOC, STACKS
from benchmarks.pinned import add_pins
from benchmarks.stacks import Stack, find_stack, format_time, load_stacks
from benchmarks.update_stacks import add_update

__all__ = ["add_parser", "render_stacks"]


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `stacks` with its actions."""
    parser = subparsers.add_parser("stacks", help="show and extend the list of stacks")
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    shown = actions.add_parser("list", help="show all stacks, oldest first")
    shown.set_defaults(func=_list)
    added = actions.add_parser("add", help="add a release from the package index")
    added.add_argument("release", metavar="NAME==VERSION", help="e.g. flashinfer-python==0.6.5")
    added.add_argument(
        "--cuda", default="", metavar="MAJOR", help="CUDA its prebuilt GPU code is linked to"
    )
    added.set_defaults(func=_add)
    add_update(actions)
    add_pins(actions)
    local = actions.add_parser("adhoc", help="add a stack of this machine only")
    local.add_argument("tag", metavar="TAG")
    origin = local.add_mutually_exclusive_group(required=True)
    origin.add_argument("--wheel", type=Path, metavar="PATH", help="a wheel file")
    origin.add_argument("--git", metavar="URL@COMMIT", help="a commit of FlashInfer")
    local.add_argument(
        "--base", metavar="TAG", help="published stack whose other pins are taken over"
    )
    local.set_defaults(func=_adhoc)


def render_stacks(stacks: tuple[Stack, ...]) -> str:
    """Return a table of stacks: tag, time and pins."""
    width = max((len(stack.tag) for stack in stacks), default=0)
    lines = []
    for stack in stacks:
        pins = " ".join(f"{name}=={version}" for name, version in stack.pins.items())
        note = "  (ad hoc)" if stack.ad_hoc else ""
        lines.append(f"{stack.tag:{width}}  {format_time(stack.time)}  {pins}{note}\n")
    return "".join(lines)


def _list(_: argparse.Namespace) -> None:
    sys.stdout.write(render_stacks(load_stacks()))


def _add(arguments: argparse.Namespace) -> None:
    from benchmarks.companions import make_stack
    from benchmarks.index import open_index
    from benchmarks.stackfile import add_stack

    name, separator, version = arguments.release.partition("==")
    if not (name and separator and version):
        msg = f"{arguments.release!r} is no NAME==VERSION, e.g. flashinfer-python==0.6.5"
        raise UserError(msg)
    known = tuple(stack for stack in load_stacks() if not stack.ad_hoc)
    with open_index() as index:
        stack = make_stack(index, name, version, known, arguments.cuda)
    add_stack(STACKS, stack)
    sys.stdout.write(render_stacks((stack,)))


def _adhoc(arguments: argparse.Namespace) -> None:
    from benchmarks.stackfile import add_stack

    base = find_stack(arguments.base) if arguments.base else None
    known = load_stacks()
    if arguments.tag in {stack.tag for stack in known}:
        msg = f"a stack is called {arguments.tag} already: choose another tag"
        raise UserError(msg)
    if arguments.wheel:
        stack = make_from_wheel(arguments.tag, arguments.wheel, base)
    else:
        stack = make_from_git(arguments.tag, arguments.git, base)
    add_stack(ADHOC / f"{stack.tag}.toml", stack)
    sys.stdout.write(render_stacks((stack,)))
