"""A page for each triage note that explains a finding."""

from collections.abc import Collection, Iterable, Iterator
from pathlib import PurePosixPath
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

from regress.site.page import Page
from regress.site.subject import Subject
from regress.store.notes import load_note_text

__all__ = ["note_pages", "render_note"]

_MARKDOWN: Final = MarkdownIt("commonmark", {"html": False}).enable("table")
_SCROLL: Final = '<div class="scroll" tabindex="0" role="region" aria-label="Table">'


def note_pages(subject: Subject) -> Iterator[Page]:
    """Yield the page of every note that a finding names."""
    findings = subject.history.findings if subject.history else ()
    paths = sorted({note.path for finding in findings for note in finding.notes})
    names = {PurePosixPath(path).name for path in paths}
    for path in paths:
        text = load_note_text(path)
        stem = PurePosixPath(path).stem
        title = text.lstrip().partition("\n")[0].lstrip("# ").replace("`", "")
        yield Page(f"notes/{stem}.html", "note.html", title, {"text": render_note(text, names)})


def render_note(text: str, names: Collection[str]) -> Markup:
    """Return a note's Markdown as HTML.

    HTML in it is shown as text, and links to files that are not on the site are no links.

    Parameters
    ----------
    names
        File names of the notes that have pages.
    """
    tokens = _MARKDOWN.parse(text)
    for token in tokens:
        _lead(token.children or (), names)
    html = str(_MARKDOWN.renderer.render(tokens, _MARKDOWN.options, {}))
    html = html.replace("<table>", f"{_SCROLL}<table>").replace("</table>", "</table></div>")
    return Markup(html)  # noqa: S704 - the renderer escapes what it is given


def _lead(tokens: Iterable[Token], names: Collection[str]) -> None:
    """Let links between notes lead from page to page, and drop other relative ones."""
    kept = True
    for token in tokens:
        if token.type == "link_open":
            page, mark, place = str(token.attrs["href"]).partition("#")
            kept = "://" in page or page in names or not page
            if page in names:
                token.attrs["href"] = f"{page.removesuffix('.md')}.html{mark}{place}"
        if token.type in {"link_open", "link_close"} and not kept:
            token.tag, token.attrs = "span", {}
