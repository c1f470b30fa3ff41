# Start with `make run` and `make test`; CONTRIBUTING.md describes the other targets.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

# Factor for the number of cases in property tests and fuzz targets. Kill loops always run in full.
export TOOLROOM_SCALE ?= 1
# Installation prefix.
PREFIX ?= $(HOME)/.local
# Cargo's target folder.
BUILT := $(or $(CARGO_TARGET_DIR),target)
# TOOLROOM_SCALE of `make test-long`; `make fuzz` uses ten times as much.
LONG ?= 50

.PHONY: help run build setup check test test-long bench fuzz release install deb

help: ## list targets
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

run: build ## build and start the server
	@target/debug/toolroom serve

demo: build ## build and show a short tour of the command line
	@scripts/demo target/debug/toolroom

build:
	cargo build --locked --workspace

setup: ## install test dependencies
	@scripts/setup

check: ## check wording, formatting, lints and documentation
	scripts/plain-words
	cargo fmt --all --check
	cargo clippy --locked --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --locked --workspace --no-deps

test: setup check ## run all checks and tests
	cargo nextest run --locked --workspace --no-fail-fast
	cargo test --locked --doc -p toolroom

test-long: setup ## run the tests with many more cases
	TOOLROOM_SCALE=$(LONG) cargo nextest run --locked --workspace --no-fail-fast --profile long
	cargo test --locked --doc -p toolroom

fuzz: setup ## run only the fuzz targets, with many more mutations
	TOOLROOM_SCALE=$(LONG)0 cargo nextest run --locked --workspace --profile long fuzz::

# An MCP server on the rmcp SDK, for comparison. The bench skips its figures if it cannot be built.
PEERS := $(CURDIR)/target/mcp-peers

bench: ## run the benchmarks; prints JSON lines
	-@cargo build --locked --release --quiet --manifest-path benches/mcp-peers/Cargo.toml --target-dir $(PEERS)
	@TOOLROOM_BENCH_MCP_PEER=$(PEERS)/release/mcp-peer cargo bench --locked --workspace --benches --quiet

release:
	TOOLROOM_COMMIT=$$(git rev-parse HEAD 2>/dev/null || true) cargo build --locked --release -p toolroom-server --bin toolroom
	@scripts/size-limit $(BUILT)/release/toolroom

install: release ## install the command, its manual and completions below PREFIX
	scripts/stage $(BUILT)/release/toolroom $(DESTDIR)$(PREFIX)

deb: release ## build a Debian package in the target folder
	scripts/deb $(BUILT)/release/toolroom $(BUILT)
