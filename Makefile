# Nodewright. Needs Python 3.11+, make and git; everything else is installed by `make setup` on first use.
SHELL := /bin/bash
.DEFAULT_GOAL := help
PYTHON ?= python3
UV ?= $(shell command -v uv || echo .tools/uv/bin/uv)
export UV
# Node, npm, cdk's Python app and Go from the virtual environment come first.
export PATH := $(CURDIR)/.venv/bin:$(PATH)
export NODE_NO_WARNINGS := 1
# Workloads that Karpenter's scheduler was tried with are kept beside this folder, where there are any.
PEER ?= $(wildcard ../shared/data/peer)

.PHONY: help setup demo sandbox test test-all check format synth deploy bench clean

help: ## show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  \033[1m%-10s\033[0m %s\n", $$1, $$2}'

setup: .venv/.ready ## install uv and the locked Python packages into .venv

.tools/uv/bin/uv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Nodewright needs Python 3.11 or newer; name one: make PYTHON=/path/to/python3.11 ..."; exit 1; }
	@echo "installing uv into .tools/uv"
	@$(PYTHON) -m venv .tools/uv && .tools/uv/bin/pip install --quiet --disable-pip-version-check uv==0.13.9

.venv/.ready: pyproject.toml uv.lock | $(filter .tools/uv/bin/uv,$(UV))
	@echo "installing the locked packages into .venv"
	@$(UV) sync --frozen --quiet --python $(PYTHON)
	@touch $@

demo: setup ## the whole system on this machine: zero nodes to running pods, with a timeline
	@python -m sandbox.demo

sandbox: setup ## the same, left running with a kubeconfig to play with
	@python -m sandbox.play

test: setup ## every test, those on the real control plane included
	@python -m pytest

test-all: setup ## the same, with the whole crash matrix, 2,000 seeds of the harness, 300 clusters for kube-scheduler and 5,000 for the oracle
	@NODEWRIGHT_CELLS=all NODEWRIGHT_SEEDS=2000 NODEWRIGHT_CLUSTERS=300 NODEWRIGHT_EXAMPLES=5000 python -m pytest

check: setup ## format, lint, types, import contracts, synth
	@ruff format --check . && ruff check .
	@mypy
	@lint-imports
	@$(MAKE) --no-print-directory synth

format: setup ## format and fix what can be fixed
	@ruff check --fix-only --quiet . && ruff format .

synth: setup ## synthesize the stack into cdk.out, with cdk-nag (no Docker)
	@python -m sandbox.deploy synth

deploy: setup ## cdk deploy into your AWS account, with your credentials (ARGS go to cdk)
	@python -m sandbox.deploy cdk deploy $(ARGS)

bench: setup ## the benchmarks, printed beside their peers (ARGS: names, of all; PEER: the folder of the peer's workloads)
	@python -m benchmarks $(if $(PEER),--peer $(PEER)) $(ARGS)

clean: ## remove what builds left in this folder (caches of the control plane stay)
	@rm -rf .build .sandbox cdk.out .mypy_cache .ruff_cache .pytest_cache
