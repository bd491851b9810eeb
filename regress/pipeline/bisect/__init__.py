"""Bisection over releases: which to measure next is decided between stages, from round files."""
