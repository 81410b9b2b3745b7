# Every target sets up what it needs: python3 (3.11 or newer) with venv is enough.
#
#   make run [ARGS=…]    start agent-tui here; in a pipe, print the demo conversation
#   make test [ARGS=…]   run the tests
#   make check           style, strict types, import contracts, dead code
#   make bench [ARGS=…]  measure the installed program
#   make conformance     run the MCP conformance suite (Node and the suite are installed into .venv)
#   make trace [ARGS=…]  count function entries for a key, a text delta and a Bash call
#   make docs            write what the program's tables say into docs/
#   make docs-assets     that, and record the demo and every theme into docs/images/ (also: make demo)
#   make console         Textual's developer console (start the app with TEXTUAL=devtools)
#   make referee         the tests that the Agents SDK carries, against our library (fetched with pip)
#   make soak            the property tests, faults and crashes, at length
#   make format          let ruff format the tree
#   make lock            bring the lock files up to date with pyproject.toml (LOCK_ARGS=--upgrade for newer)

# The first one that is new enough; looked for only when an environment is made.
PYTHON ?= $(shell for name in python3 python3.13 python3.12 python3.11; do \
  $$name -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$name && break; done)
VENV ?= .venv
ARGS ?=
LOCK_ARGS ?=
# One more than the cores of a small machine: tests of the whole program mostly wait for it.
TEST_WORKERS ?= 3

# Without bytecode every worker of a test run compiles all tests anew, which takes it half a minute.
unexport PYTHONDONTWRITEBYTECODE

BIN := $(VENV)/bin
RUN_READY := $(VENV)/.ready-to-run
DEV_READY := $(VENV)/.ready-to-develop
PIP_INSTALL := $(BIN)/python -m pip --disable-pip-version-check -qq install
PIP_CHECK = found=$$($(BIN)/python -m pip check) || { echo "$$found" >&2; exit 1; }

.PHONY: run test check conformance bench trace docs demo docs-assets console soak format lock
.DEFAULT_GOAL := run

run: $(RUN_READY)
	@if [ -t 1 ]; then exec $(BIN)/agent-tui $(ARGS); else exec $(BIN)/agent-tui --demo $(ARGS); fi

test: $(DEV_READY)
	$(BIN)/python -m pytest -q --workers $(TEST_WORKERS) $(ARGS)

check: $(DEV_READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check --quiet .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m tests.repo.dead_code

bench: $(DEV_READY)
	$(BIN)/python -m benchmarks $(ARGS)

conformance: $(DEV_READY)
	$(BIN)/python -m tests.conformance $(ARGS)

trace: $(DEV_READY)
	$(BIN)/python -m benchmarks.trace $(ARGS)

docs: $(DEV_READY)
	$(BIN)/python -m benchmarks.reference docs

demo docs-assets: docs
	$(BIN)/python -m benchmarks.record docs/images

console: $(DEV_READY)
	$(BIN)/textual console $(ARGS)

.PHONY: referee
referee: $(DEV_READY)
	$(BIN)/python -m tests.outside.agents_sdk.referee --tb=no $(ARGS)

soak: $(DEV_READY)
	AGENT_TUI_SOAK=1 HYPOTHESIS_PROFILE=soak $(BIN)/python -m pytest -q --workers $(TEST_WORKERS) --timeout=1800 $(ARGS)

format: $(DEV_READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# uv resolves for every platform at once; it lives in a folder of its own and never in the project.
# Its index settings are not passed on, and the file has no header: neither may end up in the lock.
lock:
	@tools=$$(mktemp -d) && trap 'rm -rf "$$tools"' EXIT && \
	$(PYTHON) -m venv "$$tools" && "$$tools"/bin/pip --disable-pip-version-check --quiet install uv && \
	compile="env -u UV_INDEX -u UV_DEFAULT_INDEX $$tools/bin/uv pip compile --quiet pyproject.toml \
	  --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
	  --no-emit-index-url --no-emit-find-links $(LOCK_ARGS)" && \
	$$compile --group build -o requirements.lock && \
	$$compile --group build --group dev -c requirements.lock -o requirements-dev.lock

$(BIN)/python:
	@$(or $(PYTHON),false) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "agent-tui needs Python 3.11 or newer; name one with: make PYTHON=/path/to/python3 …" >&2; exit 1; }
	@echo "Setting up $(VENV) (once)…" >&2
	@$(PYTHON) -m venv $(VENV)

$(RUN_READY): requirements.lock pyproject.toml | $(BIN)/python
	@$(PIP_INSTALL) --require-hashes --no-deps -r requirements.lock
	@$(PIP_INSTALL) --no-build-isolation --no-deps -e .
	@$(PIP_CHECK)
	@touch $@

$(DEV_READY): requirements-dev.lock $(RUN_READY)
	@$(PIP_INSTALL) --require-hashes --no-deps -r requirements-dev.lock
	@$(PIP_CHECK)
	@touch $@
