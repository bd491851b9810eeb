"""Reports as JSON: they read back, and fit their schema."""

import json
from pathlib import Path

import msgspec
import pytest
from jsonschema import Draft202012Validator, FormatChecker, ValidationError

from regress.model.backends import BackendsReport
from regress.model.report import CheckReport
from regress.pipeline.backends import backends
from regress.pipeline.documents import DOCS
from regress.pipeline.request import Request
from regress.report.json import render_json
from tests.regress.builders import CONFIG
from tests.regress.report.samples import ACCEPTED, HOSTILE, mixed


def _validate(text: str, schema: str) -> None:
    known = json.loads((DOCS / schema).read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(known)
    validator = Draft202012Validator(known, format_checker=FormatChecker())
    validator.validate(json.loads(text))


def test_a_check_fits_its_schema_and_reads_back(tmp_path: Path) -> None:
    """Every kind of finding, waivers and hostile text: what is written is what was meant."""
    report = mixed(tmp_path, ACCEPTED, reason=HOSTILE)
    text = render_json(report)
    _validate(text, "check.schema.json")
    assert msgspec.json.decode(text, type=CheckReport) == report
    assert json.loads(text)["schema"] == 2


def test_a_report_without_waivers_fits_the_schema(tmp_path: Path) -> None:
    """What may be null is null."""
    text = render_json(mixed(tmp_path))
    _validate(text, "check.schema.json")
    assert json.loads(text)["waiver_file"] is None


def test_backends_fit_their_schema_and_read_back(tmp_path: Path) -> None:
    """The same of the other command."""
    mixed(tmp_path)
    report = backends("v2", Request((tmp_path,), None, "any", None, "made up"), CONFIG)
    text = render_json(report)
    _validate(text, "backends.schema.json")
    assert msgspec.json.decode(text, type=BackendsReport) == report


@pytest.mark.parametrize(
    ("key", "value"), [("verdict", "FINE"), ("exit_code", 7), ("cells", None), ("surprise", 1)]
)
def test_the_schema_refuses_what_is_no_report(tmp_path: Path, key: str, value: object) -> None:
    """Wrong words, wrong types and unknown keys do not validate."""
    report = json.loads(render_json(mixed(tmp_path)))
    with pytest.raises(ValidationError):
        _validate(json.dumps({**report, key: value}), "check.schema.json")
