"""GitHub: a pull request read as data, and what the gate says there.

Nothing of a pull request is ever checked out, installed or executed here.
"""
