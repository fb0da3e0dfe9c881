# The one task runner. `make` alone lists the targets; CI and pre-commit call these, nothing else.
# Needs Python >= 3.11, git and make; everything else goes into .venv and .uv of this folder.
PYTHON ?= python3
UV := $(shell command -v uv 2>/dev/null || echo $(CURDIR)/.uv/bin/uv)
BIN := .venv/bin
export UV_LINK_MODE ?= copy
.DEFAULT_GOAL := help
.PHONY: help setup demo test test-e2e check format lint types imports docs real-programs test-real bench lock clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-14s %s\n", $$1, $$2}'

$(CURDIR)/.uv/bin/uv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=python3.12")'
	$(PYTHON) -m venv .uv
	.uv/bin/pip install --quiet 'uv==0.13.9'

.venv/.installed: requirements.lock pyproject.toml | $(filter $(CURDIR)/.uv/bin/uv,$(UV))
	@test -x $(BIN)/python || $(UV) venv --quiet --python $(PYTHON) .venv
	$(UV) pip sync --quiet --require-hashes --python $(BIN)/python requirements.lock
	$(UV) pip install --quiet --no-deps --python $(BIN)/python --editable .
	@touch $@

setup: .venv/.installed ## make the locked environment in .venv

demo: setup ## plan a real chart for several targets on the embedded database
	$(BIN)/foretell demo

test: setup ## unit, contract and integration tests
	$(BIN)/pytest -q -n 2 tests/unit tests/contract tests/integration

test-e2e: setup ## the program in child processes: signals, kills, bad input
	$(BIN)/pytest -q -n 2 tests/e2e

check: format lint types imports docs ## every gate that runs no test; under a minute

format: setup
	$(BIN)/ruff format --check src tests bench

lint: setup
	$(BIN)/ruff check src tests bench

types: setup
	$(BIN)/mypy

imports: setup
	$(BIN)/lint-imports

docs: setup
	$(BIN)/pytest -q tests/docs

real-programs: setup ## build or unpack the programs of the real tests into a cache
	UV='$(UV)' $(BIN)/python tests/real/programs/build.py

test-real: setup ## tests against programs that nobody here wrote
	$(BIN)/pytest -q tests/real

bench: setup ## one line a benchmark: NAME ratio R goal G
	$(BIN)/python -m bench

fix: setup ## format and mend what ruff can
	$(BIN)/ruff format src tests bench
	$(BIN)/ruff check --fix src tests bench

lock: setup ## resolve the dependencies anew into requirements.lock
	$(UV) pip compile --quiet pyproject.toml --extra dev --extra rego --universal --generate-hashes --no-header --no-annotate --upgrade -o requirements.lock

clean: ## remove what make made here
	rm -rf .venv .uv .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache dist
