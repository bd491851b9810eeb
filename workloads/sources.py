"""The kept file of source digests: `benchmarks` makes it from wheels, `regress` reads it."""

from typing import Final

import msgspec

__all__ = ["SOURCES_SCHEMA", "SourceFile", "SourcesFile"]

SOURCES_SCHEMA: Final = 1


class SourceFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One version of one file.

    Attributes
    ----------
    digest
        First 12 hex digits of the SHA-256 of its bytes; of a folder, over all of its files.
    functions
        Digests of a Python file's functions and methods by qualified name, comments and
        docstrings left out; what stands outside of them is `<module>`. Empty for other languages.
    """

    digest: str
    functions: dict[str, str] = {}


class SourcesFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Attention sources of many releases; a version of a file that several share is kept once.

    Attributes
    ----------
    files
        Every version of each file, by path inside the package's folder above.
    releases
        By `library==version`: which version of each file it holds, as an index into `files`.
    """

    files: dict[str, tuple[SourceFile, ...]]
    releases: dict[str, dict[str, int]]
    schema: int = SOURCES_SCHEMA
