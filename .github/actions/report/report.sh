#!/usr/bin/env bash
# Say the verdict where people look; the exit code is the verdict's.
set -euo pipefail
bump=$GITHUB_WORKSPACE/$BUMP
folder=$GITHUB_WORKSPACE/$FOLDER
cd "$(dirname "$0")/../../.."
if [[ ! -s $bump ]]; then
  echo "::error::Nobody knows what this pull request pins: see the log of the job that reads pins."
  echo "exit-code=4" >> "$GITHUB_OUTPUT"
  exit 4
fi
arguments=(--bump "$bump" --log "$folder/log.txt" --doctor "$folder/doctor.json")
arguments+=(--run-url "$GITHUB_SERVER_URL/$GITHUB_REPOSITORY/actions/runs/$GITHUB_RUN_ID")
# A job that was stopped leaves no exit code, and then its report does not count.
if [[ -e $folder/exit-code ]]; then
  arguments+=(--exit-code "$folder/exit-code" --report "$folder/report.json")
fi
[[ -z $SARIF ]] || arguments+=(--sarif "$GITHUB_WORKSPACE/$SARIF")
[[ ! -e $folder/replayed ]] || arguments+=(--replayed)
code=0
"$PYTHON" -m regress comment "${arguments[@]}" || code=$?
echo "exit-code=$code" >> "$GITHUB_OUTPUT"
exit "$code"
