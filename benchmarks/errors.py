"""The one kind of error that a user can put right."""

__all__ = ["UserError"]


class UserError(Exception):
    """Bad input, or a host that lacks something: one line that says what to do.

    The command line prints it as `error: …` and exits with 2; nothing else catches it but to
    hand it on.
    """
