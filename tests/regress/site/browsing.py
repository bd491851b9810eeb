"""A browser without a screen: Chromium or Chrome, whichever this host has."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, ViewportSize, sync_playwright

__all__ = ["NARROW", "WIDE", "Watched", "launch", "watch"]

WIDE: ViewportSize = {"width": 1280, "height": 900}
NARROW: ViewportSize = {"width": 390, "height": 844}
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@contextmanager
def launch() -> Iterator[Browser]:
    """Start the browser. In CI it must be there; elsewhere the test is skipped without one."""
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        if os.environ.get("CI"):
            pytest.fail(f"none of {', '.join(NAMES)} is installed: `.ci/run` installs one")
        pytest.skip(f"no browser: install one of {', '.join(NAMES)}")
    with sync_playwright() as playwright:
        # As root, as in a container, Chromium has no sandbox of its own.
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@dataclass
class Watched:
    """A page whose requests and complaints are noted.

    Attributes
    ----------
    asked
        Addresses that it asked for.
    complaints
        Errors on the console, exceptions and requests that failed.
    """

    page: Page
    asked: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)


def watch(context: BrowserContext) -> Watched:
    """Open a page and note what it does."""
    watched = Watched(context.new_page())
    page, complaints = watched.page, watched.complaints
    page.on("request", lambda request: watched.asked.append(request.url))
    page.on("requestfailed", lambda request: complaints.append(f"failed: {request.url}"))
    page.on("pageerror", lambda error: complaints.append(f"{page.url}: {error}"))
    page.on("console", lambda told: _complain(complaints, page.url, told.type, told.text))
    return watched


def _complain(complaints: list[str], url: str, kind: str, text: str) -> None:
    if kind in {"error", "warning"}:
        complaints.append(f"{url}: {text}")
