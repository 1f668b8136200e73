# Two commands do everything on a fresh machine: `make generate` and `make test`.
# Both set up a virtual environment of their own from pinned requirements.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
TOOLS := $(VENV)/.tools
DEV := $(VENV)/.dev
FUZZ := PYTHONPATH=tests/helpers/runtime $(BIN)/python tests/fuzz
SOURCES := codegen runtime overrides tests bench examples

.DEFAULT_GOAL := help
.PHONY: help generate demo check parity sdk-watch test lint interop fuzz bench clean

help: ## Show the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20

generate: $(TOOLS) ## Generate everything from proto/agent_session.proto
	@$(BIN)/sessiongen generate

demo: $(TOOLS) ## Run an agent and a driver, and show what they say
	@$(BIN)/agent-session demo

check: $(TOOLS) ## Fail if generated code is not what the proto gives
	@$(BIN)/sessiongen check --no-cache

parity: $(TOOLS) ## Compare the protocol with what each SDK has
	@$(BIN)/sessiongen parity

sdk-watch: $(TOOLS) ## Say whether newer SDKs differ from the pinned vocabularies
	@$(BIN)/sessiongen vocabulary watch

test: $(DEV) ## Run all tests
	@echo "== running the tests"
	@$(BIN)/python -m pytest --numprocesses=auto --dist=loadfile

lint: $(DEV) ## Check format, types and the contract
	@$(BIN)/black --check --quiet $(SOURCES) || { echo "run: $(BIN)/black $(SOURCES)"; exit 1; }
	@$(BIN)/mypy
	@$(BIN)/basedpyright --level error
	@$(BIN)/buf lint

interop: $(DEV) ## Print which host and which driver can do what, from a real run
	@$(BIN)/python tests/interop/matrix.py

fuzz: $(DEV) ## Throw a million broken inputs each at the codec, a host and a driver; new inputs at the properties
	@echo "== a million broken inputs for the codec"
	@$(FUZZ)/fuzz_framing.py 1000000
	@echo "== a million for a host"
	@$(FUZZ)/fuzz_host.py 1000000
	@echo "== a million for a driver"
	@$(FUZZ)/fuzz_driver.py 1000000
	@echo "== new inputs for each property test"
	@$(BIN)/python -m pytest --quiet -m hypothesis --hypothesis-profile=explore --numprocesses=auto

bench: $(DEV) ## Measure against peers, side by side; writes bench/README.md
	@$(BIN)/python bench/run.py

clean: ## Remove caches and the virtual environment; generated code stays
	rm -rf $(VENV) .sessiongen-cache .mypy_cache .pytest_cache .hypothesis dist bench/out tests/interop/js/node_modules

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' \
		|| { echo "Python 3.10 or newer is needed; name one: make PYTHON=python3.12"; exit 1; }
	@echo "== making $(VENV) with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv $(VENV)

$(TOOLS): $(VENV)/bin/python requirements.txt pyproject.toml
	@echo "== installing the tools (requirements.txt)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

$(DEV): $(TOOLS) requirements-dev.txt
	@echo "== installing what the tests need (requirements-dev.txt)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.txt
	@touch $@
