"""The command `change-points`: how well they are found, measured on generated and real series."""

import argparse
import os
from pathlib import Path
from typing import Final

import msgspec

from regress.commands.deliver import write
from regress.commands.options import folder
from regress.config import load_config
from regress.errors import ExitCode
from regress.output import write_file
from regress.pipeline.change_points.quality import measure_quality
from regress.pipeline.documents import DOCS, fill
from regress.report.change_points_markdown import (
    render_change_point_blocks,
    render_change_points,
)

__all__ = ["PAGE", "add"]

PAGE: Final = DOCS / "change-points.md"


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    parser = commands.add_parser("change-points", help="how well change points are found")
    option = parser.add_argument
    option(
        "--treeherder",
        type=folder,
        default=os.environ.get("ATTN_TREEHERDER") or None,
        metavar="DIR",
        help="folder with runs1.json, runs2.json and tp5rss.json of Treeherder's tests "
        "(default: ATTN_TREEHERDER; without either only generated series)",
    )
    option("--otava", type=folder, metavar="DIR", help="what pip install --target put Otava into")
    option("--write", action="store_true", help="write the tables into regress/docs too")
    option("--format", choices=("markdown", "json"), default="markdown")
    option("--output", type=Path, metavar="FILE", help="write there instead of to the terminal")
    option("--config", type=Path, metavar="FILE", help="TOML that overrides thresholds")
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> ExitCode:
    treeherder = Path(options.treeherder) if options.treeherder else None
    config = load_config(options.config)
    told = measure_quality(config, options.command, treeherder, options.otava)
    if options.write:
        blocks = render_change_point_blocks(told)
        write_file(fill(PAGE.read_text(encoding="utf-8"), blocks), PAGE)
    if options.format == "json":
        write(
            msgspec.json.format(msgspec.json.encode(told), indent=1).decode() + "\n", options.output
        )
    else:
        write(render_change_points(told), options.output)
    return ExitCode.PASS
