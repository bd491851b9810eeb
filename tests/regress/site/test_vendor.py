"""What is kept of others' files."""

import hashlib
import json
import re

from regress.site.asv import _KEPT
from regress.site.write import _ASSETS, _HERE

VENDOR = _HERE / "vendor"
LISTED = json.loads((VENDOR / "vendor.json").read_text())


def test_every_file_is_the_published_one() -> None:
    """A file that was edited by hand, or is not listed, is found."""
    there = {
        str(path.relative_to(VENDOR))
        for path in VENDOR.rglob("*")
        if path.is_file() and path.name not in {"vendor.json", "LICENCES.txt"}
    }
    assert there == {entry["file"] for entry in LISTED}
    for entry in LISTED:
        data = (VENDOR / entry["file"]).read_bytes()
        assert hashlib.sha256(data).hexdigest() == entry["sha256"], entry["file"]


def test_every_package_has_its_licence() -> None:
    """The licences stand beside the files, package by package."""
    text = (VENDOR / "LICENCES.txt").read_text()
    for entry in LISTED:
        assert f"{entry['package']} {entry['version']} ({entry['licence']})" in text


def test_pages_use_only_what_is_kept() -> None:
    """Every asset and every file of asv's pages is there."""
    assert [name for name in _ASSETS if not (_HERE / name).is_file()] == []
    assert [name for name in _KEPT.values() if not (VENDOR / "asv" / name).is_file()] == []


def test_templates_name_no_other_host() -> None:
    """No template and no script of ours loads from elsewhere."""
    texts = [*(_HERE / "templates").iterdir(), *(_HERE / "assets").iterdir()]
    found = [
        (path.name, url)
        for path in texts
        for url in re.findall(r"https?://[^\s'\"`)]+", path.read_text())
        if "www.w3.org" not in url  # Names of XML, which nobody loads.
    ]
    assert found == []
