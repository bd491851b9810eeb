"""The command `doctor`: says whether this host is fit to measure."""

import argparse
import os
import sys
from pathlib import Path

from benchmarks.doctor.examination import (
    examine,
    is_fit,
    render_json,
    render_rules,
    render_text,
)
from benchmarks.doctor.probe import load_host
from benchmarks.stackfile import write_text
from benchmarks.stacks import find_stack
from benchmarks.venv import existing_folder

__all__ = ["add_parser"]


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `doctor`; it exits with 0 if the host is fit, 1 if results would be worthless."""
    parser = subparsers.add_parser("doctor", help="say whether this host is fit to measure")
    parser.add_argument("tags", nargs="*", metavar="TAG", help="stacks that will be measured")
    parser.add_argument(
        "--wheels", type=existing_folder, metavar="DIR", help="will install from this folder only"
    )
    parser.add_argument(
        "--modules", type=existing_folder, metavar="DIR", help="prebuilt FlashInfer modules"
    )
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.add_argument(
        "--json", type=Path, metavar="FILE", help="write the same as JSON there too, fit or not"
    )
    parser.add_argument(
        "--rules", action="store_true", help="show all rules as a table, and look at nothing"
    )
    parser.set_defaults(func=_run)


def _run(arguments: argparse.Namespace) -> int:
    if arguments.rules:
        sys.stdout.write(render_rules())
        return 0
    stacks = tuple(find_stack(tag) for tag in arguments.tags)
    wheels = arguments.wheels or _named("ATTN_WHEELS")
    host = load_host(stacks, wheels, arguments.modules or _named("ATTN_MODULES"))
    findings = examine(host)
    render = render_json if arguments.format == "json" else render_text
    if arguments.json:
        write_text(arguments.json, render_json(host, findings))
    sys.stdout.write(render(host, findings))
    return 0 if is_fit(findings) else 1


def _named(variable: str) -> Path | None:
    value = os.environ.get(variable)
    return Path(value) if value else None
