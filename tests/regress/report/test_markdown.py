"""Untrusted text in Markdown, and the limit of a comment."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regress.report.markdown import Block, escaped, fenced, fit, literal, row, table

printable_text = st.text(st.characters(exclude_categories=("C", "Z")), max_size=40)


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("slower beyond 1.0%, p = 0.004", "slower beyond 1.0%, p = 0.004"),
        ("resolved_backend fa2 -> fa3", "resolved_backend fa2 → fa3"),
        ("a|b", "a&#124;b"),
        ("`x`", "&#96;x&#96;"),
        ("<b>", "&#60;b&#62;"),
        ("&lt;", "&#38;lt;"),
        ("[l](u)", "&#91;l&#93;(u)"),
        ("*b* _i_ ~s~ $m$", "&#42;b&#42; &#95;i&#95; &#126;s&#126; &#36;m&#36;"),
        ("\\*", "&#92;&#42;"),
        ("@someone", "@&#8203;someone"),
        ("fixes #12, GH-3", "fixes #&#8203;12, GH-&#8203;3"),
    ],
)
def test_prose_stays_prose(text: str, safe: str) -> None:
    """Neither markup nor HTML, no one is mentioned, nothing is referred to."""
    assert escaped(text) == safe


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("decode-b66@flashinfer-auto", "`decode-b66@flashinfer-auto`"),
        ("a|`b`", "<code>a&#124;&#96;b&#96;</code>"),
        ("", "<code></code>"),
        ("<i>", "<code>&#60;i&#62;</code>"),
    ],
)
def test_code_stays_code(text: str, code: str) -> None:
    """Names are plain code; what could end it is written as entities."""
    assert literal(text) == code


@given(printable_text)
def test_no_text_leaves_its_cell(text: str) -> None:
    """A row has as many cells as it was given, whatever stands in them, and no tag of theirs."""
    made = row([escaped(text), literal(text), "end"])
    assert len(re.findall(r"(?<!\\)\|", made)) == 4
    assert set(re.findall(r"<[^>]*>", made)) <= {"<code>", "</code>"}


@given(st.text(st.sampled_from("`a \n"), max_size=20))
def test_no_command_ends_its_block(text: str) -> None:
    """The fence is longer than any run of backticks inside."""
    first, *_, last = fenced(text).split("\n")
    assert first == f"{last}sh"
    assert len(last) >= 3
    assert last not in text


def test_long_text_is_cut() -> None:
    """One reason cannot use up the whole comment."""
    assert escaped("x" * 9_000).endswith("…")
    assert len(escaped("x" * 9_000)) == 401


def test_what_is_cut_is_counted() -> None:
    """Rows are left out from the end, later blocks first, and a line says how many."""
    rows = [row([f"{n:03}", "x" * 40]) for n in range(100)]
    blocks = [Block("First", rows, table("n", "x"), noun="case"), Block("Then", rows, folded=True)]
    text = fit(blocks, 3_000)
    assert len(text) <= 3_000
    kept = text.count("x" * 40)
    assert f"… {100 - kept} more cases, cut to fit" in text
    assert "… 100 more rows, cut to fit" in text
    assert "| 000 |" in text
    assert text.count("</details>") == 1


@given(st.lists(st.lists(st.text(max_size=60), max_size=20), max_size=4), st.integers(600, 3_000))
def test_the_limit_holds(lists: list[list[str]], limit: int) -> None:
    """However many rows of whatever text: bytes stay within the limit, and rows add up."""
    blocks = [Block("title", lines, folded=True) for lines in lists]
    assert len(fit(blocks, limit).encode("utf-8", "backslashreplace")) <= limit


def test_nothing_is_cut_where_all_fits() -> None:
    """Below the limit every row is there."""
    text = fit([Block("All", ["- a", "- b"])], 1_000)
    assert text == "#### All\n\n- a\n- b\n"
