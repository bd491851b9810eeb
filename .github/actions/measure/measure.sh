#!/usr/bin/env bash
# Measure base against head, or with ATTN_REPLAY judge rounds that are recorded of them. Beside the
# reports it leaves `log.txt` and, once it is through, `exit-code`: without that, nothing was judged.
set -euo pipefail
folder=$GITHUB_WORKSPACE/$FOLDER
mkdir -p "$folder"
wheels=${WHEELS:+$(realpath --no-symlinks "$WHEELS")}
modules=${MODULES:+$(realpath --no-symlinks "$MODULES")}
cd "$(dirname "$0")/../../.."

main() {
  local code=0
  judge || code=$?
  [[ $code != 0 || -s $folder/report.json ]] || code=4
  echo "$code" > "$folder/exit-code"
  echo "exit-code=$code" >> "$GITHUB_OUTPUT"
  [[ $FAIL == true || ! -s $folder/report.json ]] || code=0
  return "$code"
}

judge() {
  local base head means=()
  base=$(stack_of "$BASE") || return
  head=$(stack_of "$HEAD") || return
  if [[ -n ${ATTN_REPLAY:-} ]]; then
    echo "::notice::Replayed from recorded rounds: nothing was measured here."
    touch "$folder/replayed"
    means=(--judge --recorded)
  else
    [[ -z $wheels ]] || means+=(--wheels "$wheels")
    [[ -z $modules ]] || means+=(--modules "$modules")
    # Of an unfit host there is no data.
    "$PYTHON" -m benchmarks doctor "$base" "$head" "${means[@]}" --json "$folder/doctor.json" ||
      return 4
  fi
  "$PYTHON" -m regress ab "$base" "$head" --tier "$TIER" "${means[@]}" \
    --report json="$folder/report.json" --report sarif="$folder/attention.sarif"
}

stack_of() {
  local pins
  read -ra pins <<< "$1"
  "$PYTHON" -m benchmarks stacks pins "${pins[@]}"
}

main 2>&1 | tee "$folder/log.txt"
