# Sourced. The branch attention-data holds rounds/<machine>/<stack>/*.json.gz and stacks.toml: files
# are added to it, never changed, and a push never overwrites what another run has pushed.
DATA_BRANCH=attention-data
DATA_REMOTE=${ATTN_DATA_REMOTE:-$GITHUB_SERVER_URL/$GITHUB_REPOSITORY.git}
export GIT_TERMINAL_PROMPT=0
if [[ -n ${TOKEN:-} ]]; then
  # In the environment of git alone: neither in a file nor in an argument that others can read.
  export GIT_CONFIG_COUNT=1
  export GIT_CONFIG_KEY_0="http.$GITHUB_SERVER_URL/.extraheader"
  GIT_CONFIG_VALUE_0="AUTHORIZATION: basic $(printf 'x-access-token:%s' "$TOKEN" | base64 -w0)"
  export GIT_CONFIG_VALUE_0
fi

# Put the branch into the folder `data`; the first night there is none yet.
fetch_data() {
  local code=0
  rm -rf data
  git init -q -b "$DATA_BRANCH" data
  git -C data remote add origin "$DATA_REMOTE"
  git -C data ls-remote --exit-code origin "refs/heads/$DATA_BRANCH" > /dev/null || code=$?
  if [[ $code == 0 ]]; then
    git -C data fetch -q --depth 1 origin "$DATA_BRANCH"
    git -C data reset -q --hard FETCH_HEAD
  elif [[ $code != 2 ]]; then # 2: the branch does not exist
    echo "::error::The branch $DATA_BRANCH cannot be read."
    return "$code"
  fi
  mkdir -p data/rounds
}
