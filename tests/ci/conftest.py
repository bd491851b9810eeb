"""A runner and a made-up GitHub for the tests of workflows."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.ci.act import Runner, copy_suite


@pytest.fixture(scope="session")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a copy of this suite without its tests."""
    folder = tmp_path_factory.mktemp("suite")
    copy_suite(folder)
    return folder


@pytest.fixture
def runner(tmp_path: Path, suite: Path) -> Iterator[Runner]:
    """Give a runner that replays recorded rounds; whatever runs the pull request's code fails."""
    marker = tmp_path / "marker"
    env = {"ATTN_REPLAY": "1", "ATTN_PYTHON": sys.executable}
    found = Runner(tmp_path / "runner", suite, env)
    plant(found.folder / "head", marker)
    yield found
    assert not marker.exists(), "code of the pull request ran"


def plant(tree: Path, marker: Path) -> None:
    """Write a pull request's tree whose code leaves a mark if any step should run it."""
    python = f"open({str(marker)!r}, 'w').close()\n"
    for name in ("regress/__init__.py", "regress/__main__.py", "benchmarks/__main__.py"):
        _write(tree / name, python)
    for name in ("sitecustomize.py", "conftest.py", "setup.py", "asv/__init__.py"):
        _write(tree / name, python)
    for action in ("pins", "measure", "report"):
        steps = (
            f"runs:\n  using: composite\n  steps:\n    - run: touch {marker}\n      shell: bash\n"
        )
        _write(tree / f".github/actions/{action}/action.yml", f"name: x\ndescription: x\n{steps}")


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
