"""Alerts become issues of a made-up repository, one each, on a loopback GitHub."""

import re
from collections.abc import Iterator

import pytest
from github import Auth, Github, GithubRetry
from github.Repository import Repository as Client

from regress.errors import NoDataError, UsageError
from regress.github.alerts import LABEL, Night, load_known, sync
from regress.model.alert import Alert, Assessment, Cleared, Memory, Signal, State
from regress.report.alert_markdown import Links, parse_memory, render_issue
from tests.support.github_api import GithubApi, serve
from tests.support.github_world import Fault, Issue, Pull, Repository, World

BOT = "gate[bot]"
RUN = "https://github.test/runs/1"
SLOWER = Alert(
    Signal.REGRESSION,
    "regression:h200:host",
    "h200 got slower: 3 of 72 cases of v1, up to 1.10x",
    "The same stack got worse.",
    ("1.100x [1.090, 1.110] some-case",),
    "python -m regress check v1 v1",
    ("v1",),
)
WORSE = Alert(SLOWER.signal, SLOWER.key, "h200 got slower: 9 of 72 cases of v1", "Worse.")
SILENT = Alert(
    Signal.DATA_MISSING, "data-missing:h200", "h200 has had no new rounds for 3 days", "Silent."
)
BROKEN = Alert(Signal.JOB_FAILED, "job-failed:measure", "nightly job measure failed", "Failed.")
OVER = Assessment(cleared=(Cleared(SLOWER.key, "h200 is as fast as before."),))


def night(day: int, *, dry_run: bool = False) -> Night:
    return Night(f"2026-12-{day:02d}T02:00:00Z", Links(RUN, "https://s.test/"), dry_run=dry_run)


@pytest.fixture
def repo() -> Repository:
    return Repository()


@pytest.fixture
def api(repo: Repository) -> Iterator[GithubApi]:
    with serve(World({"acme/suite": repo}, login=BOT)) as running:
        yield running


@pytest.fixture
def client(api: GithubApi) -> Iterator[Client]:
    retry = GithubRetry(total=3, backoff_factor=0, secondary_rate_wait=0)
    token = Auth.Token("secret")
    with Github(
        auth=token,
        base_url=api.url,
        retry=retry,
        seconds_between_requests=None,
        seconds_between_writes=None,
    ) as github:
        yield github.get_repo("acme/suite")


def tell(client: Client, when: Night, *alerts: Alert, also: Assessment = OVER) -> tuple[str, ...]:
    """Do what a nightly run does; `also` holds what was shown to be well."""
    proofs = Assessment(
        cleared=tuple(c for c in also.cleared if c.key not in {a.key for a in alerts})
    )
    return sync(client, load_known(client, BOT), Assessment(alerts) + proofs, when).lines


def test_an_alert_is_an_issue(client: Client, repo: Repository) -> None:
    """It says what, since when and how much, what shows it, how to see it, and its history."""
    assert tell(client, night(1), SLOWER) == (
        "opened #1: h200 got slower: 3 of 72 cases of v1, up to 1.10x, since 2026-12-01",
    )
    (issue,) = repo.issues
    assert issue.title == f"{SLOWER.title}, since 2026-12-01"
    assert issue.labels == [LABEL, "attention-regression"]
    for part in (
        "**The same stack got worse.**",
        "- 1.100x &#91;1.090, 1.110&#93; some-case",
        "git fetch origin attention-data",
        "python -m regress check v1 v1",
        f"- 2026-12-01: {SLOWER.title} ([run]({RUN}))",
        "[Site](https://s.test/)",
    ):
        assert part in issue.body


def test_three_signals_are_three_issues(client: Client, repo: Repository) -> None:
    """Each has a label and a title of its own."""
    tell(client, night(1), SLOWER, SILENT, BROKEN)
    assert [(i.title.split(",")[0], i.labels[1]) for i in repo.issues] == [
        ("h200 got slower: 3 of 72 cases of v1", "attention-regression"),
        ("h200 has had no new rounds for 3 days", "attention-data-missing"),
        ("nightly job measure failed", "attention-job-failed"),
    ]


