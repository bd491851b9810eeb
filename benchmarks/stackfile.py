"""Writing lists of stacks; comments and order of what stands there are kept."""

import re
import tempfile
from pathlib import Path

import tomlkit
from tomlkit.items import AoT, Array, InlineTable, Table

from benchmarks.errors import UserError
from benchmarks.stacks import Stack, Wheel, parse_stacks

__all__ = ["add_stack", "write_text"]


def add_stack(path: Path, stack: Stack) -> None:
    """Add a stack to a list, at its place in time; the file is written whole or not at all.

    Raises
    ------
    UserError
        If the list is malformed, or would be with this stack.
    """
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    before = parse_stacks(text, str(path))
    document = tomlkit.parse(text)
    _insert(_tables(document, "stack"), _stack_table(stack), _place(before, stack))
    releases = _tables(document, "release")
    present = {(str(table["name"]), str(table["version"])) for table in releases}
    for name, version in sorted(stack.pins.items()):
        if (name, version) not in present:
            releases.append(_release_table(stack, name))
    # tomlkit is undecided about blank lines before a table.
    spaced = re.sub(r"(?<=[]}\"])\n+(?=\[\[)", "\n\n", tomlkit.dumps(document))
    rendered = spaced.rstrip("\n") + "\n"
    after = {s.tag: s for s in parse_stacks(rendered, str(path))}
    if after[stack.tag].digest != stack.digest:
        msg = f"{path} holds other wheels for a pin of {stack.tag}: a release never changes"
        raise UserError(msg)
    write_text(path, rendered)


def _place(before: tuple[Stack, ...], stack: Stack) -> int:
    return sum(other.time <= stack.time for other in before)


def _tables(document: tomlkit.TOMLDocument, key: str) -> AoT:
    if key not in document:
        document.append(key, tomlkit.aot())
    tables = document[key]
    if not isinstance(tables, AoT):
        msg = f"{key!r} is no array of tables"
        raise UserError(msg)
    return tables


def _insert(tables: AoT, table: Table, place: int) -> None:
    if place == len(tables):
        tables.append(table)
    else:
        tables.insert(place, table)


def _stack_table(stack: Stack) -> Table:
    table = tomlkit.table()
    table["tag"] = stack.tag
    table["time"] = stack.time
    pins = tomlkit.inline_table()
    pins.update(stack.pins)
    table["pins"] = pins
    table.add(tomlkit.nl())
    return table


def _release_table(stack: Stack, name: str) -> Table:
    table = tomlkit.table()
    table["name"] = name
    table["version"] = stack.pins[name]
    if name in stack.cuda:
        table["cuda"] = stack.cuda[name]
    table["wheels"] = _wheel_array(stack.wheels[name])
    table.add(tomlkit.nl())
    return table


def _wheel_array(wheels: tuple[Wheel, ...]) -> Array:
    array = tomlkit.array()
    array.extend(_wheel_table(wheel) for wheel in wheels)
    array.multiline(multiline=True)
    return array


def _wheel_table(wheel: Wheel) -> InlineTable:
    table = tomlkit.inline_table()
    table.update({"file": wheel.file, "sha256": wheel.sha256})
    if wheel.path:
        table["path"] = wheel.path
    return table


def write_text(path: Path, text: str) -> None:
    """Replace a file by this text in one step, making its directory if need be.

    Raises
    ------
    UserError
        If it cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}.") as scratch:
            fresh = Path(scratch) / path.name
            fresh.write_text(text, encoding="utf-8")
            fresh.replace(path)
    except OSError as error:
        msg = f"cannot write {path}: {error.strerror or error}"
        raise UserError(msg) from error
