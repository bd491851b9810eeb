#!/usr/bin/env bash
# Name a Python that can run the suite, as the output `path` of this step.
# ATTN_PYTHON, set on a runner, has all requirements: nothing is installed, no network is needed.
# Otherwise they go, with EXTRAS of this project, into a fresh environment, which sees torch if the
# host's python3 has it.
set -euo pipefail
suite=$(cd "$(dirname "$0")/../.." && pwd)
python=${ATTN_PYTHON:-}
if [[ -z $python ]]; then
  environment=$RUNNER_TEMP/attention-regress
  python3 -m venv "$environment"
  python=$environment/bin/python
  torch='from importlib.metadata import distribution as d; print(d("torch").locate_file(""))'
  if host=$(python3 -c "$torch" 2> /dev/null); then
    echo "$host" > "$("$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/host.pth"
  fi
  "$python" -m pip install --quiet --disable-pip-version-check \
    --constraint "$suite/requirements.lock" --editable "$suite[${EXTRAS:-github}]"
elif ! "$python" -c 'import importlib.util as u
assert all(map(u.find_spec, ("asv", "github", "msgspec")))' 2> /dev/null; then
  echo "::error::ATTN_PYTHON=$python lacks requirements of this suite: install them, or unset it."
  exit 2
fi
echo "path=$python" >> "$GITHUB_OUTPUT"