def test_the_next_night_refreshes_it(client: Client, repo: Repository) -> None:
    """There is one issue, with the new extent, the first night and both states."""
    tell(client, night(1), SLOWER)
    assert tell(client, night(2), WORSE) == (f"refreshed #1: {WORSE.title}, since 2026-12-01",)
    (issue,) = repo.issues
    assert issue.title == f"{WORSE.title}, since 2026-12-01"
    memory = parse_memory(issue.body)
    assert memory is not None
    assert [(s.day, s.told) for s in memory.states] == [
        ("2026-12-01", SLOWER.title),
        ("2026-12-02", WORSE.title),
    ]
    assert issue.body.index("2026-12-02: ") < issue.body.index("2026-12-01: ")
    assert repo.comments == []


def test_a_second_run_of_a_night_changes_nothing(
    client: Client, repo: Repository, api: GithubApi
) -> None:
    """No issue, comment or state is doubled, and nothing is sent that is there."""
    tell(client, night(1), SLOWER)
    body, sent = repo.issues[0].body, len(api.sent("PATCH")) + len(api.sent("POST"))
    tell(client, night(1), SLOWER)
    assert len(repo.issues) == 1
    assert repo.issues[0].body == body
    assert len(api.sent("PATCH")) + len(api.sent("POST")) == sent


def test_it_is_closed_when_it_is_over(client: Client, repo: Repository) -> None:
    """A comment and the history say when and why; a second run says it no second time."""
    tell(client, night(1), SLOWER)
    for _ in range(2):
        tell(client, night(3))
    (issue,) = repo.issues
    assert (issue.state, issue.state_reason) == ("closed", "completed")
    told = "Over since 2026-12-03: h200 is as fast as before."
    assert [comment.body for comment in repo.comments] == [told]
    assert f"- 2026-12-03: {told}" in issue.body
    memory = parse_memory(issue.body)
    assert memory is not None
    assert memory.states[-1].told == told


def test_it_is_opened_again(client: Client, repo: Repository) -> None:
    """What comes back is the same issue, since tonight, with all that was before."""
    tell(client, night(1), SLOWER)
    tell(client, night(2))
    assert tell(client, night(5), WORSE)[0].startswith("opened again #1: ")
    (issue,) = repo.issues
    assert (issue.state, issue.title) == ("open", f"{WORSE.title}, since 2026-12-05")
    assert [comment.body for comment in repo.comments][1:] == ["It is back: Worse."]
    memory = parse_memory(issue.body)
    assert memory is not None
    assert [state.day for state in memory.states] == ["2026-12-01", "2026-12-02", "2026-12-05"]


def test_what_is_not_known_stays_as_it_is(client: Client, repo: Repository) -> None:
    """Only proof closes an issue: a night without data says nothing about speed."""
    tell(client, night(1), SLOWER)
    body = repo.issues[0].body
    told = tell(client, night(2), SILENT, also=Assessment())
    assert told[1] == f"stands #1, nothing new is known: {SLOWER.title}, since 2026-12-01"
    assert (repo.issues[0].state, repo.issues[0].body) == ("open", body)


@pytest.mark.parametrize(
    ("cleared", "closes"),
    [
        (Cleared("regression:h200:", "Gone."), True),
        (Cleared("regression:h200:", "Gone.", stacks=("v1", "v2")), True),
        (Cleared("regression:h200:", "Gone.", stacks=("v2",)), False),
        (Cleared("regression:h200:", "Gone.", but=(SLOWER.key,)), False),
        (Cleared("regression:h200", "Gone."), False),
        (Cleared("regression:b200:", "Gone."), False),
    ],
)
def test_proof_must_be_about_the_alert(
    cleared: Cleared,
    closes: bool,  # noqa: FBT001
    client: Client,
    repo: Repository,
) -> None:
    """A key that ends in a colon means all below it, of the stacks that were looked at."""
    tell(client, night(1), SLOWER)
    tell(client, night(2), also=Assessment(cleared=(cleared,)))
    assert (repo.issues[0].state == "closed") is closes


def test_a_muted_alert_stays_closed(client: Client, repo: Repository) -> None:
    """Closed as not planned by a person, it is told and not opened again."""
    tell(client, night(1), SLOWER)
    repo.issues[0].state, repo.issues[0].state_reason = "closed", "not_planned"
    found = sync(client, load_known(client, BOT), Assessment((SLOWER,)), night(2))
    assert found.lines == (f"muted #1: {SLOWER.title}",)
    assert found.muted == {SLOWER.key}
    assert (len(repo.issues), repo.issues[0].state) == (1, "closed")


