"""The history as text, Markdown and JSON."""

import json

import msgspec
import pytest
from jsonschema import Draft202012Validator, FormatChecker

from regress.model.history import Damaged, History
from regress.pipeline.documents import DOCS
from regress.report import HISTORY_RENDERERS
from regress.report.history_markdown import render_history_markdown
from regress.report.history_text import render_history_text
from regress.report.json import render_json
from regress.report.markdown import LIMIT
from regress.report.view import View
from tests.regress.pipeline.history.year import CASES, TAGS, Year, history_of
from tests.regress.report.samples import HOSTILE
from workloads.record import Case, Facts, Status


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> History:
    """A year with a step that stands, one that was taken back, a lost case and a damaged file."""

    def factor(case: Case, point: int) -> float:
        if case == CASES[0]:
            return 1.05 if point >= 12 else 1.0
        return 1.2 if case == CASES[1] and 4 <= point < 8 else 1.0

    def told(case: Case, point: int) -> Facts:
        chosen = "fa3" if case == CASES[1] and 4 <= point < 8 else "fa2"
        return Facts(resolved_backend=chosen, cubin=f"code{point // 4}")

    def lost(case: Case, point: int) -> tuple[Status, str] | None:
        return (Status.FAILED, HOSTILE) if case == CASES[2] and point >= 10 else None

    root = tmp_path_factory.mktemp("year")
    found = history_of(Year(root, factor, told, lost=lost))
    damaged = Damaged("/x/y.json.gz", f"/x/y.json.gz is truncated {HOSTILE}")
    return msgspec.structs.replace(found, damaged=(damaged,))


def test_text_says_what_stands_first(report: History) -> None:
    """The verdict, what was left out, what stands, then what is past, and how to see it."""
    text = render_history_text(report, View())
    order = ["for the worse that stand", "Left out: /x/y.json.gz", "Worse, and still so"]
    order += ["Worse for a while", "Releases", "best so far", "Control group", "Reproduce: command"]
    places = [text.index(word) for word in order]
    assert places == sorted(places)
    assert f"REGRESSION {TAGS[11]} -> {TAGS[12]}: 1 case slower" in text
    assert f"REGRESSION {TAGS[3]} -> {TAGS[4]}, until {TAGS[8]}" in text
    assert "likely cause: the backend resolves to fa3, was fa2" in text
    assert f"see: python -m regress check {TAGS[11]} {TAGS[12]} --rounds " in text


def test_text_folds_what_is_at_its_best(report: History) -> None:
    """Without --all only cases that are slower than their best are listed."""
    short, long = (render_history_text(report, View(everything=every)) for every in (False, True))
    best = f"{CASES[3]} "
    assert best not in short[short.index("best so far") :]
    assert best in long[long.index("best so far") :]


def test_markdown_holds_no_markup_of_others(report: History) -> None:
    """What libraries say stays text."""
    text = render_history_markdown(report, View())
    assert "<script" not in text
    assert "@everyone" not in text
    assert "until" in text


def test_markdown_stays_below_the_limit(report: History) -> None:
    """However many findings there are; it says how many were cut."""
    findings = tuple(
        msgspec.structs.replace(finding, first_bad=f"{finding.first_bad}.post{n}")
        for n in range(400)
        for finding in report.findings
    )
    many = msgspec.structs.replace(report, findings=findings)
    text = render_history_markdown(many, View())
    assert len(text.encode()) <= LIMIT
    assert "cut to fit" in text


def test_json_fits_its_schema_and_reads_back(report: History) -> None:
    """What is written is what was meant."""
    text = render_json(report)
    known = json.loads((DOCS / "history.schema.json").read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(known)
    Draft202012Validator(known, format_checker=FormatChecker()).validate(json.loads(text))
    assert msgspec.json.decode(text, type=History) == report


def test_ids_are_unique_and_plain(report: History) -> None:
    """No two findings share an id, and it can be a file name or an anchor."""
    ids = [finding.id for finding in report.findings]
    assert len(set(ids)) == len(ids)
    assert all(part.isalnum() for id_ in ids for part in id_.replace(".", "-").split("-"))


def test_every_format_is_rendered(report: History) -> None:
    """Text, JSON and Markdown."""
    assert set(HISTORY_RENDERERS) == {"text", "json", "markdown"}
    assert all(render(report, View()) for render in HISTORY_RENDERERS.values())
