"""Files of one exact commit, as data: what lies where, and the text of the files of pins."""

import base64
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

from github.GitTree import GitTree
from github.GitTreeElement import GitTreeElement
from github.Repository import Repository

from regress.errors import UsageError
from regress.github.client import spoken
from regress.pins.files import holds_pins

__all__ = ["Blob", "UnreadableError", "changed", "load_blobs", "load_text"]

_FILE_MODES: Final = ("100644", "100755")
_LARGEST_BYTES: Final = 10 * 1024 * 1024
_MOST_FILES: Final = 200


class UnreadableError(ValueError):
    """A file of pins cannot be read; the message says which one and why."""


@dataclass(frozen=True, slots=True)
class Blob:
    """A file's content in git, and its size in bytes."""

    sha: str
    size: int


def load_blobs(repository: Repository, commit: str, globs: Sequence[str]) -> dict[str, Blob]:
    """Return the files of pins of a commit by path; links and submodules are none.

    Raises
    ------
    UnreadableError
        If there are too many of them.
    UsageError
        If the repository is too large to be listed and a glob is not the path of one file.
    """
    with spoken(f"the files of {commit}"):
        tree = repository.get_git_tree(commit, recursive=True)
        elements = _named(repository, commit, globs) if tree.truncated else _all(tree)
        blobs = {
            path: Blob(element.sha, element.size or 0)
            for path, element in elements.items()
            if element.mode in _FILE_MODES and holds_pins(path, globs)
        }
    if len(blobs) > _MOST_FILES:
        msg = f"{len(blobs)} files of pins at {commit}: name those that matter with --pins"
        raise UnreadableError(msg)
    return blobs


def _all(tree: GitTree) -> dict[str, GitTreeElement]:
    return {element.path: element for element in tree.tree}


def _named(repository: Repository, commit: str, paths: Iterable[str]) -> dict[str, GitTreeElement]:
    """Walk down to each path, where a repository is too large to be listed at once."""
    found = {}
    for path in paths:
        if set(path) & set("*?["):
            msg = f"the repository is too large to look for {path}: give paths with --pins"
            raise UsageError(msg)
        sha = commit
        for part in PurePosixPath(path).parts:
            below = _all(repository.get_git_tree(sha))
            if part not in below:
                break
            sha = below[part].sha
        else:
            found[path] = below[part]
    return found


def load_text(repository: Repository, path: str, blob: Blob) -> str:
    """Return the text of a file.

    Raises
    ------
    UnreadableError
        If it is too large, or no text.
    """
    if blob.size > _LARGEST_BYTES:
        msg = f"{path} has {blob.size} bytes, which is no file of pins"
        raise UnreadableError(msg)
    with spoken(f"the content of {path}"):
        data = base64.b64decode(repository.get_git_blob(blob.sha).content)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        msg = f"{path} is no text in UTF-8"
        raise UnreadableError(msg)
    return text


def changed(base: Mapping[str, Blob], head: Mapping[str, Blob]) -> frozenset[str]:
    """Return the paths whose content differs, or is on one side only."""
    return frozenset(p for p in {*base, *head} if base.get(p) != head.get(p))