def test_issues_of_others_are_never_touched(client: Client, repo: Repository) -> None:
    """Neither a person's copy of an alert, nor a bot's other issue, nor a pull request."""
    tell(client, night(1), SLOWER)
    alert = repo.issues.pop()
    others = [
        Issue(1, "copy", alert.body, labels=[LABEL], login="stranger"),
        Issue(2, "no alert", "text", labels=[LABEL], login=BOT),
        Issue(4, "of a deleted user", alert.body, labels=[LABEL], login=""),
        Issue(3, "half", alert.body.replace('"key"', '"k"'), labels=[LABEL], login=BOT),
    ]
    repo.issues += others
    repo.pulls.append(Pull(9, "a" * 40, "b" * 40, labels=[LABEL]))
    before = [(i.title, i.body, i.state) for i in others]
    tell(client, night(2))
    tell(client, night(2), SLOWER)
    assert [(i.title, i.body, i.state) for i in others] == before
    assert [i.number for i in repo.issues] == [1, 2, 4, 3, 10]
    assert repo.comments == []


def test_copies_are_closed(client: Client, repo: Repository) -> None:
    """An issue that a lost answer doubled is closed, and the older one goes on."""
    tell(client, night(1), SLOWER)
    first = repo.issues[0]
    repo.issues.append(Issue(2, first.title, first.body, labels=[LABEL], login=BOT))
    tell(client, night(2), SLOWER)
    assert [(i.number, i.state) for i in repo.issues] == [(1, "open"), (2, "closed")]
    assert [c.body for c in repo.comments] == ["The same as #1."]


def test_a_dry_run_sends_nothing(client: Client, repo: Repository, api: GithubApi) -> None:
    """It says the same, and only reads."""
    assert tell(client, night(1, dry_run=True), SLOWER)[0].startswith("opened #?: ")
    assert repo.issues == []
    assert {request.method for request in api.requests} == {"GET"}


def test_server_errors_are_tried_again(client: Client, repo: Repository, api: GithubApi) -> None:
    """A few bad answers are got over."""
    api.world.faults += [Fault("/issues", times=2), Fault("/issues", method="POST", times=1)]
    tell(client, night(1), SLOWER)
    assert len(repo.issues) == 1


@pytest.mark.parametrize(
    ("fault", "error", "told"),
    [
        (Fault("/issues", 502, 99), NoDataError, "GitHub"),
        (Fault("/issues", 403, 99, message="Resource not accessible"), UsageError, "refuses"),
        (Fault("/issues", 410, 99, message="Issues are disabled"), UsageError, "disabled"),
    ],
)
def test_a_github_that_fails_is_one_line(
    fault: Fault, error: type[Exception], told: str, client: Client, api: GithubApi
) -> None:
    """Nothing is half told as done."""
    api.world.faults.append(fault)
    with pytest.raises(error, match=told):
        tell(client, night(1), SLOWER)


def test_text_of_others_is_no_markup(client: Client, repo: Repository) -> None:
    """What a library or a job said cannot mention, link, or end the hidden memory."""
    bad = "--> @everyone <script> [x](http://evil.test) #1 ```"
    alert = Alert(SLOWER.signal, "regression:x", bad, bad, (bad,), bad, (bad,))
    tell(client, night(1), alert)
    (issue,) = repo.issues
    visible, _, hidden = issue.body.partition("<!-- attention-regress")
    assert hidden.count("-->") == 1
    prose = re.sub(r"(`{3,})sh\n.*?\n\1", "", visible, flags=re.DOTALL)
    assert "<script>" not in prose
    assert "@everyone" not in prose
    assert "](http://evil" not in prose
    memory = parse_memory(issue.body)
    assert memory is not None
    assert memory.stacks == (bad,)


def test_a_long_story_stays_within_the_limit(client: Client, repo: Repository) -> None:
    """Thousands of lines of evidence and years of nights still fit into an issue."""
    long = Alert(
        SLOWER.signal,
        SLOWER.key,
        "x" * 300,
        "y",
        tuple(f"case {n} {'z' * 90}" for n in range(3000)),
    )
    told = tuple(State(f"2025-{n:03d}", "w" * 120, RUN) for n in range(200))
    memory = Memory(long.key, long.signal, "2025-01-01T00:00:00Z", (), told)
    tell(client, night(1), long)
    repo.issues[0].body = render_issue(long, memory, night(1).links)
    tell(client, night(2), long)
    tell(client, night(3))
    (issue,) = repo.issues
    assert len(issue.body) <= 65_536
    assert len(issue.title) <= 256
    assert issue.state == "closed"
