"""What the commands that talk to GitHub have in common."""

from regress.errors import UsageError

__all__ = ["require_pygithub"]


def require_pygithub() -> None:
    """Make sure that the client library is there: only these commands need it.

    Raises
    ------
    UsageError
        If it is not.
    """
    try:
        import github  # noqa: F401
    except ImportError as error:
        msg = "this command needs PyGithub: pip install -e '.[github]'"
        raise UsageError(msg) from error
