"""Pins are read as data, from every kind of file."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from regress.errors import UsageError
from regress.pins.files import GLOBS, holds_pins, parse_pins
from regress.pins.pattern import Pattern
from regress.pins.pin import LIBRARIES, Pin, PinFileError

FLASHINFER = "flashinfer-python"
LOCK = """
[[package]]
name = "flashinfer-python"
version = "0.6.1"
source = {{ {source} }}
"""


def told(text: str, file: str = "requirements.txt", *patterns: str) -> list[tuple[str, str]]:
    """Return library and version of each pin; what is asked for instead of an exact version."""
    pins = parse_pins(text, file, [Pattern.parse(pattern) for pattern in patterns])
    words = {True: "wrong: ", False: "asked: "}
    return [(p.library, p.version or words[p.wrong] + p.asked) for p in pins]


def test_libraries_are_those_that_backends_need() -> None:
    """The three libraries with kernels are gated; torch and companions are not."""
    assert LIBRARIES == ("flashinfer-python", "flash-attn", "fa3-fwd")
    assert told("torch==2.11.0\napache-tvm-ffi==0.1.7\nflashinfer-cubin==0.6.1") == []


@pytest.mark.parametrize(
    ("line", "version"),
    [
        ("flashinfer-python==0.6.1", "0.6.1"),
        ("FlashInfer_Python [cu13] == 0.6.1  # fast", "0.6.1"),
        ("flashinfer.python===0.6.1.POST1", "0.6.1.post1"),
        ("flashinfer-python==v0.6.1rc01", "0.6.1rc1"),
        ("flashinfer-python==0.6.1,!=0.6.2", "0.6.1"),
        ("flashinfer-python==0.6.1 \\\n    --hash=sha256:aa \\\n    --hash=sha256:bb", "0.6.1"),
        ("flashinfer-python==0.6.1; sys_platform == 'linux'", "0.6.1"),
        ("\ufeffflashinfer-python==0.6.1", "0.6.1"),
        ("flashinfer-python>=0.6", "asked: flashinfer-python>=0.6"),
        ("flashinfer-python==0.6.*", "asked: flashinfer-python==0.6.*"),
        ("flashinfer-python", "asked: flashinfer-python"),
        ("flashinfer-python @ https://x/y.whl", "asked: flashinfer-python @ https://x/y.whl"),
        ("flashinfer-python==0.6.x", "wrong: flashinfer-python==0.6.x"),
        ("flashinfer-python==$(id)", "wrong: flashinfer-python==$(id)"),
        ("flashinfer-python==0.6.1;id", "wrong: flashinfer-python==0.6.1;id"),
        ("flashinfer-python==1; os_name ~= '1'", "wrong: flashinfer-python==1; os_name ~= '1'"),
        ("flashinfer-python==1; x == 'y'", "wrong: flashinfer-python==1; x == 'y'"),
        ("flashinfer-python===a b", "wrong: flashinfer-python===a b"),
        ("flashinfer-python==" + "1." * 40 + "1", "wrong: flashinfer-python==" + "1." * 40 + "1"),
    ],
)
def test_requirement_lines(line: str, version: str) -> None:
    """Only one exact version counts; names are normalised, versions canonical, the rest shown."""
    assert told(line) == [(FLASHINFER, version)]


def test_lines_made_to_be_slow_or_deep() -> None:
    """A stranger's line costs no more than its length, and what is too deep is wrong."""
    deep = f"flashinfer-python==1; {'(' * 20_000}"
    assert told(deep) == [(FLASHINFER, f"wrong: {deep}")]
    for line in ("ARG " + "a" * 400_000, "RUN " + "a[" * 200_000, "RUN " + "a" * 400_000):
        assert told(line, "Dockerfile") == []


@pytest.mark.parametrize(
    "text",
    [
        "# note \\\nflashinfer-python==0.6.1",
        "flashinfer-\\\npython==0.6.1",
        "torch==2  # note\rflashinfer-python==0.6.1",
        "# note\u2028flashinfer-python==0.6.1",
        "# note\x0bflashinfer-python==0.6.1",
    ],
)
def test_no_pin_hides_from_the_gate_that_pip_installs(text: str) -> None:
    """A comment is not continued, and lines end where pip ends them."""
    assert told(text) == [(FLASHINFER, "0.6.1")]


def test_markers_of_a_lock_file() -> None:
    """A lock file's markers may speak of extras, of which none is asked for; others may not."""
    lock = '[[packages]]\nname = "fa3-fwd"\nversion = "0.0.3"\nmarker = "{}"\n'
    texts = [lock.format("'x' not in extras"), lock.format("'x' in dependency_groups")]
    assert [told(text, "pylock.toml") for text in texts] == [[("fa3-fwd", "0.0.3")], []]
    line = "fa3-fwd==0.0.3; 'x' in extras"
    assert told(line) == [("fa3-fwd", f"wrong: {line}")]


def test_other_lines_are_left_aside() -> None:
    """Options, comments, other platforms and other libraries say nothing."""
    text = (
        "-r more.txt\n# fa3-fwd==1\n--index-url https://x\nfa3-fwd==1; sys_platform == 'win32'\n?"
    )
    assert told(text) == []


