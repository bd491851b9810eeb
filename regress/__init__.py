"""Judging: what changed between stacks, and which backend is best inside one.

Reads round files and nothing else; needs no GPU, and imports neither torch nor `benchmarks`.
The words used here are in `docs/glossary.md`, the rules in `docs/decision-rules.md`.
"""
