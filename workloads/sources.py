"""The kept file of source digests: `benchmarks` makes it from wheels, `regress` reads it."""

from typing import Final

import msgspec

__all__ = ["SOURCES_SCHEMA", "FileVersions", "SourceFile", "SourcesFile"]

SOURCES_SCHEMA: Final = 1


class SourceFile(msgspec.Struct, frozen=True):
    """One version of one file.

    Attributes
    ----------
    digest
        First digits of the SHA-256 of its bytes; of a folder, over all of its files.
    functions
        Digests of a Python file's functions and methods by qualified name, comments and
        docstrings left out; what stands outside of them is `<module>`. Empty for other languages.
    """

    digest: str
    functions: dict[str, str] = {}


class FileVersions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Every version of one file.

    Attributes
    ----------
    digests
        One a version.
    functions
        By name: from which version on it has which digest, "" where it is not there. Most
        functions stay the same for long, so that this is short.
    """

    digests: tuple[str, ...]
    functions: dict[str, tuple[tuple[int, str], ...]] = {}

    @classmethod
    def of(cls, versions: list[SourceFile]) -> "FileVersions":
        """Return the versions in this order."""
        names = dict.fromkeys(name for version in versions for name in version.functions)
        runs = {name: _runs([v.functions.get(name, "") for v in versions]) for name in names}
        return cls(tuple(version.digest for version in versions), runs)

    def at(self, number: int) -> SourceFile:
        """Return the version with this number."""
        functions = {}
        for name, runs in self.functions.items():
            digest = [text for first, text in runs if first <= number][-1]
            if digest:
                functions[name] = digest
        return SourceFile(self.digests[number], functions)


def _runs(digests: list[str]) -> tuple[tuple[int, str], ...]:
    starts = [n for n, text in enumerate(digests) if n == 0 or text != digests[n - 1]]
    return tuple((n, digests[n]) for n in starts)


class SourcesFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Attention sources of many releases; a version of a file that several share is kept once.

    Attributes
    ----------
    files
        Every version of each file, by path inside the wheel.
    releases
        By `library==version`: which version it holds of each file, in the order of `files`; -1 of
        files that it does not have.
    """

    files: dict[str, FileVersions]
    releases: dict[str, tuple[int, ...]]
    schema: int = SOURCES_SCHEMA

    def of(self, release: str) -> dict[str, SourceFile]:
        """Return the files of a release by path."""
        pairs = zip(self.files.items(), self.releases[release], strict=True)
        return {path: versions.at(number) for (path, versions), number in pairs if number >= 0}
