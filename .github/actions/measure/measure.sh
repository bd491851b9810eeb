#!/usr/bin/env bash
# Measure base against head, or with ATTN_REPLAY judge rounds that are recorded of them.
set -euo pipefail
folder=$GITHUB_WORKSPACE/$FOLDER
mkdir -p "$folder"
wheels=${WHEELS:+$(realpath --no-symlinks "$WHEELS")}
modules=${MODULES:+$(realpath --no-symlinks "$MODULES")}
cd "$(dirname "$0")/../../.."

main() {
  local base head code=0 means=()
  base=$(stack_of "$BASE")
  head=$(stack_of "$HEAD")
  if [[ -n ${ATTN_REPLAY:-} ]]; then
    echo "::notice::Replayed from recorded rounds: nothing was measured here."
    touch "$folder/replayed"
    means=(--judge --recorded)
  else
    [[ -z $wheels ]] || means+=(--wheels "$wheels")
    [[ -z $modules ]] || means+=(--modules "$modules")
    "$PYTHON" -m benchmarks doctor "$base" "$head" "${means[@]}" --json "$folder/doctor.json" ||
      return 4 # unfit: no data
  fi
  "$PYTHON" -m regress ab "$base" "$head" --tier "$TIER" "${means[@]}" \
    --report json="$folder/report.json" --report sarif="$folder/attention.sarif" || code=$?
  echo "exit-code=$code" >> "$GITHUB_OUTPUT"
  [[ $FAIL == true || ! -s $folder/report.json ]] || code=0
  return "$code"
}

stack_of() {
  local pins
  read -ra pins <<< "$1"
  "$PYTHON" -m benchmarks stacks pins "${pins[@]}"
}

main 2>&1 | tee "$folder/log.txt"
