# The few things one does here. `make demo` and `make test` need nothing but make and Python 3.11 or newer.

PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test test-slow bench agree lock clean

demo: .venv/base  ## Make the environment, install, and run the slugify example end to end.
	$(BIN)/retrial run examples/slugify/slugify.toml --model recorded:examples/slugify/replies.jsonl

test: .venv/dev  ## Check style and types, and run the tests.
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/pyright
	$(BIN)/python -m pytest

test-slow: .venv/dev  ## Run the tests that are left out of `make test`.
	$(BIN)/python -m pytest -m slow

bench: .venv/dev  ## Measure against peers and limits; makes an environment of its own for the peers.
	$(BIN)/python benchmarks/run.py

agree: .venv/dev  ## Compare verdicts with what is known of recorded attempts, hostile programs and answers.
	$(BIN)/python benchmarks/agree.py
	$(BIN)/python benchmarks/game24.py

lock: .venv/dev  ## Pin every dependency with its hashes anew.
	sh requirements/lock.sh

clean:  ## Remove the environment and what tests leave.
	rm -rf .venv .pytest_cache .ruff_cache .hypothesis

.venv/base: requirements/base.txt pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/base.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@

.venv/dev: requirements/dev.txt .venv/base
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	touch $@

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed; say which with: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv .venv
