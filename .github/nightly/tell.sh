#!/usr/bin/env bash
# One issue for each alert; the exit code is 1 for a regression, 2 for a failed job, 4 for data.
set -euo pipefail
mkdir -p judged data/rounds
printf '%s' "$NEEDS" > judged/needs.json
arguments=(--rounds data/rounds --machines "$MACHINES" --within-days "$WITHIN_DAYS")
arguments+=(--since "${BEGAN:-$(date -u +%Y-%m-%dT%H:%M:%SZ)}" --needs judged/needs.json)
[[ ! -e judged/site.json ]] || arguments+=(--needs judged/site.json)
for machine in $("$PYTHON" -c 'import json, sys; print(*json.loads(sys.argv[1]))' "$MACHINES"); do
  arguments+=(--log "measured/measured-$machine/log.txt")
  [[ ! -d data/rounds/$machine ]] || arguments+=(--history "judged/$machine.json")
done
arguments+=(--repository "$GITHUB_REPOSITORY" --site-url "$SITE_URL")
arguments+=(--run-url "$GITHUB_SERVER_URL/$GITHUB_REPOSITORY/actions/runs/$GITHUB_RUN_ID")
code=0
"$PYTHON" -m regress alert "${arguments[@]}" | tee judged/told.txt || code=$?
{ echo '```'; cat judged/told.txt; echo '```'; } >> "$GITHUB_STEP_SUMMARY"
exit "$code"
