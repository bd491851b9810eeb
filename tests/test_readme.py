"""What the documentation prints can be typed, and what it links to is there."""

import argparse
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks import cli as benchmarks_cli
from regress import cli as regress_cli

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", *ROOT.glob(".github/*.md"), *ROOT.glob("regress/docs/**/*.md")])
PARSERS = {"benchmarks": benchmarks_cli._parser, "regress": regress_cli._parser}
COMMAND = re.compile(r"python -m (benchmarks|regress) ([^`\n#]+)")


def _commands() -> Iterator[tuple[str, str]]:
    for page in PAGES:
        for program, words in COMMAND.findall(page.read_text(encoding="utf-8")):
            yield program, words.strip()


@pytest.mark.parametrize(("program", "words"), sorted(set(_commands())))
def test_printed_commands_are_accepted(program: str, words: str) -> None:
    """Every command line of the documentation passes the parser it is meant for."""
    parser: argparse.ArgumentParser = PARSERS[program]()
    assert parser.parse_args(shlex.split(words))


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    """Every relative link and picture exists."""
    targets = re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8"))
    assert [t for t in targets if not (page.parent / t).exists()] == []


def test_make_targets_exist() -> None:
    """Every `make x` in the documentation is a target of the Makefile."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    named = {t for page in PAGES for t in re.findall(r"`?make ([a-z]+)`", page.read_text())}
    assert {"test"} <= named
    assert [t for t in sorted(named) if f"\n{t}:" not in makefile] == []


def test_the_readme_is_short() -> None:
    """Prose that grows belongs in regress/docs."""
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 230
