"""The commands that show what is there: `show`, `config` and `docs`."""

import argparse
from pathlib import Path

from regress.commands.deliver import view_of, write
from regress.config import load_config
from regress.errors import ExitCode
from regress.pipeline.documents import write_documents
from regress.report.round_text import render_round_text
from regress.report.settings import render_settings, render_thresholds
from regress.store.load import load_round

__all__ = ["add"]


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the commands."""
    show = commands.add_parser("show", help="what a round file holds")
    show.add_argument("file", metavar="ROUNDFILE", type=Path)
    show.add_argument("--all", action="store_true", help="list every case")
    show.set_defaults(run=_show, output=None)
    config = commands.add_parser("config", help="print the effective configuration")
    config.add_argument("--config", type=Path, metavar="FILE", help="TOML that overrides defaults")
    config.add_argument("--markdown", action="store_true", help="as a table of thresholds")
    config.set_defaults(run=_config)
    docs = commands.add_parser("docs", help="write the generated parts of regress/docs again")
    docs.set_defaults(run=_docs)


def _show(options: argparse.Namespace) -> ExitCode:
    write(render_round_text(load_round(options.file), view_of(options)))
    return ExitCode.PASS


def _config(options: argparse.Namespace) -> ExitCode:
    config = load_config(options.config)
    write(render_thresholds(config) if options.markdown else render_settings(config))
    return ExitCode.PASS


def _docs(_options: argparse.Namespace) -> ExitCode:
    for path in write_documents():
        write(f"wrote {path}\n")
    return ExitCode.PASS
