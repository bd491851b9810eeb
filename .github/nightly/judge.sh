#!/usr/bin/env bash
# The history of every machine, and the site. What cannot be judged leaves no file, and is told.
set -euo pipefail
source .github/nightly/data-branch.sh
fetch_data
mkdir -p judged site
[[ ! -e data/stacks.toml ]] || cp data/stacks.toml benchmarks/stacks.toml # the rounds are of these
site=skipped # by those that have no rounds yet, which is told as missing data
echo '<!DOCTYPE html><title>Machines</title><ul>' > site/index.html
# All of them, not only those that measured tonight: the site would lose the others.
for folder in data/rounds/*/; do
  [[ -d $folder ]] || continue
  machine=$(basename "$folder")
  [[ $site == failure ]] || site=success
  # Its exit code is a verdict, which the next step tells.
  "$PYTHON" -m regress history --rounds data/rounds --machine "$machine" \
    --format json --output "judged/$machine.json" || true
  "$PYTHON" -m regress site --rounds data/rounds --machine "$machine" --to "site/$machine" ||
    site=failure
  echo "<li><a href=\"$machine/index.html\">$machine</a>" >> site/index.html
done
echo "{\"site\": {\"result\": \"$site\"}}" > judged/site.json
echo "site=$([[ $site == success ]] && echo true || echo false)" >> "$GITHUB_OUTPUT"
