"""One small site for all tests that open it in a browser."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from regress.cli import main
from tests.regress.site.browsing import launch
from tests.regress.site.trees import write_part_of_recorded
from workloads.record import Round


@pytest.fixture(scope="package")
def rounds(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Round]]:
    """A folder of recorded rounds, and these."""
    root = tmp_path_factory.mktemp("rounds")
    return root, write_part_of_recorded(root)


@pytest.fixture(scope="package")
def site(rounds: tuple[Path, list[Round]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of these rounds."""
    folder = tmp_path_factory.mktemp("site")
    assert main(["site", "--rounds", str(rounds[0]), "--to", str(folder)]) == 0
    return folder


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser; not for longer, since its event loop would be in the way of others."""
    with launch() as found:
        yield found