def test_pyproject() -> None:
    """Dependencies, extras, groups and Poetry's tables are read; a caret is a range."""
    text = """
    [project]
    dependencies = ["flashinfer-python==0.6.1", 3]
    optional-dependencies = {gpu = ["fa3-fwd==0.0.3"]}
    [dependency-groups]
    dev = ["flash-attn>=2", {include-group = "x"}]
    [tool.poetry.dependencies]
    flashinfer-python = "0.6.0"
    fa3-fwd = {version = "^0.0.2", extras = []}
    [tool.poetry.group.dev.dependencies]
    flash-attn = "==2.8"
    """
    assert told(text, "pyproject.toml") == [
        (FLASHINFER, "0.6.1"),
        ("fa3-fwd", "0.0.3"),
        ("flash-attn", "asked: flash-attn>=2"),
        (FLASHINFER, "0.6.0"),
        ("fa3-fwd", "asked: fa3-fwd ^0.0.2"),
        ("flash-attn", "2.8"),
    ]


@pytest.mark.parametrize(
    ("source", "version"),
    [
        ('registry = "https://pypi.org/simple"', "0.6.1"),
        ('type = "legacy", url = "https://x", reference = "own"', "0.6.1"),
        ('git = "https://x"', "asked: flashinfer-python from {'git': 'https://x'}"),
    ],
)
def test_lock_files(source: str, version: str) -> None:
    """A lock pins exactly what comes from an index."""
    assert told(LOCK.format(source=source), "a/uv.lock") == [(FLASHINFER, version)]


def test_lock_of_several_platforms() -> None:
    """Of entries for several platforms, that for Linux counts."""
    other = "resolution-markers = [\"sys_platform == 'darwin'\"]\n"
    here = "resolution-markers = [\"sys_platform == 'linux'\"]\n"
    entry = LOCK.format(source="")
    text = entry + here + entry.replace("0.6.1", "0.5.0") + other
    assert told(text, "uv.lock") == [(FLASHINFER, "0.6.1")]


def test_dockerfile() -> None:
    """Arguments named after a library and installed versions are pins; variables are not."""
    text = """
    FROM x AS flashinfer
    ARG FLASHINFER_VERSION=0.6.1 CUDA_VERSION=13.0
    ENV FA3_VERSION="v0.0.3"
    ARG FLASH_ATTN_VERSION
    arg flashinfer_python_version=${FLASHINFER_VERSION}
    RUN pip install "flashinfer-python[cu13]==${FLASHINFER_VERSION}" 'fa3-fwd==0.0.2' \\
        flash-attn==2.8.3;id torch==2
    # RUN pip install fa3-fwd==9
    ENV CUDA_VERSION=13.0 \\
        # a comment ends nothing

        FA3_VERSION=0.0.4
    ARG FLASHINFER_VERSION='0.6.1; id'
    """
    assert told(text, "docker/Dockerfile.gpu") == [
        (FLASHINFER, "0.6.1"),
        ("fa3-fwd", "0.0.3"),
        (FLASHINFER, "asked: flashinfer_python_version=${FLASHINFER_VERSION}"),
        ("fa3-fwd", "0.0.2"),
        ("flash-attn", "2.8.3"),
        ("fa3-fwd", "0.0.4"),
        (FLASHINFER, "wrong: FLASHINFER_VERSION=0.6.1; id"),
    ]


def test_patterns() -> None:
    """A repository's own way of writing is read by an expression, in any file of pins."""
    text = "FLASHINFER_TAG: v0.6.1\nFLASHINFER_TAG: main\n"
    found = told(text, "versions.yml", r"FlashInfer_Python=FLASHINFER_TAG: (\S+)")
    assert found == [(FLASHINFER, "0.6.1"), (FLASHINFER, "wrong: FLASHINFER_TAG: main")]


@pytest.mark.parametrize("text", ["torch=(.*)", "fa3-fwd", "fa3-fwd=(", "fa3-fwd=x", "=(x)"])
def test_wrong_patterns(text: str) -> None:
    """A pattern without a measured library, or without exactly one group, is refused."""
    with pytest.raises(UsageError, match="--pattern"):
        Pattern.parse(text)


@pytest.mark.parametrize(
    "text", ["[project", "a = 1\na = 2", "a = " + "[" * 5000, "a = " + "9" * 5000]
)
def test_damaged_toml(text: str) -> None:
    """A file that is no TOML is an error, not a file without pins."""
    with pytest.raises(PinFileError, match="no TOML"):
        parse_pins(text, "pyproject.toml", ())


def test_default_files() -> None:
    """Files of pins are found wherever they lie, and others are not."""
    yes = ["a/b/pyproject.toml", "uv.lock", "docker/Dockerfile.cuda", "x/requirements/cuda.txt"]
    no = ["src/a.py", "README.txt", "pyproject.toml/x", "Cargo.lock"]
    assert [holds_pins(path, GLOBS) for path in (*yes, *no)] == [True] * 4 + [False] * 4


@given(st.text(), st.sampled_from(["requirements.txt", "Dockerfile", "pyproject.toml", "uv.lock"]))
@example("flashinfer-python==0.6.1\x00", "requirements.txt")
@example("flashinfer-python==0.6.1\u0660", "requirements.txt")
@example("[[package]]\nname = 'fa3-fwd'\nversion = '1\\n2'", "uv.lock")
@example("[tool.poetry]\ndependencies = {fa3-fwd = ['1']}", "pyproject.toml")
def test_any_text_gives_valid_versions_or_none(text: str, file: str) -> None:
    """Whatever a file holds, a version is short, plain and canonical, or there is none."""
    try:
        pins = parse_pins(f"{text}\n{FLASHINFER}=={text}", file, ())
    except PinFileError:
        return
    for pin in pins:
        assert isinstance(pin, Pin)
        assert pin.version is None or set(pin.version) <= set(
            "abcdefghijklmnopqrstuvwxyz0123456789.+!"
        )
