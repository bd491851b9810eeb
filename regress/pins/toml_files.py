"""Pins in pyproject.toml (PEP 621, 735, uv, Poetry) and in lock files (uv, Poetry, PEP 751)."""

import tomllib
from collections.abc import Iterator
from typing import Any

from packaging.markers import Marker

from regress.pins.pin import Pin, PinFileError, exact, library_of
from regress.pins.requirement import applies, parse_requirement

__all__ = ["parse_lock", "parse_pyproject"]


def parse_pyproject(text: str, file: str) -> Iterator[Pin]:
    """Yield the pins of a pyproject.toml.

    Raises
    ------
    PinFileError
        If it is no TOML.
    """
    data = _load(text)
    project, uv = _table(data, "project"), _table(data, "tool", "uv")
    lists = [project.get("dependencies")]
    lists += _table(project, "optional-dependencies").values()
    lists += _table(data, "dependency-groups").values()
    lists += [uv.get(f"{kind}-dependencies") for kind in ("dev", "override", "constraint")]
    for requirement in (text for one in lists for text in _strings(one)):
        pin = parse_requirement(requirement, file)
        if pin:
            yield pin
    yield from _poetry(_table(data, "tool", "poetry"), file)


def _poetry(poetry: dict[str, Any], file: str) -> Iterator[Pin]:
    groups = _table(poetry, "group")
    for owner in (poetry, *(_table(groups, name) for name in groups)):
        for name, value in _table(owner, "dependencies").items():
            library = library_of(name)
            asked = value.get("version") if isinstance(value, dict) else value
            if library:
                yield _poetry_pin(library, asked, file)


def _poetry_pin(library: str, asked: object, file: str) -> Pin:
    """Return a pin of Poetry's: a bare version means exactly that one."""
    words = asked.strip() if isinstance(asked, str) else ""
    bare = words.removeprefix("==").strip()
    if not bare[:1].isdigit() or "*" in bare or "," in bare:
        return Pin(library, file, f"{library} {words or asked}", elsewhere=asked is None)
    return exact(library, file, bare)


def parse_lock(text: str, file: str) -> Iterator[Pin]:
    """Yield the pins of a lock file; what it took from elsewhere than an index is no exact pin.

    Raises
    ------
    PinFileError
        If it is no TOML.
    """
    data = _load(text)
    for key in ("package", "packages"):
        for package in data.get(key) or () if isinstance(data.get(key), list) else ():
            if isinstance(package, dict):
                yield from _locked(package, file)


def _locked(package: dict[str, Any], file: str) -> Iterator[Pin]:
    library = library_of(str(package.get("name", "")))
    if library is None or not _wanted(package):
        return
    source = _table(package, "source")
    elsewhere = {"git", "url", "path", "directory", "editable", "vcs", "archive"}
    # Poetry calls an index of one's own "legacy".
    if source.get("type") != "legacy" and elsewhere & {*package, *source}:
        yield Pin(library, file, f"{library} from {source or 'elsewhere'}", elsewhere=True)
    else:
        yield exact(library, file, str(package.get("version", "")))


def _wanted(package: dict[str, Any]) -> bool:
    """Whether one of several entries of a library is the one for this platform."""
    markers = [*_strings(package.get("resolution-markers")), *_strings([package.get("marker")])]
    try:
        return not markers or any(applies(Marker(text), "lock_file") for text in markers)
    except (ValueError, RecursionError):
        return True


def _load(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # a number may have too many digits
        msg = f"is no TOML: {error}"
        raise PinFileError(msg) from error


def _table(data: dict[str, Any], *path: str) -> dict[str, Any]:
    """Return a table below others; an empty one where there is none."""
    found: Any = data
    for key in path:
        found = found.get(key) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else {}


def _strings(value: object) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []
