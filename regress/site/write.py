"""Writing the site: pages, their assets, nothing else."""

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
from regress.site.pages.notes import note_pages
from regress.site.pages.overview import overview_pages
from regress.site.pages.regret import regret_pages
from regress.site.pages.release import release_pages
from regress.site.pages.roofline import roofline_pages
from regress.site.pages.thresholds import threshold_pages
from regress.site.pages.upgrade import upgrade_data, upgrade_pages
from regress.site.subject import Subject

__all__ = ["write_site"]

_HERE: Final = Path(__file__).parent
_ASSETS: Final = (
    "assets/site.css",
    "assets/site.js",
    "assets/charts.js",
    "assets/parts.js",
    "assets/compare.js",
    "assets/upgrade.js",
    "assets/roofline.js",
    "assets/theme.js",
    "vendor/d3.min.js",
    "vendor/plot.umd.min.js",
    "vendor/inter.woff2",
    "vendor/plex-mono.woff2",
    "vendor/LICENCES.txt",
)
_LIST: Final = "written.txt"
"""Lists every file of the site, so that the next call knows which of them are stale."""
_PAGES: Final = (
    overview_pages,
    upgrade_pages,
    release_pages,
    compare_pages,
    cell_pages,
    regret_pages,
    threshold_pages,
    roofline_pages,
    claims_pages,
    finding_pages,
    note_pages,
)


def write_site(subject: Subject, folder: Path, *, url: str = "", asv: bool = False) -> int:
    """Write every page under a folder and return how many; the same rounds give the same bytes.

    What an earlier call wrote there and this one does not is removed, nothing else.

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
    before = _listed(folder)
    written = []
    for path, content in _files(subject, url, asv=asv):
        _make((folder / path).parent)
        write_file(content, folder / path)
        written.append(path)
    write_file("".join(f"{path}\n" for path in sorted(written)), folder / _LIST)
    for path in sorted(before - {*written}):
        if (folder / path).is_file():
            (folder / path).unlink()
    return sum(path.endswith(".html") for path in written)


def _listed(folder: Path) -> set[str]:
    """Return what an earlier call wrote, of what lies inside the folder."""
    try:
        lines = (folder / _LIST).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return set()
    inside = folder.resolve()
    return {line for line in lines if line and (folder / line).resolve().is_relative_to(inside)}


def _files(subject: Subject, url: str, *, asv: bool) -> Iterator[tuple[str, str | bytes]]:
    """Yield (path under the site's folder, what it holds)."""
    shared = _shared(subject, asv=asv)
    for page in _pages(subject, asv=asv):
        yield page.path, render(page, shared)
    yield "data/rounds.js", _script("rounds", [*_rounds(subject)])
    for path, name, value in chain(compare_data(subject), upgrade_data(subject)):
        yield path, _script(name, value)
    yield "findings.atom", feed(subject, url)
    for name in _ASSETS:
        yield f"assets/{Path(name).name}", (_HERE / name).read_bytes()


def _script(name: str, value: object) -> str:
    """Return a script that keeps a value for pages: browsers let no page fetch a file."""
    return f"(window.SITE??={{}})[{as_json(name)}]={as_json(value)};\n"


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


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        msg = f"cannot make {folder}: {error.strerror or error}"
        raise UsageError(msg) from error
