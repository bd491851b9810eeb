"""Going on with a run that was broken off: whole blocks stay, half ones are measured again."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.errors import UserError
from benchmarks.resume import check_pins, continued
from benchmarks.rounds import QUICK, write_round
from tests.benchmarks.synthetic import measured, stack, synthetic_round
from workloads.record import Case, Design, Round
from workloads.stage import StagePlan

STACKS = {tag: stack(tag) for tag in ("v1", "v2")}
CASES = (Case("first", "sdpa"), Case("second", "sdpa"))


def plan_of(folder: Path, **fields: Any) -> StagePlan:
    blocks = fields.pop("blocks", 3)
    plan = StagePlan(
        run="c1",
        stage="rounds",
        stacks=("v1", "v2"),
        blocks=blocks,
        todo=tuple(range(1, blocks + 1)),
        campaign="c1",
        tier="custom",
        cases=CASES,
        directory=str(folder),
    )
    return msgspec.structs.replace(plan, **fields)


class Shelf:
    """Writes synthetic rounds of a run."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.number = folder, 0

    def put(self, tag: str, block: int, campaign: str = "c1", **fields: Any) -> Path:
        design = Design("c1", "rounds", ("v1", "v2"), block, 3)
        fields = {"campaign": campaign, "design": design, **fields}
        return write_round(msgspec.structs.replace(self.round(tag), **fields), self.folder)

    def round(self, tag: str, cases: tuple[Case, ...] = CASES) -> Round:
        self.number += 1
        records = tuple(measured(case, 1.0) for case in cases)
        return synthetic_round(STACKS[tag], records, number=self.number)


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path)


def test_a_new_run_has_all_blocks_to_do(tmp_path: Path) -> None:
    """Without any round of that name nothing changes."""
    assert continued(plan_of(tmp_path), STACKS) == plan_of(tmp_path)


def test_whole_blocks_are_kept_and_half_ones_made_anew(shelf: Shelf) -> None:
    """What is left goes into a second stretch, of which the run and the blocks stay the same."""
    for tag, block in (("v1", 1), ("v2", 1), ("v2", 2)):
        shelf.put(tag, block)
    found = continued(plan_of(shelf.folder), STACKS)
    assert found == plan_of(shelf.folder, todo=(2, 3), campaign="c1~2")


def test_a_block_is_whole_within_one_campaign(shelf: Shelf) -> None:
    """Halves from two stretches are no block, and each stretch has a name of its own."""
    shelf.put("v1", 1)
    shelf.put("v2", 1, "c1~2")
    found = continued(plan_of(shelf.folder), STACKS)
    assert (found.todo, found.campaign) == ((1, 2, 3), "c1~3")


def test_a_run_may_be_done(shelf: Shelf) -> None:
    """Then no block is left."""
    for block in (1, 2, 3):
        for tag in STACKS:
            shelf.put(tag, block, f"c1~{block}")
    assert continued(plan_of(shelf.folder), STACKS).todo == ()


def test_rounds_of_others_do_not_count(shelf: Shelf) -> None:
    """Quick rounds, other stages and other runs measure nothing of this one; names stay taken."""
    shelf.put("v1", 1, warnings=(QUICK,))
    for tag in STACKS:
        shelf.put(tag, 1, "c7", design=Design("c7", "rounds", ("v1", "v2"), 1, 9))
        shelf.put(tag, 2, "c8", design=Design("c1", "confirm", ("v1", "v2"), 2, 9))
        shelf.put(tag, 3, "c9", design=None)
    found = continued(plan_of(shelf.folder), STACKS)
    assert (found.todo, found.campaign) == ((1, 2, 3), "c1~2")


def test_a_damaged_round_is_measured_again(shelf: Shelf) -> None:
    """A file that cannot be read does not make its block a whole one."""
    shelf.put("v1", 1)
    path = shelf.put("v2", 1)
    path.write_bytes(path.read_bytes()[:50])
    assert continued(plan_of(shelf.folder), STACKS).todo == (1, 2, 3)


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"stacks": ("v1", "v3")}, "run c1 was begun with stacks v1 v2, not v1 v3: ask for"),
        ({"stacks": ("v1",)}, "run c1 was begun with stacks v1 v2, not v1: ask for the same"),
        ({"blocks": 4}, "run c1 was begun with 3 rounds a stack, not 4: ask for the same"),
        ({"cases": CASES[:1]}, "run c1 was begun with 2 cases, not these 1: ask for the same"),
        ({"run": "c1~2"}, "c1~2 is a later stretch of a run: to go on, give the run's id, c1"),
    ],
)
def test_another_design_is_refused(shelf: Shelf, asked: dict[str, Any], told: str) -> None:
    """What was planned otherwise is no part of this run: one line says what differs."""
    shelf.put("v1", 1)
    with pytest.raises(UserError) as caught:
        continued(plan_of(shelf.folder, **asked), STACKS | {"v3": stack("v3")})
    assert str(caught.value).startswith(told)
    assert "\n" not in str(caught.value)


def test_other_pins_under_a_tag_are_refused(shelf: Shelf) -> None:
    """An ad-hoc stack that was made anew is another stack."""
    shelf.put("v1", 1)
    changed = STACKS | {"v1": stack("v1", pins={"fa3-fwd": "0.0.3"})}
    with pytest.raises(UserError, match="begun with other pins under the tag v1, not those that"):
        continued(plan_of(shelf.folder), changed)


def test_the_order_of_stacks_does_not_matter(shelf: Shelf) -> None:
    """Blocks are in random order anyway."""
    shelf.put("v1", 1)
    shelf.put("v2", 1)
    assert continued(plan_of(shelf.folder, stacks=("v2", "v1")), STACKS).todo == (2, 3)


@given(
    rounds=st.sets(
        st.tuples(st.sampled_from(["v1", "v2"]), st.integers(1, 3), st.sampled_from(["c1", "c1~2"]))
    )
)
def test_no_block_is_measured_twice_or_left_out(
    tmp_path_factory: pytest.TempPathFactory, rounds: set[tuple[str, int, str]]
) -> None:
    """Whatever was measured before, each block is either whole in one campaign or left to do."""
    shelf = Shelf(tmp_path_factory.mktemp("shelf"))
    for tag, block, campaign in rounds:
        shelf.put(tag, block, campaign)
    found = continued(plan_of(shelf.folder), STACKS)
    whole = {b for b in (1, 2, 3) for c in ("c1", "c1~2") if {("v1", b, c), ("v2", b, c)} <= rounds}
    assert sorted({*found.todo} | whole) == [1, 2, 3]
    assert not {*found.todo} & whole
    assert found.campaign not in {campaign for *_, campaign in rounds}


def test_a_run_whose_stack_got_other_pins_is_refused(shelf: Shelf) -> None:
    """Nothing is measured for it: its rounds could not be compared. Other runs are no matter."""
    plan = plan_of(shelf.folder)
    shelf.put("v1", 1)
    check_pins(plan, STACKS)
    changed = {**STACKS, "v1": replace(STACKS["v1"], wheels={}, pins={"flashinfer-python": "9"})}
    check_pins(msgspec.structs.replace(plan, run="c2"), changed)
    with pytest.raises(UserError, match="other pins under the tag v1"):
        check_pins(plan, changed)
