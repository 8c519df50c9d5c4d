# Needs Python 3.11 or newer, make, and a network for PyPI. Everything is installed into .venv in this folder.
#   make demo    asks a question about this project's own documentation
#   make test    runs the tests
# `make help` lists the rest. Another interpreter: make PYTHON=python3.12 test

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMPS := $(VENV)/stamps
# Pinned versions everywhere; the build backend is installed first, so that building a part fetches nothing.
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
INSTALL := $(PIP) install --constraint constraints.txt
EDITABLE := $(INSTALL) --no-build-isolation

PART_FILES := $(wildcard framework/pyproject.toml plugins/*/pyproject.toml contrib_tools/*/pyproject.toml)
PARTS := $(patsubst %/pyproject.toml,%,$(PART_FILES))

# What `make demo` asks. Documentation in docs/, answered by the offline reader: no key, no network.
DEMO_QUESTION := How does Lockgate decide which tools a model may use?
DEMO_HOME := $(VENV)/demo-home

.DEFAULT_GOAL := help
.PHONY: help demo test test-all test-extras dev check coverage bench dist clean

help: ## Shows this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(STAMPS)/parts ## Asks a question about this project's documentation, without key or network
	@mkdir -p $(DEMO_HOME)
	LOCKGATE_HOME="$(CURDIR)/$(DEMO_HOME)" $(BIN)/lockgate ask --docs docs "$(DEMO_QUESTION)"
	@echo
	@echo 'The same question to a model of your own (Ollama, or OpenAI with OPENAI_API_KEY set):'
	@echo '  $(BIN)/lockgate ask --provider ollama --docs docs "$(DEMO_QUESTION)"    # or: --provider openai'

test: $(STAMPS)/dev ## Runs the tests that need PyPI alone
	$(BIN)/python -m pytest

test-all: test test-extras ## Runs `make test`, and the tests that need more than Python packages

# What test-all adds: tests marked `extra`.
test-extras: $(STAMPS)/dev
	@if $(BIN)/python -m pytest -m extra --extras --collect-only -qq >$(STAMPS)/extras.log 2>&1; then \
	    $(BIN)/python -m pytest -m extra --extras; \
	else \
	    status=$$?; \
	    if [ $$status -eq 5 ]; then echo 'No test needs more than Python packages so far: nothing to add.'; \
	    else cat $(STAMPS)/extras.log; exit $$status; fi; \
	fi

dev: $(STAMPS)/dev ## Installs every part editable, with all tools of a contributor
	@echo 'Ready: . $(BIN)/activate'

check: $(STAMPS)/dev ## Static checks: ruff, mypy --strict, the import contracts, sizes
	$(BIN)/ruff check .
	$(BIN)/mypy
	@find framework plugins contrib_tools tests conftest.py -name conftest.py | while read -r file; do \
	    echo "$(BIN)/mypy $$file"; $(BIN)/mypy "$$file" || exit 1; done
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -q tests/test_tree.py

coverage: $(STAMPS)/dev ## Runs the tests and measures which branches they take
	$(BIN)/python -m pytest --cov --cov-report=term

bench: $(STAMPS)/dev ## Runs the benchmarks
	@found=0; for file in */benchmarks/*.py */*/benchmarks/*.py; do \
	    grep -qs __main__ "$$file" || continue; found=1; echo "== $$file"; $(BIN)/python "$$file" || exit 1; done; \
	if [ $$found -eq 0 ]; then echo 'There is no benchmark in any benchmarks/ folder.' >&2; exit 1; fi

dist: $(STAMPS)/dev ## Builds every distribution for a release into dist/
	rm -rf dist
	for folder in $(PARTS) .; do \
	    LOCKGATE_RELEASE=1 $(BIN)/python -m build --no-isolation --outdir dist "$$folder" || exit 1; done

clean: ## Removes the environment and everything that was built or cached
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis .coverage*
	find . -name .git -prune -o -type d -name __pycache__ -prune -exec rm -rf {} +

# --- set-up: each stamp says "this was installed, with these files" -----------------------------------------------------

# An environment that is missing, too old or made for another folder is made anew; a sound one is kept.
SOUND := $(BIN)/python -c 'import os, sys, pip; assert sys.version_info >= (3, 11); \
    assert os.getcwd() in "".join(open(".venv/bin/pip").readlines()[:2])'

ifneq ($(shell cat $(STAMPS)/python 2>/dev/null),$(CURDIR))
.PHONY: $(STAMPS)/python
endif
$(STAMPS)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	    echo 'Lockgate needs Python 3.11 or newer; "$(PYTHON)" is' "$$($(PYTHON) --version 2>/dev/null || echo missing)." >&2; \
	    echo 'Name another one: make PYTHON=/path/to/python3 $(MAKECMDGOALS)' >&2; exit 1; }
	@$(SOUND) 2>/dev/null || $(PYTHON) -m venv --clear $(VENV) || { \
	    echo 'Python could not make an environment. On Debian and Ubuntu: apt-get install python3-venv' >&2; \
	    rm -rf $(VENV); exit 1; }
	@rm -rf $(STAMPS) && mkdir -p $(STAMPS) && pwd > $@

$(STAMPS)/backend: $(STAMPS)/python constraints.txt
	@echo 'Installing into $(VENV) …'
	$(INSTALL) --upgrade pip hatchling editables
	@touch $@

# The parts first, then the root without its dependencies: it would ask for the parts a second time, not editable.
$(STAMPS)/parts: $(STAMPS)/backend pyproject.toml hatch_build.py $(PART_FILES)
	$(EDITABLE) $(addprefix --editable ./,$(PARTS))
	$(EDITABLE) --no-deps --editable .
	@touch $@

$(STAMPS)/dev: $(STAMPS)/parts
	$(INSTALL) --group dev
	@touch $@
