#!/usr/bin/env bash
# Add tonight's rounds to the data branch; if another run was faster, once more on top of its push.
set -euo pipefail
source .github/nightly/data-branch.sh
for wait_s in 1 5 15 60; do
  refused=0
  fetch_data
  for folder in measured/measured-*; do
    if [[ -d $folder/rounds ]]; then
      "$PYTHON" -m regress keep "$folder/rounds" --into data/rounds \
        --machine "${folder#measured/measured-}" || refused=2
    fi
  done
  [[ ! -e night/stacks.toml ]] || cp night/stacks.toml data/
  git -C data add -A
  if git -C data diff --cached --quiet; then
    echo "Nothing new to keep."
    exit "$refused"
  fi
  changed=$(git -C data diff --cached --name-only --diff-filter=a -- '*.json.gz')
  [[ -z $changed ]] # rounds are only added
  git -C data -c user.name='github-actions[bot]' \
    -c user.email='41898282+github-actions[bot]@users.noreply.github.com' \
    commit -q -m "Keep the rounds of run $GITHUB_RUN_ID"
  if git -C data push -q origin "HEAD:refs/heads/$DATA_BRANCH"; then
    exit "$refused"
  fi
  sleep "$wait_s"
done
echo "::error::The rounds could not be pushed to $DATA_BRANCH: re-run this job."
exit 1
