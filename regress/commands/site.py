"""The command `site`: static pages of everything the rounds say."""

import argparse
import shlex
from pathlib import Path

from regress.commands.deliver import write
from regress.commands.options import folder, roots_of
from regress.config import load_config
from regress.counted import counted
from regress.errors import ExitCode, UsageError
from regress.output import complain
from regress.report.printable import escape
from regress.store.tree import LOCAL

__all__ = ["add"]


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    parser = commands.add_parser("site", help="write a site of every release and every cell")
    parser.add_argument("--to", type=folder, required=True, metavar="DIR", help="where it goes")
    parser.add_argument("--machine", metavar="NAME", help="needed if several machines measured")
    parser.add_argument(
        "--recorded", action="store_true", help="read the rounds kept in benchmarks/recorded"
    )
    parser.add_argument(
        "--rounds",
        action="append",
        type=folder,
        metavar="DIR",
        help="read the rounds under DIR too",
    )
    parser.add_argument(
        "--config", type=Path, metavar="FILE", help="TOML that overrides thresholds"
    )
    parser.add_argument(
        "--url",
        type=_address,
        metavar="URL",
        help="where it is going to be served: the links of the feed",
    )
    parser.add_argument(
        "--asv", action="store_true", help="publish asv's own site beside it, in DIR/asv"
    )
    parser.set_defaults(run=_run)


def _address(text: str) -> str:
    if not text.startswith(("https://", "http://")):
        msg = f"{text!r} is no address: give https://HOST/PATH/"
        raise argparse.ArgumentTypeError(msg)
    return text.rstrip("/") + "/"


def _run(options: argparse.Namespace) -> ExitCode:
    # Templates are loaded for this command alone.
    from regress.site.asv import publish_asv
    from regress.site.subject import load_subject
    from regress.site.write import write_site

    if options.asv and options.rounds:
        msg = "--asv knows the recorded rounds or this machine's own: leave out --rounds"
        raise UsageError(msg)
    config = load_config(options.config)
    roots = roots_of(options) or (LOCAL,)
    subject = load_subject(roots, options.machine, _source(options), config)
    written = write_site(subject, options.to, url=options.url or "", asv=options.asv)
    if options.asv:
        publish_asv(options.to / "asv", recorded=options.recorded)
    for line in subject.damaged:
        complain(f"regress: left out: {escape(line)}")
    write(f"{counted(written, 'page')}: open {options.to / 'index.html'}\n")
    return ExitCode.USAGE if subject.damaged else ExitCode.PASS


def _source(options: argparse.Namespace) -> str:
    """Return the options with which other commands read the same rounds."""
    words = ["--recorded"] if options.recorded else []
    for root in options.rounds or ():
        words += ["--rounds", str(root)]
    if options.machine:
        words += ["--machine", options.machine]
    return shlex.join(words)
