# `make generate` and `make test` work in a fresh checkout: they install the pinned requirements
# into a virtual environment.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
TOOLS := $(VENV)/.tools
DEV := $(VENV)/.dev
# Beside the packages of $(VENV) it has published protocols.
PROTOCOLS := $(VENV)/protocols
FUZZ := PYTHONPATH=tests/helpers/runtime $(BIN)/python tests/fuzz
# The configurations beside codegen.toml.
EXAMPLES := examples/robot/codegen.toml examples/agents-js/codegen.toml examples/typescript/codegen.toml examples/livekit-agents/codegen.toml
SOURCES := codegen runtime overrides presets tests bench examples

SHELL := /bin/bash
.SHELLFLAGS := -o pipefail -c
# Prints the name of each package that pip collects.
PROGRESS := awk '/^Collecting / { print "   " $$2; fflush() }'
# pip without progress bars and version notices.
PIP := PYTHONUNBUFFERED=1 $(BIN)/python -m pip install --disable-pip-version-check --progress-bar off

LIVEKIT_VERSION := 1.9.11
CACHE := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/agent-session-protocol
# To use another binary: make test-rooms LIVEKIT_SERVER=/path/to/livekit-server
LIVEKIT_SERVER ?= $(CACHE)/livekit-server-$(LIVEKIT_VERSION)/livekit-server
GO ?= $(firstword $(shell command -v go) $(wildcard /usr/local/go/bin/go) go)
# Prints the name of each module as Go begins with it.
MODULES := sed 's/^go: downloading \([^ ]*\).*/   \1/'

.DEFAULT_GOAL := help
.PHONY: help generate demo check parity sdk-watch test test-quick test-protocols protocols test-rooms livekit-server lint interop fuzz bench clean

help: ## Show the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 24

generate: $(TOOLS) ## Generate everything from proto/agent_session.proto
	@$(BIN)/sessiongen generate
	@for config in $(EXAMPLES); do $(BIN)/sessiongen --config $$config generate --quiet || exit 1; done

demo: $(TOOLS) ## Run an agent and a driver, and print their conversation
	@$(BIN)/agent-session demo

check: $(TOOLS) ## Fail if generated code does not match the proto
	@for config in codegen.toml $(EXAMPLES); do \
		$(BIN)/sessiongen --config $$config check --no-cache || exit 1; \
	done

parity: $(TOOLS) ## Compare the protocol with each SDK
	@$(BIN)/sessiongen parity

sdk-watch: $(TOOLS) ## Report whether newer SDKs differ from the pinned vocabularies
	@$(BIN)/sessiongen vocabulary watch

test-quick: $(DEV) ## Run the quick tests, in under a minute
	@echo "== running the quick tests"
	@$(BIN)/python -m pytest --quiet -m "not slow" --numprocesses=auto --dist=loadfile

test: $(DEV) ## Run all tests
	@echo "== running the tests"
	@$(BIN)/python -m pytest --numprocesses=auto --dist=loadfile

protocols: $(PROTOCOLS)/.installed ## Install the published protocols that `make test-protocols` needs

test-protocols: protocols ## Run `init` and `generate` on published protocols
	@echo "== running the tests with published protocols"
	@$(PROTOCOLS)/bin/python -m pytest tests/codegen/init/test_proposals_published.py \
		--numprocesses=auto

test-rooms: $(DEV) livekit-server ## Run the room tests with a real LiveKit server
	@echo "== running the room tests with $(LIVEKIT_SERVER)"
	@LIVEKIT_SERVER="$(LIVEKIT_SERVER)" $(BIN)/python -m pytest -m livekit_server \
		tests/runtime/transport/room tests/interop --numprocesses=auto --dist=loadfile

