"""The page that leads to asv's own site."""

from collections.abc import Iterator

from regress.site.page import Page
from regress.site.subject import Subject

__all__ = ["asv_pages"]


def asv_pages(_subject: Subject) -> Iterator[Page]:
    """Yield the page; asv's own are written by `regress.site.asv`."""
    yield Page("asv.html", "asv.html", "asv")
