"""Say what got worse between two stacks, and which backend to use."""

import argparse
import shlex
import sys
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from math import inf
from pathlib import Path
from typing import Final, TypeVar

from regress.config import load_config
from regress.errors import ExitCode, RegressError, UsageError
from regress.model.waiver import Waivers
from regress.output import (
    complain,
    speak_any_character,
    stdout_is_terminal,
    write_file,
    write_stdout,
)
from regress.pipeline.backends import backends
from regress.pipeline.check import check
from regress.pipeline.documents import write_documents
from regress.pipeline.request import AUTO_TIER, TIERS, Request
from regress.report import BACKENDS_RENDERERS, CHECK_RENDERERS
from regress.report.printable import escape
from regress.report.round_text import render_round_text
from regress.report.settings import render_settings, render_thresholds
from regress.report.view import View
from regress.store.load import load_round
from regress.store.tree import LOCAL, RECORDED, is_folder
from regress.store.waivers import WAIVERS_FILE, load_waivers

__all__ = ["main"]

_Report = TypeVar("_Report")

_EPILOG: Final = (
    "exit codes: 0 pass, 1 regression (or broken, or gone), 2 usage, 3 undecided, 4 no data; "
    "2 beats 1 beats 4 beats 3 beats 0"
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; errors are one line on stderr, and never the code of a regression.

    Parameters
    ----------
    arguments
        Without the program's name; those of the process if None.
    """
    argv = sys.argv[1:] if arguments is None else list(arguments)
    speak_any_character()
    try:
        options = _parser().parse_args(argv)
        options.command = shlex.join(["python", "-m", "regress", *argv])
        code: ExitCode = options.run(options)
    except RegressError as error:
        complain(f"regress: {escape(str(error))}")
        return int(error.exit_code)
    except Exception:  # noqa: BLE001 - Python's own code for it is 1, which means REGRESSION here
        complain(f"{traceback.format_exc()}regress: internal error, nothing was judged")
        return int(ExitCode.USAGE)
    return int(code)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m regress", description=__doc__, epilog=_EPILOG)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    compare = commands.add_parser("check", help="what changed from one stack to another")
    compare.add_argument("base", metavar="BASE", help="stack tag, e.g. v0.6.0")
    compare.add_argument("head", metavar="HEAD", help="stack tag, e.g. v0.6.1")
    _add_selection(compare, CHECK_RENDERERS)
    _add_waivers(compare)
    compare.set_defaults(run=_run_check)
    choose = commands.add_parser("backends", help="which backend to use under a stack")
    choose.add_argument("stack", metavar="STACK", help="stack tag, e.g. v0.6.1")
    _add_selection(choose, BACKENDS_RENDERERS)
    choose.add_argument(
        "--fail-over",
        type=_regret,
        metavar="R",
        help="exit 1 if a regret is shown above R, e.g. 1.2",
    )
    choose.set_defaults(run=_run_backends)
    show = commands.add_parser("show", help="what a round file holds")
    show.add_argument("file", metavar="ROUNDFILE", type=Path)
    show.add_argument("--all", action="store_true", help="list every case")
    show.set_defaults(run=_run_show)
    config = commands.add_parser("config", help="print the effective configuration")
    config.add_argument("--config", type=Path, metavar="FILE", help="TOML that overrides defaults")
    config.add_argument("--markdown", action="store_true", help="as a table of thresholds")
    config.set_defaults(run=_run_config)
    docs = commands.add_parser("docs", help="write the generated parts of regress/docs again")
    docs.set_defaults(run=_run_docs)
    return parser


def _add_selection(parser: argparse.ArgumentParser, formats: Iterable[str]) -> None:
    add = parser.add_argument
    add("--tier", choices=TIERS, default=AUTO_TIER, help="cases to judge (auto: up to nightly)")
    add("--cells", metavar="REGEX", help="only cases whose workload@backend contains this")
    add("--machine", metavar="NAME", help="needed if several machines measured the stacks")
    add("--recorded", action="store_true", help="read the rounds kept in benchmarks/recorded")
    add(
        "--rounds",
        action="append",
        type=_folder,
        metavar="DIR",
        help="read the rounds under DIR too",
    )
    add("--format", choices=tuple(formats), default="text")
    add("--output", type=Path, metavar="FILE", help="write there instead of to the terminal")
    add(
        "--report",
        action="append",
        default=[],
        metavar="FORMAT=FILE",
        help="write this format there too; may be given several times",
    )
    add("--config", type=Path, metavar="FILE", help="TOML that overrides thresholds")
    add("--all", action="store_true", help="list what is folded, too")


def _add_waivers(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--waivers",
        type=Path,
        metavar="FILE",
        help="what is accepted for now (default: waivers.toml of this checkout, if there is one)",
    )


def _regret(text: str) -> float:
    value = float(text)
    if not 1 <= value < inf:
        msg = f"{text} is no regret: give a ratio from 1 up, e.g. 1.2"
        raise argparse.ArgumentTypeError(msg)
    return value


def _folder(text: str) -> Path:
    if not text:
        # A script's empty variable would otherwise mean the current folder.
        msg = "an empty name is no folder"
        raise argparse.ArgumentTypeError(msg)
    return Path(text)


def _request(options: argparse.Namespace) -> Request:
    roots = list(options.rounds or ())
    for root in roots:
        if not is_folder(root):
            msg = f"--rounds {root} is no folder"
            raise UsageError(msg)
    if options.recorded:
        roots.append(RECORDED)
    return Request(
        roots=tuple(roots or [LOCAL]),
        machine=options.machine,
        tier=options.tier,
        pattern=options.cells,
        command=options.command,
    )


def _waivers(options: argparse.Namespace) -> Waivers | None:
    path: Path | None = options.waivers
    if path is None:
        if not WAIVERS_FILE.exists():
            return None
        path = WAIVERS_FILE
    return Waivers(path.name, load_waivers(path), datetime.now(UTC).date())


def _run_check(options: argparse.Namespace) -> ExitCode:
    config, targets = load_config(options.config), _targets(options, CHECK_RENDERERS)
    request = replace(_request(options), waivers=_waivers(options))
    report = check(options.base, options.head, request, config)
    _deliver(report, options, CHECK_RENDERERS, targets)
    return report.exit_code


def _run_backends(options: argparse.Namespace) -> ExitCode:
    config, targets = load_config(options.config), _targets(options, BACKENDS_RENDERERS)
    report = backends(options.stack, _request(options), config, fail_over=options.fail_over)
    _deliver(report, options, BACKENDS_RENDERERS, targets)
    return report.exit_code


def _targets(options: argparse.Namespace, formats: Iterable[str]) -> dict[Path, str]:
    """Return the format of each further report by its file, before anything is judged."""
    found: dict[Path, str] = {}
    for text in options.report:
        name, _, file = text.partition("=")
        if name not in formats or not file:
            msg = f"--report {text}: give FORMAT=FILE with a format of {', '.join(formats)}"
            raise UsageError(msg)
        path = Path(file)
        if path in {*found, options.output}:
            msg = f"--report {text}: another report goes to {file} already"
            raise UsageError(msg)
        found[path] = name
    return found


def _deliver(
    report: _Report,
    options: argparse.Namespace,
    renderers: Mapping[str, Callable[[_Report, View], str]],
    targets: Mapping[Path, str],
) -> None:
    """Write every further report, then the one asked for; each whole or not at all."""
    plain = View(everything=options.all)
    texts = {path: renderers[name](report, plain) for path, name in targets.items()}
    main_text = renderers[options.format](report, _view(options))
    for path, text in texts.items():
        write_file(text, path)
    _write(main_text, options.output)


def _run_show(options: argparse.Namespace) -> ExitCode:
    options.output = None
    _write(render_round_text(load_round(options.file), _view(options)), None)
    return ExitCode.PASS


def _run_config(options: argparse.Namespace) -> ExitCode:
    config = load_config(options.config)
    _write(render_thresholds(config) if options.markdown else render_settings(config), None)
    return ExitCode.PASS


def _run_docs(_options: argparse.Namespace) -> ExitCode:
    for path in write_documents():
        _write(f"wrote {path}\n", None)
    return ExitCode.PASS


def _view(options: argparse.Namespace) -> View:
    terminal = options.output is None and stdout_is_terminal()
    return View(color=terminal, everything=options.all)


def _write(text: str, path: Path | None) -> None:
    if path is None:
        write_stdout(text)
    else:
        write_file(text, path)
