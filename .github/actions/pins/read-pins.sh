#!/usr/bin/env bash
# Read the pins of both sides; what others may use of it are checked pins and "true" or "false".
set -euo pipefail
folder=$GITHUB_WORKSPACE/$FOLDER
mkdir -p "$folder"
arguments=(--repository "$GITHUB_REPOSITORY" --pull "$PULL")
arguments+=(--output "$folder/bump.json" --github-output "$GITHUB_OUTPUT")
[[ -z $COMMIT ]] || arguments+=(--head "$COMMIT")
while read -r glob; do
  [[ -z $glob ]] || arguments+=(--pins "$glob")
done <<< "$FILES"
while read -r pattern; do
  [[ -z $pattern ]] || arguments+=(--pattern "$pattern")
done <<< "$PATTERNS"
cd "$(dirname "$0")/../../.."
"$PYTHON" -m regress bump "${arguments[@]}"
