#!/usr/bin/env bash
# One machine's night: is it fit, the newest stack again, then what is missing.
set -euo pipefail
mkdir -p measured .asv/rounds
main() {
  local code=0 means=() again
  if [[ -n ${ATTN_REPLAY_ROUNDS:-} ]]; then
    echo "::notice::Replayed from rounds in $ATTN_REPLAY_ROUNDS: nothing was measured here."
    touch .asv/began
    cp -r "$ATTN_REPLAY_ROUNDS/$MACHINE" .asv/rounds/
    return
  fi
  cp night/stacks.toml benchmarks/stacks.toml
  cp -a night/rounds/. .asv/rounds/
  touch .asv/began
  [[ ! -d modules ]] || means=(--modules modules)
  read -ra again <<< "$AGAIN"
  "$PYTHON" -m benchmarks doctor "${again[@]}" "${means[@]}" --json measured/doctor.json
  means+=(--machine "$MACHINE" --tier gate --rounds 5)
  "$PYTHON" -m benchmarks run "${again[@]}" "${means[@]}" || code=$?
  "$PYTHON" -m benchmarks backfill --reference "$REFERENCE" --budget-s "$BUDGET_S" \
    "${means[@]}" || code=$?
  return "$code"
}
main 2>&1 | tee measured/log.txt
