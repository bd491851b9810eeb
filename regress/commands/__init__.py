"""The commands of `python -m regress`, one a file: options in, a report out, an exit code back."""
