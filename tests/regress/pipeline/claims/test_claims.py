"""Claims of two articles, judged by recorded and by damaged evidence."""

from dataclasses import replace
from operator import attrgetter

import msgspec
import pytest

from regress.model.claims import Outcome
from regress.model.thresholds import Bracket
from regress.pipeline.claims import gqa as claims_gqa
from regress.pipeline.claims import imbalance as claims_imbalance
from regress.pipeline.claims.claims import CLAIMS, evidence_of, judge_claims
from regress.pipeline.claims.evidence import CUDA, VARLEN, Evidence
from regress.report.claims_markdown import render_claims
from regress.store.rounds import load_machine
from regress.store.tree import RECORDED, scan
from tests.regress.builders import CONFIG


@pytest.fixture(scope="module")
def seen() -> Evidence:
    rounds = load_machine(scan((RECORDED,)), "h200").of("v0.6.1")
    return evidence_of(rounds, CONFIG)


def outcomes(evidence: Evidence) -> dict[str, Outcome]:
    return {result.code: result.outcome for result in judge_claims(evidence)}


def test_every_claim_has_its_place() -> None:
    """Fourteen statements of article A and eight of article B, and no check is left over."""
    codes = [f"A{n}" for n in range(1, 15)] + [f"B{n}" for n in range(1, 9)]
    assert list(map(attrgetter("code"), CLAIMS)) == codes
    used = {claim.check.__name__ for claim in CLAIMS if not isinstance(claim.check, str)}
    assert used == {*claims_imbalance.__all__, *claims_gqa.__all__}


def test_what_the_recorded_rounds_say(seen: Evidence) -> None:
    """The verdicts on the H200, as read from the recorded times and plans by hand."""
    said = outcomes(seen)
    assert {c for c, o in said.items() if o is Outcome.UNTESTED} == {"A11"}
    assert {c for c, o in said.items() if o is Outcome.FAILS} == {"B1", "B2", "B7"}
    partly = {"A2", "A14", "B3", "B4", "B6", "B8"}
    assert {c for c, o in said.items() if o is Outcome.PARTLY} == partly


def test_without_rounds_nothing_is_claimed(seen: Evidence) -> None:
    """A claim whose data is missing is not tested and says what is missing."""
    empty = replace(seen, found={}, lines={}, shapes=())
    results = judge_claims(empty)
    assert {r.outcome for r in results} == {Outcome.UNTESTED}
    assert all(r.numbers for r in results)


@pytest.mark.parametrize("tier", ["gate", "nightly"])
def test_rounds_of_a_smaller_tier_hold_a_part_of_the_claims(tier: str) -> None:
    """What they lack is not tested, whatever of it they hold; the rest is judged."""
    rounds = load_machine(scan((RECORDED,)), "h200").of("v0.6.1")
    said = outcomes(evidence_of([r for r in rounds if r.tier == tier], CONFIG))
    assert {"B2", "A11"} <= {code for code, outcome in said.items() if outcome is Outcome.UNTESTED}
    assert len(said) == len(CLAIMS)


def moved(seen: Evidence, name: str, first: int) -> Evidence:
    """The same evidence, but a threshold lies elsewhere."""
    axis = seen.axis(name, "skew40")
    bracket = Bracket(first - 1, first)
    numbers = msgspec.structs.replace(seen.lines[axis], planned=bracket)
    return replace(seen, lines={**seen.lines, axis: numbers})


def test_other_thresholds_refute_claims(seen: Evidence) -> None:
    """CUDA cores that stop at 65, or FA3 that goes on to 1,000, contradict the articles."""
    said = outcomes(moved(seen, CUDA, 65))
    assert (said["A3"], said["A4"]) == (Outcome.FAILS, Outcome.FAILS)
    assert outcomes(moved(seen, VARLEN, 1024))["A9"] is Outcome.FAILS


def test_a_curve_that_bends_refutes_linearity(seen: Evidence) -> None:
    """One line that is off is enough."""
    bent = [replace_notable(s) for s in seen.shapes]
    assert outcomes(replace(seen, shapes=bent))["A1"] is Outcome.FAILS


def replace_notable(shape: object) -> object:
    return msgspec.structs.replace(shape, notable=True)


def test_the_table_names_articles_and_verdicts(seen: Evidence) -> None:
    """One row a claim below the heading of its article."""
    text = render_claims(judge_claims(seen))
    assert text.startswith("Of 22 claims ")
    assert "### Article A (load imbalance inside a decode batch)" in text
    assert "### Article B (GQA batch tuning)" in text
    assert text.count("\n| A") == 14
    assert text.count("\n| B") == 8
