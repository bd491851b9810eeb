"""How the quality of change points is counted."""

import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest

from regress.detect.change_points import DETECTORS
from regress.errors import UsageError
from regress.model.change_points import Score
from regress.pipeline.change_points import quality
from regress.pipeline.change_points.generated import KINDS, POINTS, generate
from regress.pipeline.change_points.otava import OTAVA, otava_points
from regress.pipeline.change_points.quality import SEED, SERIES, matched, measure_quality
from regress.pipeline.change_points.treeherder import EXPECTED, load_treeherder
from regress.pipeline.documents import DOCS, fill
from regress.report.change_points_markdown import render_change_point_blocks
from tests.regress.builders import CONFIG

pytest.importorskip("ruptures")

PAGE = DOCS / "change-points.md"
OURS = ("history, steps", "history, segments")


@pytest.mark.parametrize(
    ("points", "changes", "right"),
    [
        ([10], [10], 1),
        ([13], [10], 1),
        ([14], [10], 0),
        ([9, 10, 11], [10], 1),
        ([10], [9, 11], 1),
        ([8, 12], [10, 13], 2),
        ([], [10], 0),
        ([10], [], 0),
    ],
)
def test_matching(points: list[int], changes: list[int], right: int) -> None:
    """Each change counts once, and only near a point that is not used for another."""
    assert matched(points, changes) == right


def test_figures() -> None:
    """Precision, recall and F1; what cannot be said is None."""
    score = Score("d", "k", 1, true=4, found=8, right=2, alarmed=3, series=5)
    assert (score.precision, score.recall, score.f1) == (0.25, 0.5, pytest.approx(1 / 3))
    nothing = Score("d", "k", 1, true=0, found=0, right=0, alarmed=0, series=5)
    assert (nothing.precision, nothing.recall, nothing.f1) == (None, None, None)


@pytest.mark.parametrize("kind", KINDS)
def test_generated_series(kind: str) -> None:
    """They change where the labels say, by as much as the kind says, and are always the same."""
    made, again = (generate(kind, 20, 5, SEED) for _ in range(2))
    assert all(map(np.array_equal, made.rounds, again.rounds))
    for values, places in zip(made.medians, made.changes, strict=True):
        assert values.shape == (POINTS,)
        for place in places:
            jump = abs(
                np.median(values[place : place + 4]) / np.median(values[place - 4 : place]) - 1
            )
            assert jump > 0.008


def test_our_rows_of_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """The page holds what our detectors give today on the generated series."""
    monkeypatch.setattr(quality, "DETECTORS", {name: DETECTORS[name] for name in OURS})
    told = measure_quality(CONFIG, "command", number=SERIES)
    text = PAGE.read_text(encoding="utf-8")
    for name, block in render_change_point_blocks(told).items():
        if name.startswith("generated"):
            for line in block.splitlines()[2:]:
                kind, *ours = (cell.strip() for cell in line.strip("| ").split(" | "))
                assert f"| {kind} | {' | '.join(ours)} |" in text, "change-points --write"


def test_a_missing_tool_is_told() -> None:
    """Otava does not vanish without a word."""
    told = {d.name: d for d in measure_quality(CONFIG, "command", number=1).detectors}
    assert "not run" in told[OTAVA].missing
    assert told[OTAVA].seconds is None


def test_otava_that_cannot_run(tmp_path: Path) -> None:
    """A folder without it is one line."""
    with pytest.raises(UsageError, match="cannot run Otava"):
        otava_points([np.ones((5, 1))], tmp_path)


def test_otava_in_its_process(tmp_path: Path) -> None:
    """Series go in as JSON and indices come out."""
    package = tmp_path / "otava"
    package.mkdir()
    (package / "analysis.py").write_text(
        "class P:\n    index = 3\n"
        "def compute_change_points(series, **options):\n    return [P()] * (len(series) > 2), []\n"
    )
    assert otava_points([np.ones((5, 1)), np.ones((2, 1))], tmp_path) == [[3], []]
    assert sys.executable


def test_damaged_treeherder_files(tmp_path: Path) -> None:
    """What is no run of Treeherder is one line that names the file."""
    with pytest.raises(UsageError, match=r"holds none of runs1\.json"):
        load_treeherder(tmp_path)
    for text in ("{", json.dumps({"test_runs": [[1]]}), json.dumps({"test_runs": []})):
        (tmp_path / "runs1.json").write_text(text)
        with pytest.raises(UsageError, match=r"runs1\.json holds"):
            load_treeherder(tmp_path)


def test_treeherder() -> None:
    """Expected change points lie in the series, and ours finds those of the shortest one."""
    folder = os.environ.get("ATTN_TREEHERDER")
    if not folder:
        pytest.skip("ATTN_TREEHERDER names no folder of Treeherder's series")
    loaded = load_treeherder(Path(folder))
    assert set(loaded) == set(EXPECTED)
    (place,) = loaded["runs1"].changes[0]
    find, _ = DETECTORS[OURS[0]]
    assert matched(find(loaded["runs1"].rounds, CONFIG.history)[0], [place]) == 1


def test_the_page_has_every_block() -> None:
    """Filling the page again loses no table."""
    text = PAGE.read_text(encoding="utf-8")
    blocks = dict.fromkeys(("detectors", "generated-1", "generated-5", "treeherder"), "a table\n")
    assert fill(text, blocks).count("a table") == len(blocks)
