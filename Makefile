# The commands of a working copy. `make demo` and `make test` need nothing but Python 3.11 and make.

PYTHON ?= python3
VENV := .venv
TEST_VENV := build/test-venv
BIN := $(VENV)/bin
TEST_BIN := $(TEST_VENV)/bin
PYTEST_WORKERS ?= auto
SOAK_S ?= 300
PIP_INSTALL := -m pip install --quiet --disable-pip-version-check
SOURCES := $(shell find src -type f -not -name '*.pyc' 2>/dev/null)
SLOW := fidelity or long or languages or hostile or soak
PYTEST := sh tools/tests.sh $(TEST_BIN)/python -m pytest
UV_COMPILE := $(BIN)/uv pip compile --universal --generate-hashes --no-emit-index-url --no-header --quiet

.DEFAULT_GOAL := help
.PHONY: help demo dev test check tests lint format types imports docs bench clean requirements wheel \
        test-languages test-fidelity test-long test-hostile test-soak toolchains

help:  ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' $(MAKEFILE_LIST) | expand -t 24

demo: $(VENV)/.runtime  ## set up .venv and verify the example file
	$(BIN)/scalebox verify examples/rollouts.jsonl -o build/demo-results.jsonl

dev: $(VENV)/.dev  ## set up .venv with the package (editable) and all tools

test: check tests docs  ## every fast check, on the built wheel

check: lint types imports  ## static checks

tests: $(TEST_VENV)/.wheel  ## the fast suites
	SCALEBOX_TEST_WHEEL=1 $(PYTEST) -n $(PYTEST_WORKERS) -m "not ($(SLOW))" --durations 20

test-languages: $(TEST_VENV)/.wheel  ## languages beyond the first, and these in the other tier
	$(PYTEST) -n $(PYTEST_WORKERS) -m languages --timeout 900

test-fidelity: $(TEST_VENV)/.wheel  ## labels over third-party data (SCALEBOX_TEST_DATA names its folder)
	$(PYTEST) -m fidelity --timeout 1800

test-long: $(TEST_VENV)/.wheel  ## the same for compiled languages, packages and the cache: more than an hour
	$(PYTEST) -m long --timeout 3600

test-hostile: $(TEST_VENV)/.wheel  ## attacks on the sandbox
	$(PYTEST) -m hostile --timeout 900

test-soak: $(TEST_VENV)/.wheel  ## one engine for SOAK_S seconds (300), with kills; nothing may grow or be left
	SCALEBOX_TEST_SOAK_S=$(SOAK_S) $(PYTEST) -m soak --timeout 1800

lint: $(TEST_VENV)/.wheel
	$(TEST_BIN)/ruff check .
	$(TEST_BIN)/ruff format --check .

types: $(TEST_VENV)/.wheel
	$(TEST_BIN)/mypy
	$(TEST_BIN)/mypy tests

imports: $(TEST_VENV)/.wheel
	$(TEST_BIN)/lint-imports

docs: $(TEST_VENV)/.wheel  ## build the documentation into build/docs
	$(TEST_BIN)/sphinx-build -n -W --keep-going -q -b html docs build/docs

toolchains:  ## install the compilers that are missing (Debian, as root)
	sh tools/toolchains.sh

bench: $(VENV)/.runtime  ## run every benchmark and write the tables of the guide
	$(BIN)/python benchmarks/report.py

format: $(VENV)/.dev  ## put sources into the house style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

requirements: $(VENV)/.dev  ## pin the requirements anew (UPGRADE=--upgrade for the newest)
	$(UV_COMPILE) $(UPGRADE) pyproject.toml -o requirements/runtime.txt
	$(UV_COMPILE) $(UPGRADE) requirements/build.in -o requirements/build.txt
	$(UV_COMPILE) $(UPGRADE) pyproject.toml --extra dev -o requirements/dev.txt
	$(UV_COMPILE) $(UPGRADE) pyproject.toml --extra client --extra mcp --extra packages --extra server -o requirements/image.txt
	$(UV_COMPILE) $(UPGRADE) requirements/scientific.in -o requirements/scientific.txt

wheel: $(TEST_VENV)/.tools  ## build the wheel into build/dist
	rm -rf build/dist
	$(TEST_BIN)/python -m build --wheel --no-isolation --outdir build/dist . > build/wheel.log || (cat build/wheel.log; false)

clean:  ## remove what the targets made, environments included
	rm -rf build dist $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

# --- environments -----------------------------------------------------------------------------

define make_venv
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "ScaleBox needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) -V 2>&1). Mend: make $(MAKECMDGOALS) PYTHON=python3.12" >&2; exit 1; }
	@test -x $(1)/bin/python || $(PYTHON) -m venv $(1) || \
	  { rm -rf $(1); echo "$(PYTHON) cannot make virtual environments. Mend: install its venv module (Debian: python3-venv)" >&2; exit 1; }
endef

$(VENV)/.runtime: requirements/runtime.txt requirements/build.txt pyproject.toml
	$(call make_venv,$(VENV))
	@mkdir -p build
	$(BIN)/python $(PIP_INSTALL) --require-hashes -r requirements/runtime.txt -r requirements/build.txt
	$(BIN)/python $(PIP_INSTALL) --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.dev: $(VENV)/.runtime requirements/dev.txt
	$(BIN)/python $(PIP_INSTALL) --require-hashes -r requirements/dev.txt
	@touch $@

$(TEST_VENV)/.tools: requirements/dev.txt
	@mkdir -p build
	$(call make_venv,$(TEST_VENV))
	$(TEST_BIN)/python $(PIP_INSTALL) --require-hashes -r requirements/dev.txt
	@touch $@

$(TEST_VENV)/.wheel: $(TEST_VENV)/.tools $(SOURCES) pyproject.toml README.md LICENSE NOTICE
	$(MAKE) --no-print-directory wheel
	$(TEST_BIN)/python $(PIP_INSTALL) --no-deps --force-reinstall build/dist/scalebox-*.whl
	@touch $@