livekit-server: ## Build the LiveKit server that `make test-rooms` needs; it is kept outside this folder
	@test -x "$(LIVEKIT_SERVER)" && exit; \
	"$(GO)" version || { echo "Go 1.24 or newer is needed to build livekit-server"; exit 1; }; \
	echo "== building livekit-server $(LIVEKIT_VERSION); this takes about two minutes"; \
	folder="$$(dirname "$(LIVEKIT_SERVER)")" && mkdir -p "$$folder" && \
	build="$$(mktemp -d "$$folder/build.XXXXXX")" && trap 'rm -rf "$$build"' EXIT && \
	GOBIN="$$build" CGO_ENABLED=0 "$(GO)" install \
		github.com/livekit/livekit-server/cmd/server@v$(LIVEKIT_VERSION) 2>&1 | $(MODULES) && \
	mv "$$build/server" "$(LIVEKIT_SERVER)"

lint: $(DEV) ## Check format, unused names, types and the contract
	@$(BIN)/black --check --quiet $(SOURCES) || { echo "run: $(BIN)/black $(SOURCES)"; exit 1; }
	@$(BIN)/ruff check --quiet --no-cache --select F401,F541,F841 --exclude tests/cases $(SOURCES)
	@$(BIN)/mypy
	@$(BIN)/basedpyright --level error
	@$(BIN)/buf lint

interop: $(DEV) ## Run each host with each driver, and print what they support
	@$(BIN)/python tests/interop/matrix.py

fuzz: $(DEV) ## Run damaged inputs against codec, host and driver, and random protocols; property tests with new inputs
	@echo "== a million damaged inputs for the codec"
	@$(FUZZ)/fuzz_framing.py 1000000
	@echo "== a million for a host"
	@$(FUZZ)/fuzz_host.py 1000000
	@echo "== a million for a driver"
	@$(FUZZ)/fuzz_driver.py 1000000
	@echo "== a thousand random protocols"
	@PYTHONPATH=tests/helpers/codegen:tests/helpers/encoders $(BIN)/python tests/fuzz/fuzz_protocols.py 1000
	@echo "== new inputs for each property test"
	@$(BIN)/python -m pytest --quiet -m hypothesis --hypothesis-profile=explore --numprocesses=auto

bench: $(DEV) ## Measure beside peers, and write bench/README.md
	@$(BIN)/python bench/run.py

clean: ## Remove caches and the virtual environment, but not generated code
	rm -rf $(VENV) .mypy_cache .pytest_cache .hypothesis dist bench/out examples/{agents-js,typescript}/out
	find . \( -name __pycache__ -o -name .sessiongen-cache -o -name node_modules \) -type d -prune -exec rm -rf {} +

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' \
		|| { echo "Python 3.10 or newer is required; for example: make PYTHON=python3.12"; exit 1; }
	@echo "== creating $(VENV) with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv $(VENV)

$(TOOLS): $(VENV)/bin/python requirements.txt pyproject.toml
	@echo "== installing the tools (requirements.txt); this takes about half a minute"
	@$(PIP) --require-hashes -r requirements.txt | $(PROGRESS)
	@$(PIP) --quiet --no-deps --no-build-isolation -e .
	@touch $@

$(DEV): $(TOOLS) requirements-dev.txt
	@echo "== installing the test dependencies (requirements-dev.txt); this takes about a minute"
	@$(PIP) --require-hashes -r requirements-dev.txt | $(PROGRESS)
	@touch $@

$(PROTOCOLS)/.installed: $(DEV) requirements-protocols.txt
	@echo "== installing published protocols (requirements-protocols.txt)"
	@$(BIN)/python -m venv --without-pip --clear $(PROTOCOLS)
	@$(BIN)/python -m pip --python $(PROTOCOLS)/bin/python install --disable-pip-version-check \
		--progress-bar off --no-deps --require-hashes -r requirements-protocols.txt | $(PROGRESS)
	@$(BIN)/python -c 'import sysconfig; print("import site; site.addsitedir({!r})".format(sysconfig.get_path("purelib")))' \
		> "$$($(PROTOCOLS)/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/environment.pth"
	@touch $@
