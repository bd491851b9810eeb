#!/usr/bin/env bash
# What the night is about: machines, stacks to measure again, stacks whose modules are prebuilt.
set -euo pipefail
source .github/nightly/data-branch.sh
fetch_data
machines=$("$PYTHON" -c 'import json, re, sys
try:
    names = json.loads(sys.argv[1])
except ValueError:
    names = None
label = r"[A-Za-z0-9][A-Za-z0-9._-]*"
if not (isinstance(names, list) and names
        and all(isinstance(name, str) and re.fullmatch(label, name) for name in names)
        and len({*names}) == len(names)):
    sys.exit(f"machines are a JSON list of different runner labels, not {sys.argv[1]}")
print(json.dumps(names))' "$MACHINES")
{
  echo "began=${SINCE:-$(date -u +%Y-%m-%dT%H:%M:%SZ)}"
  echo "machines=$machines"
} >> "$GITHUB_OUTPUT"

code=0
"$PYTHON" -m benchmarks stacks update --known data/stacks.toml --min-age-h "$MIN_AGE_H" || code=$?

stacks=$("$PYTHON" -m benchmarks stacks list | awk '/^v/ {print $1}') # FlashInfer's, oldest first
newest=$(tail -n 1 <<< "$stacks")
lacking=$(while read -r tag; do
  compgen -G "data/rounds/*/$tag" > /dev/null || echo "$tag"
done <<< "$stacks")
{
  echo "again=$newest $REFERENCE"
  # The newest first: the GPU job compiles the others itself, or another night does.
  echo "modules=$({ echo "$newest"; echo "$REFERENCE"; tac <<< "$lacking"; } | awk 'NF && !seen[$0]++' | head -n 4 | xargs)"
} >> "$GITHUB_OUTPUT"
mkdir -p night
cp benchmarks/stacks.toml night/
cp -a data/rounds night/
exit "$code"
