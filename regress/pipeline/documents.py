"""The generated parts of the documentation: tables, schemas, the README's figures, the picture."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from regress.config import load_config
from regress.model.backends import BackendsReport
from regress.model.bisection import Bisection
from regress.model.bump import Bump
from regress.model.explain import Explanation
from regress.model.history import History
from regress.model.report import CheckReport
from regress.model.step_cost import StepCostReport
from regress.model.thresholds import StackPair, ThresholdsReport
from regress.model.trace import TraceSummary
from regress.pipeline.claims.claims import CLAIMED_OF, evidence_of, judge_claims
from regress.pipeline.explain.accuracy import judge_accuracy
from regress.pipeline.recorded import Recorded, load_recorded
from regress.pipeline.request import ANY_TIER, Request
from regress.pipeline.step_cost.page import STEP_COST_PAGE, step_cost_blocks
from regress.pipeline.thresholds.thresholds import thresholds
from regress.report import readme_tables
from regress.report.accuracy_markdown import render_accuracy_blocks
from regress.report.claims_markdown import render_claims
from regress.report.findings_markdown import render_controls, render_top_findings
from regress.report.json import render_schema
from regress.report.picture import drawn_from, fingerprint, render_picture
from regress.report.settings import render_thresholds
from regress.report.tables import render_reasons, render_verdicts, render_waiver_states
from regress.report.thresholds_markdown import render_threshold_tables
from regress.report.year_picture import render_year_picture, year_fingerprint
from regress.store.stacks import load_published
from regress.store.tree import RECORDED
from workloads.record import Round
from workloads.simulator.rates import load_rates

__all__ = [
    "DOCS",
    "PICTURE",
    "README",
    "YEAR",
    "fill",
    "generated",
    "judged_pages",
    "readme_blocks",
    "write_documents",
]

DOCS: Final = Path(__file__).parents[1] / "docs"
README: Final = DOCS.parents[1] / "README.md"
PICTURE: Final = "decode-cliffs.svg"
YEAR: Final = "year.svg"
_RECORDED: Final = "recorded.md"
_RULES: Final = "decision-rules.md"
_WAIVERS: Final = "waivers.md"
_CLAIMS: Final = "claims.md"
_MODEL: Final = "model.md"
_THRESHOLDS: Final = "thresholds.md"
_MOVED: Final = StackPair("v0.5.3", "v0.6.4")


def write_documents(folder: Path = DOCS, readme: Path = README) -> tuple[Path, ...]:
    """Write the generated parts again and return the paths.

    A picture is drawn only if its data changed or its file is missing.

    Raises
    ------
    RegressError
        If the recorded rounds are damaged, or a picture is stale and matplotlib is missing.
    """
    recorded = load_recorded()
    picture = folder / PICTURE
    texts = {folder / name: text for name, text in generated(folder).items()}
    texts |= {folder / name: text for name, text in judged_pages(recorded, folder).items()}
    texts[readme] = fill(readme.read_text(encoding="utf-8"), readme_blocks(recorded))
    if not picture.is_file() or drawn_from(picture.read_text()) != fingerprint(recorded.sweep):
        texts[picture] = render_picture(recorded.sweep)
    year = folder / YEAR
    if not year.is_file() or drawn_from(year.read_text()) != year_fingerprint(recorded.year):
        texts[year] = render_year_picture(recorded.year)
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")
    return tuple(texts)


def generated(folder: Path = DOCS) -> dict[str, str]:
    """Return what each document with generated parts should hold, by file name."""
    tables = {
        "thresholds": render_thresholds(load_config()),
        "reasons": render_reasons(),
        "verdicts": render_verdicts(),
    }
    states = {"waiver-states": render_waiver_states()}
    return {
        _RULES: fill((folder / _RULES).read_text(encoding="utf-8"), tables),
        _WAIVERS: fill((folder / _WAIVERS).read_text(encoding="utf-8"), states),
        "check.schema.json": render_schema(CheckReport),
        "backends.schema.json": render_schema(BackendsReport),
        "thresholds.schema.json": render_schema(ThresholdsReport),
        "step-cost.schema.json": render_schema(StepCostReport),
        "explain.schema.json": render_schema(Explanation),
        "history.schema.json": render_schema(History),
        "bisection.schema.json": render_schema(Bisection),
        "trace.schema.json": render_schema(TraceSummary),
        "bump.schema.json": render_schema(Bump),
    }


def judged_pages(recorded: Recorded, folder: Path = DOCS) -> dict[str, str]:
    """Return what the pages with tables of recorded rounds should hold, by file name."""
    config = load_config()
    command = f"python -m regress thresholds {_MOVED.base} {_MOVED.head} --recorded"
    moved = thresholds(_MOVED, Request((RECORDED,), None, ANY_TIER, None, command), config)
    claims = judge_claims(evidence_of(recorded.rounds[CLAIMED_OF], config))
    blocks = {
        _THRESHOLDS: {"recorded-thresholds": render_threshold_tables(moved)},
        _CLAIMS: {"claims": render_claims(claims)},
        _RECORDED: {
            "choices": readme_tables.render_choices(recorded.choices),
            "cliffs": readme_tables.render_cliffs(recorded.sweep),
            "recorded": readme_tables.render_recorded(_by_release(recorded.rounds)),
            "runs": readme_tables.render_runs(recorded.runs),
        },
        STEP_COST_PAGE: step_cost_blocks(recorded.rounds, config),
        _MODEL: render_accuracy_blocks(judge_accuracy(recorded.rounds), load_rates()),
    }
    return {
        name: fill((folder / name).read_text(encoding="utf-8"), of_page)
        for name, of_page in blocks.items()
    }


def _by_release(rounds: Mapping[str, Sequence[Round]]) -> dict[str, Sequence[Round]]:
    """Sort stacks by their release; the names of versions would sort 0.6.10 before 0.6.2."""
    places = {stack.tag: place for place, stack in enumerate(load_published())}
    return dict(sorted(rounds.items(), key=lambda item: places.get(item[0], len(places))))


def readme_blocks(recorded: Recorded) -> dict[str, str]:
    """Return every figure of the README that comes from results, by the name of its block."""
    return {
        "top-findings": render_top_findings(recorded.history),
        "controls": render_controls(recorded.history),
        "checks": readme_tables.render_checks(recorded.checks),
        "rate": readme_tables.render_rate(recorded.calibration),
        "seconds": readme_tables.render_seconds(recorded.rounds),
        "totals": readme_tables.render_totals(recorded.rounds),
    }


def fill(text: str, blocks: dict[str, str]) -> str:
    """Replace what stands between `<!-- name -->` and `<!-- end -->`, block by block."""
    for name, block in blocks.items():
        text = _replace(text, name, block)
    return text


def _replace(text: str, name: str, block: str) -> str:
    pattern = rf"(<!-- {name} -->\n).*?(<!-- end -->)"
    return re.sub(pattern, lambda match: f"{match[1]}{block}{match[2]}", text, flags=re.DOTALL)
