# The two commands of the README are `make compare` and `make test`; both keep what they install
# in .venv. PYTHON chooses the interpreter (3.11 to 3.13).
PYTHON ?= python3
BIN := .venv/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1

BASE ?= v0.6.0
HEAD ?= v0.6.1
TIER ?= gate

.PHONY: compare test ab lint bench calibrate simulate docs clean

# asv's comparison and this suite's verdict, from rounds recorded on an H200.
compare: .venv/compare
	$(BIN)/python -m benchmarks export --recorded --tier nightly
	$(BIN)/asv compare --machine h200 --sort ratio v0.6.0 v0.6.1
	$(BIN)/python -m regress ab v0.6.0 v0.6.1 --tier nightly --recorded

# Linters, types, import layers, then every test that needs no GPU.
test: .venv/test lint
	$(BIN)/pytest -n 2

# On a GPU host, with PYTHON the interpreter that has torch: measure two stacks until all is decided.
ab:
	$(PYTHON) -m pip install -q -c requirements.lock -e .
	$(PYTHON) -m regress ab $(BASE) $(HEAD) --tier $(TIER)

lint: .venv/test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

# The suite's own speed: loading, judging, slugs, ledger.
bench: .venv/test
	$(BIN)/pytest -n 0 --benchmark-enable --benchmark-only -o 'python_files=bench_*.py'

# The suite's own error rate from recorded rounds, kept for reports to quote.
calibrate: .venv/test
	$(BIN)/python -m regress calibrate --recorded --write

# Null gates from fresh random numbers must hold the family-wise error rate: weekly, and by hand.
simulate: .venv/test
	$(BIN)/pytest -n 0 -m simulation

# The generated parts of the documentation: README figures, tables, schemas, the picture.
docs: .venv/compare
	$(BIN)/pip install -q -c requirements.lock -e '.[plot]'
	$(BIN)/python -m regress docs

clean:
	rm -rf .venv .asv

.venv/compare: pyproject.toml requirements.lock
	$(PYTHON) -m venv .venv
	$(BIN)/pip install -q -c requirements.lock -e .
	@touch $@

.venv/test: .venv/compare
	$(BIN)/pip install -q -c requirements.lock -e '.[test,cpu,plot,history]'
	@touch $@
