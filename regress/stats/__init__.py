"""Exact rank statistics on one number a round. No thresholds live here."""
