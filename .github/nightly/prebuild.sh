#!/usr/bin/env bash
# Compile the modules of some stacks, with the host's nvcc or else with one from the package index.
set -euo pipefail
cp night/stacks.toml benchmarks/stacks.toml
mkdir -p modules
if [[ -n ${ATTN_REPLAY_ROUNDS:-} ]]; then
  echo "::notice::Rounds are replayed: nothing is compiled."
  exit 0
fi
if [[ -z ${ATTN_PYTHON:-} ]]; then
  "$PYTHON" -m pip install --quiet --disable-pip-version-check \
    --constraint requirements.lock --requirement .github/nightly/prebuild.txt
  PATH=$(dirname "$PYTHON"):$PATH # ninja
fi
if ! command -v nvcc > /dev/null; then
  CUDA_HOME=$("$PYTHON" -c 'import nvidia, pathlib; print(pathlib.Path(nvidia.__path__[0], "cu13"))')
  export CUDA_HOME
  PATH=$CUDA_HOME/bin:$PATH
  ln -sfn lib "$CUDA_HOME/lib64"
  for library in "$CUDA_HOME"/lib/lib*.so.*; do # what -lcudart looks for has no number
    ln -sfn "${library##*/}" "${library%%.so.*}.so"
  done
fi
failed=0
for stack in $STACKS; do
  "$PYTHON" -m benchmarks prebuild "$stack" --to modules || failed=2 # the others all the same
done
exit "$failed"
