"""Made-up pull requests for the tests of the gate: no such repository exists."""

from typing import Any

from tests.support.github_world import Pull, Repository, World

__all__ = ["BASE", "GATE", "HEAD", "NAME", "OLDER", "PINS", "world"]

NAME = "acme/engine"
GATE = "gate[bot]"
OLDER, BASE, HEAD = "0" * 40, "a" * 40, "b" * 40
"""A commit before the one where branches parted, that one, and the head."""
PINS = "requirements.txt"


def world(
    base: str | dict[str, Any] = "flashinfer-python==0.6.0\nfa3-fwd==0.0.3\n",
    head: str | dict[str, Any] = "flashinfer-python==0.6.1\nfa3-fwd==0.0.3\n",
    **pull: Any,
) -> World:
    """Return a repository whose pull request 7 changes files; text alone is requirements.txt."""
    files = {"setup.py": "raise SystemExit('executed')\n"}
    sides = [
        {**files, **({PINS: side} if isinstance(side, str) else side)} for side in (base, head)
    ]
    trees = dict(zip((BASE, HEAD), sides, strict=True))
    values = {"base_sha": BASE, "head_sha": HEAD, **pull}
    repository = Repository(
        trees=trees,
        pulls=[Pull(7, **values)],
        permissions={"keeper": "maintain", "pusher": "write", "helper": "triage", "owner": "admin"},
    )
    return World({NAME: repository}, login=GATE)
