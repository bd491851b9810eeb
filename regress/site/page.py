"""A page: where it lies, and the template that makes it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from regress.counted import counted
from regress.report.history_stories import headline_of, sources_of
from regress.site import words

__all__ = ["NAVIGATION", "Page", "as_json", "render"]

_TEMPLATES: Final = Path(__file__).with_name("templates")
NAVIGATION: Final = (
    ("index.html", "Overview"),
    ("upgrade.html", "Upgrade"),
    ("cells.html", "Cells"),
    ("compare.html", "Compare"),
    ("regret.html", "Regret"),
    ("thresholds.html", "Thresholds"),
    ("roofline.html", "Roofline"),
    ("claims.html", "Claims"),
    ("findings.html", "Findings"),
)
"""Pages that every page links to."""


@dataclass(frozen=True, slots=True)
class Page:
    """One page to be written.

    Attributes
    ----------
    path
        Under the site's folder, with `/`.
    template
        File name of its template.
    title
        In the window and in bookmarks.
    values
        What the template shows.
    """

    path: str
    template: str
    title: str
    values: Mapping[str, Any] = field(default_factory=dict)

    @property
    def root(self) -> str:
        """Leads from the page to the site's folder."""
        return "../" * self.path.count("/")


def render(page: Page, shared: Mapping[str, Any]) -> str:
    """Return the page's HTML.

    Parameters
    ----------
    shared
        What every page shows.
    """
    template = _environment().get_template(page.template)
    return template.render({**shared, **page.values, "page": page, "root": page.root})


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["navigation"] = NAVIGATION
    environment.globals["marks"] = words.MARKS
    environment.filters |= {
        "us": words.us,
        "times": words.times,
        "interval": words.interval,
        "bound": words.bound,
        "workload": words.workload_words,
        "cell_path": words.path_of_cell,
        "release_path": words.path_of_release,
        "data": as_json,
        "sentence": words.sentence,
        "lower_first": words.lower_first,
        "counted": counted,
        "headline": headline_of,
        "sources": sources_of,
    }
    return environment


def as_json(value: Any) -> Markup:
    """Return JSON that can stand inside a script element whatever it holds."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    return Markup(text.replace("<", "\\u003c"))  # noqa: S704 - no tag can end in it
