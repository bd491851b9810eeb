"""asv's own site beside ours, with what it loads from other hosts kept here."""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

from regress.errors import UsageError
from regress.output import write_file

__all__ = ["localise", "publish_asv"]

_VENDOR: Final = Path(__file__).parent / "vendor" / "asv"
_REPOSITORY: Final = Path(__file__).parents[2]
_KEPT: Final = {
    "jquery-3.3.1.min.js": "jquery.min.js",
    "jquery.flot.min.js": "jquery.flot.js",
    "jquery.flot.time.min.js": "jquery.flot.time.js",
    "jquery.flot.selection.min.js": "jquery.flot.selection.js",
    "jquery.flot.categories.min.js": "jquery.flot.categories.js",
    "jquery.flot.orderBars.js": "jquery.flot.orderBars.js",
    "stupidtable.min.js": "stupidtable.min.js",
    "md5.min.js": "md5.min.js",
    "bootstrap.min.js": "bootstrap.min.js",
    "bootstrap.min.css": "bootstrap.min.css",
}
"""Name of a file on another host: name of the same file here."""
_LOADED: Final = re.compile(r'<(?:script|link)\b[^>]*?(?:src|href)="(https?://[^"]+)"[^>]*>')
_FROM_FILES: Final = (
    '<script>if (location.protocol === "file:") location.replace("../asv.html");</script>'
)
"""Browsers forbid for files how these pages load data: ours beside them says what to do."""


def publish_asv(folder: Path, *, recorded: bool) -> None:
    """Write asv's site of all rounds under a folder.

    asv's results and its repository are made anew from the round files first.

    Parameters
    ----------
    recorded
        Whether the rounds are the recorded ones, or this machine's own.

    Raises
    ------
    UsageError
        If the export or asv fails, or asv loads a file that is not kept here.
    """
    export = ["benchmarks", "export", *(["--recorded"] if recorded else [])]
    _run([sys.executable, "-m", *export], "export")
    target = str(folder.resolve())
    _run([sys.executable, "-m", "asv", "publish", "--no-pull", "--html-dir", target], "asv publish")
    page = folder / "index.html"
    try:
        write_file(localise(page.read_text(encoding="utf-8")), page)
        for name in _KEPT.values():
            shutil.copyfile(_VENDOR / name, folder / name)
    except OSError as error:
        msg = f"cannot finish {page}: {error.strerror or error}"
        raise UsageError(msg) from error


def localise(html: str) -> str:
    """Return asv's page with every script and style sheet taken from its own folder.

    Raises
    ------
    UsageError
        If it loads a file that is not kept here, as another release of asv might.
    """

    def local(found: re.Match[str]) -> str:
        name = found[1].rpartition("/")[2]
        if name not in _KEPT:
            msg = f"asv's page loads {name}, which is not kept here: use the locked asv"
            raise UsageError(msg)
        if found[0].startswith("<link"):
            return f'<link rel="stylesheet" href="{_KEPT[name]}">'
        return f'<script src="{_KEPT[name]}" onerror="js_load_failure()">'

    return _LOADED.sub(local, html).replace("<head>", f"<head>{_FROM_FILES}", 1)


def _run(command: list[str], name: str) -> None:
    done = subprocess.run(command, cwd=_REPOSITORY, capture_output=True, text=True, check=False)
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()
        msg = f"`{name}` failed: {said[-1] if said else f'exit code {done.returncode}'}"
        raise UsageError(msg)
