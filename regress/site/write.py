"""Writing the site: pages, their assets, nothing else."""

import shutil
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any, Final

from regress.errors import UsageError
from regress.output import write_file
from regress.pipeline.ab.runs import is_whole
from regress.site.page import Page, as_json, render
from regress.site.pages.asv import asv_pages
from regress.site.pages.cell import cell_pages
from regress.site.pages.claims import claims_pages
from regress.site.pages.compare import compare_data, compare_pages
from regress.site.pages.findings import feed, finding_pages
from regress.site.pages.overview import overview_pages
from regress.site.pages.regret import regret_pages
from regress.site.pages.release import release_pages
from regress.site.pages.roofline import roofline_pages
from regress.site.pages.thresholds import threshold_pages
from regress.site.subject import Subject

__all__ = ["write_site"]

_HERE: Final = Path(__file__).parent
_ASSETS: Final = (
    "assets/site.css",
    "assets/site.js",
    "assets/charts.js",
    "assets/compare.js",
    "assets/roofline.js",
    "assets/theme.js",
    "vendor/d3.min.js",
    "vendor/plot.umd.min.js",
    "vendor/inter.woff2",
    "vendor/plex-mono.woff2",
    "vendor/LICENCES.txt",
)
_PAGES: Final = (
    overview_pages,
    release_pages,
    compare_pages,
    cell_pages,
    regret_pages,
    threshold_pages,
    roofline_pages,
    claims_pages,
    finding_pages,
)


def write_site(subject: Subject, folder: Path, *, url: str = "", asv: bool = False) -> int:
    """Write every page under a folder and return how many.

    Parameters
    ----------
    url
        Where the site is going to be served, for the feed; empty if that is not known.
    asv
        Whether asv's own site is linked to.

    Raises
    ------
    UsageError
        If something cannot be written.
    """
    shared = _shared(subject, asv=asv)
    written = 0
    for page in _pages(subject, asv=asv):
        _write(render(page, shared), folder / page.path)
        written += 1
    for path, name, value in (
        ("data/rounds.js", "rounds", [*_rounds(subject)]),
        *compare_data(subject),
    ):
        _write(f"(window.SITE??={{}})[{as_json(name)}]={as_json(value)};\n", folder / path)
    _write(feed(subject, url), folder / "findings.atom")
    for name in _ASSETS:
        _copy(_HERE / name, folder / "assets" / Path(name).name)
    return written


def _pages(subject: Subject, *, asv: bool) -> Iterator[Page]:
    kinds = (*_PAGES, asv_pages) if asv else _PAGES
    return chain.from_iterable(make(subject) for make in kinds)


def _rounds(subject: Subject) -> Iterator[tuple[str, ...]]:
    """Yield every round in the order of its number: pages name rounds by that."""
    for tag, rounds in subject.rounds.items():
        for r in rounds:
            kind = r.tier if is_whole(r) else "looked again"
            yield r.id, tag, r.campaign, r.started_at, kind, r.machine.gpu_uuid[-6:]


def _shared(subject: Subject, *, asv: bool) -> dict[str, Any]:
    setup = dict(subject.setup)
    return {
        "asv": asv,
        "machine": subject.machine,
        "machine_line": f"{setup['gpu']}, driver branch {setup['driver branch']}, "
        f"CUDA {setup['cuda']}, torch {setup['torch']}",
        "options": subject.source,
        "source": f"python -m regress … {subject.source}".rstrip(),
        "damaged": subject.damaged,
    }


def _write(text: str, path: Path) -> None:
    _make(path.parent)
    write_file(text, path)


def _copy(source: Path, target: Path) -> None:
    _make(target.parent)
    try:
        shutil.copyfile(source, target)
    except OSError as error:
        msg = f"cannot write {target}: {error.strerror or error}"
        raise UsageError(msg) from error


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        msg = f"cannot make {folder}: {error.strerror or error}"
        raise UsageError(msg) from error
