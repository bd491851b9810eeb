#!/usr/bin/env bash
# The history of every machine, and the site. What cannot be judged leaves no file, and is told.
set -euo pipefail
source .github/nightly/data-branch.sh
fetch_data
mkdir -p judged site
[[ ! -e data/stacks.toml ]] || cp data/stacks.toml benchmarks/stacks.toml # the rounds are of these
site=true
echo '<!DOCTYPE html><title>Machines</title><ul>' > site/index.html
for machine in $("$PYTHON" -c 'import json, sys; print(*json.loads(sys.argv[1]))' "$MACHINES"); do
  if [[ ! -d data/rounds/$machine ]]; then
    continue # told as missing data
  fi
  # Its exit code is a verdict, which the next step tells.
  "$PYTHON" -m regress history --rounds data/rounds --machine "$machine" \
    --format json --output "judged/$machine.json" || true
  "$PYTHON" -m regress site --rounds data/rounds --machine "$machine" --to "site/$machine" ||
    site=false
  echo "<li><a href=\"$machine/index.html\">$machine</a>" >> site/index.html
done
result=$([[ $site == true ]] && echo success || echo failure)
echo "{\"site\": {\"result\": \"$result\"}}" > judged/site.json
echo "site=$site" >> "$GITHUB_OUTPUT"
