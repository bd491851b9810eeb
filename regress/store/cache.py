"""A columnar copy of round files, so that thousands of them load fast; never trusted over them.

It holds what `Sheet` holds, and for each round the SHA-256 of the file it was read from. A file
whose bytes have another digest is read again, whatever its name and time are; a file that is gone
is left out; a copy that does not have its own checksum is thrown away. Without pyarrow, or where
it cannot be written, everything is read from the files, which gives the same result.
"""

import hashlib
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Any, Final

import msgspec
import numpy as np

from regress.errors import UsageError
from regress.output import write_file
from regress.store.columns import Head, Sheet
from regress.store.intact import Intact, load_intact, read_sheet
from regress.store.tree import Tree
from workloads.record import Case

__all__ = ["CACHE", "load_cached", "read_cache", "write_cache"]

CACHE: Final = "columns.cache"
"""Name of the copy, in the machine's folder of the first root that has one."""
FEWEST: Final = 400
"""Files below which reading them takes less time than importing pyarrow."""
_VERSION: Final = b"1"
_HEADS: Final = b"heads"
_NUMBERS: Final = ("status", "time_us", "plan_us")
_DIGITS: Final = 64
"""Of the checksum, which stands before the table."""


def load_cached(tree: Tree, machine: str, fewest: int = FEWEST) -> Intact:
    """Read every intact round of a machine, unchanged ones from the copy; renew it if need be.

    Parameters
    ----------
    fewest
        Number of files from which a copy is used.
    """
    number = sum(len(tree.files[machine, tag]) for tag in tree.tags(machine))
    place = _place(tree, machine)
    if number < fewest or place is None or find_spec("pyarrow") is None:
        return load_intact(tree, machine)
    known = read_cache(place)

    def read(path: Path, file_digest: str) -> Sheet:
        found = known.get(file_digest)
        return found if found and found.head.path == str(path) else read_sheet(path, file_digest)

    intact = load_intact(tree, machine, read)
    if {sheet.head.file_digest for sheet in intact.sheets} != known.keys():
        write_cache(intact.sheets, place)
    return intact


def _place(tree: Tree, machine: str) -> Path | None:
    folders = (root / machine for root in tree.roots)
    return next((folder / CACHE for folder in folders if folder.is_dir()), None)


def read_cache(path: Path) -> Mapping[str, Sheet]:
    """Return the copied rounds by the digest of their file; none if the copy is not as written."""
    import pyarrow as pa
    from pyarrow import parquet

    try:
        data = path.read_bytes()
        checksum, body = data[:_DIGITS], data[_DIGITS:]
        if checksum != _checksum(body):
            return {}
        table = parquet.read_table(pa.BufferReader(body), read_dictionary=["case", "ran"])
        heads = msgspec.json.decode(table.schema.metadata[_HEADS], type=tuple[Head, ...])
        sheets = _sheets(table, heads)
    except (OSError, KeyError, ValueError, msgspec.MsgspecError, pa.ArrowException):
        return {}
    return {sheet.head.file_digest: sheet for sheet in sheets}


def write_cache(sheets: Sequence[Sheet], path: Path) -> None:
    """Write the copy, whole or not at all; where that is not allowed there is none."""
    import pyarrow as pa
    from pyarrow import parquet

    def words(texts: Sequence[str]) -> Any:
        return pa.array(texts, pa.string()).dictionary_encode()

    rounds = np.arange(len(sheets), dtype=np.int32)
    columns = {
        "round": np.repeat(rounds, [len(sheet.cases) for sheet in sheets]),
        "case": words([f"{c.workload} {c.backend}" for sheet in sheets for c in sheet.cases]),
        "ran": words([text for sheet in sheets for text in sheet.ran]),
    }
    for name in _NUMBERS:
        columns[name] = np.concatenate([getattr(sheet, name) for sheet in sheets])
    heads = {_HEADS: msgspec.json.encode([sheet.head for sheet in sheets])}
    out = BytesIO()
    parquet.write_table(pa.table(columns).replace_schema_metadata(heads), out)
    body = out.getvalue()
    try:
        write_file(_checksum(body) + body, path)
    except UsageError:
        return  # A folder that may only be read: the next command reads the files again.


def _checksum(body: bytes) -> bytes:
    return hashlib.sha256(_VERSION + body).hexdigest().encode()


def _sheets(table: Any, heads: Sequence[Head]) -> list[Sheet]:
    column = {name: table.column(name).combine_chunks() for name in table.column_names}
    rounds = column["round"].to_numpy()
    numbers = {name: column[name].to_numpy(zero_copy_only=False) for name in _NUMBERS}
    known = [Case(*text.split(" ")) for text in column["case"].dictionary.to_pylist()]
    cases = [known[n] for n in column["case"].indices.to_numpy()]
    texts = column["ran"].dictionary.to_pylist()
    ran = [texts[n] for n in column["ran"].indices.to_numpy()]
    ends = np.searchsorted(rounds, np.arange(len(heads) + 1))
    return [
        Sheet(
            head=head,
            cases=tuple(cases[first:last]),
            ran=tuple(ran[first:last]),
            **{name: values[first:last] for name, values in numbers.items()},
        )
        for head, first, last in zip(heads, ends[:-1], ends[1:], strict=True)
    ]
