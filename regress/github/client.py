"""The connection to GitHub's API, and its errors as one line with the right exit code."""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import requests
from github import Auth, Github, GithubException, GithubRetry, RateLimitExceededException
from github.GithubException import BadAttributeException
from github.NamedUser import NamedUser
from github.Organization import Organization
from urllib3.exceptions import HTTPError

from regress.errors import NoDataError, UsageError

__all__ = ["connect", "login_of", "name_of", "spoken"]

_API: Final = "https://api.github.com"
_LOGGERS: Final = ("github.GithubRetry", "github.Requester")
_TRIES: Final = 6
_LONGEST_WAIT_S: Final = 300.0
"""A limit of requests that lasts longer ends the job: it is run again rather than waited for."""
_LONGEST_PAUSE_S: Final = 60
"""Before a request is tried again, whatever Retry-After says: jobs are stopped after minutes."""
_PASSING: Final = (429, *range(500, 600))
_PER_PAGE: Final = 100
_VIEWER: Final = "query { viewer { login } }"
_SERVER_ERROR: Final = 500
_ODD: Final = (
    AssertionError,
    AttributeError,
    BadAttributeException,
    LookupError,
    TypeError,
    ValueError,
)
"""What the client library ends with where an answer is cut off, is no JSON, or lacks something."""


def connect() -> Github:
    """Return a client for `GITHUB_API_URL` that speaks with `GITHUB_TOKEN`, if there is one.

    Limits of requests are waited for and server errors are tried again. What the client library
    would log of that on its own is dropped: trouble is told once, in words of ours.
    """
    for name in _LOGGERS:
        logging.getLogger(name).disabled = True
    token = os.environ.get("GITHUB_TOKEN")
    return Github(
        auth=Auth.Token(token) if token else None,
        base_url=os.environ.get("GITHUB_API_URL") or _API,
        retry=GithubRetry(
            total=_TRIES,
            backoff_factor=0.5,
            backoff_max=30,
            max_rate_limit_wait=_LONGEST_WAIT_S,
            retry_after_max=_LONGEST_PAUSE_S,
            status_forcelist=list(_PASSING),
        ),
        per_page=_PER_PAGE,
        seconds_between_requests=None,
        seconds_between_writes=None,
    )


def login_of(github: Github) -> str:
    """Return whom the token belongs to: a job's token may ask that of GraphQL only."""
    with spoken("whose token this is"):
        _, answer = github.requester.graphql_query(_VIEWER, {})
        return str(answer["data"]["viewer"]["login"])


def name_of(user: NamedUser | Organization | None) -> str:
    """Return a login; empty for a user who is deleted, which the API shows as none."""
    return "" if user is None else user.login


@contextmanager
def spoken(what: str) -> Iterator[None]:
    """Turn errors of the API into one line that says what was asked for.

    Raises
    ------
    UsageError
        If GitHub refuses: not found, no right to it, not valid.
    NoDataError
        If GitHub cannot answer now: server errors, limits, no network.
    """
    try:
        yield
    except RateLimitExceededException as error:
        msg = f"GitHub's limit of requests is reached, asking for {what}: re-run the job later"
        raise NoDataError(msg) from error
    except GithubException as error:
        raise _refused(what, error) from error
    except (requests.RequestException, HTTPError, OSError) as error:
        msg = f"GitHub does not answer, asking for {what}: re-run the job ({_brief(error)})"
        raise NoDataError(msg) from error
    except _ODD as error:
        msg = f"GitHub's answer about {what} is not as documented: {_brief(error)}"
        raise NoDataError(msg) from error


def _refused(what: str, error: GithubException) -> UsageError | NoDataError:
    if error.status >= _SERVER_ERROR:
        return NoDataError(f"GitHub answers {error.status}, asking for {what}: re-run the job")
    told = f"GitHub refuses {what} ({error.status} {error.message or ''}".rstrip()
    return UsageError(f"{told}): see whether it exists and what GITHUB_TOKEN may do")


def _brief(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".splitlines()[0][:200]
