"""Settings of all tests."""

import logging
from collections.abc import Iterator

import pytest
from hypothesis import settings

settings.register_profile("suite", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("suite")


@pytest.fixture(autouse=True)
def _own_logging() -> Iterator[None]:
    """Undo what a tool that ran in a test has set up for logging of the whole process."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
