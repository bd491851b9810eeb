"""asv's page without other hosts."""

from importlib.resources import files

import pytest

from regress.errors import UsageError
from regress.site.asv import localise

PAGE = (files("asv") / "www" / "index.html").read_text()


def test_the_page_of_the_locked_asv_loads_nothing_from_elsewhere() -> None:
    """Every script and style sheet of asv's own page is taken from its folder."""
    assert 'src="https://' in PAGE
    local = localise(PAGE)
    assert 'src="http' not in local
    assert '<link rel="stylesheet" href="http' not in local
    assert "integrity=" not in local
    assert 'src="jquery.min.js"' in local


def test_a_file_that_is_not_kept_is_named() -> None:
    """Another release of asv that loads something else is refused, not published broken."""
    with pytest.raises(UsageError, match=r"new-library\.js, which is not kept here"):
        localise('<head></head><script src="https://host/new-library.js"></script>')
