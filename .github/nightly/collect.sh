#!/usr/bin/env bash
# Put the rounds that were written tonight into measured/rounds, however the night ended, and why
# stacks could not be measured.
set -euo pipefail
[[ -e .asv/began ]] || exit 0
mkdir -p measured/rounds
target=$PWD/measured/rounds
cd .asv/rounds
find . \( -name '*.json.gz' -o -name unrunnable.json \) -cnewer ../began -exec cp --parents -t "$target" {} +
