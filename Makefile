# `make run` and `make test` are all a newcomer needs; CONTRIBUTING.md says the rest.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

# How much property tests and fuzz targets try: 1 in `make test`. Kill loops run in full everywhere.
export TOOLROOM_SCALE ?= 1
# Where `make install` puts things.
PREFIX ?= $(HOME)/.local
# Where Cargo puts what it builds.
BUILT := $(or $(CARGO_TARGET_DIR),target)
# The scale of `make test-long` and `make fuzz`.
LONG ?= 50

.PHONY: help run build setup check test test-long bench fuzz release install deb

help: ## say what there is
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

run: build ## build everything and start the server
	@target/debug/toolroom serve

demo: build ## build everything and show it at work on the command line
	@scripts/demo target/debug/toolroom

build:
	cargo build --locked --workspace

setup: ## install what the tests need
	@scripts/setup

check: ## wording, formatting, lints, documentation
	scripts/plain-words
	cargo fmt --all --check
	cargo clippy --locked --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --locked --workspace --no-deps

test: setup check ## everything that has to hold before a change lands
	cargo nextest run --locked --workspace --no-fail-fast
	cargo test --locked --doc -p toolroom

test-long: setup ## the same tests, many more cases
	TOOLROOM_SCALE=$(LONG) cargo nextest run --locked --workspace --no-fail-fast --profile long
	cargo test --locked --doc -p toolroom

fuzz: setup ## only the fuzz targets, many more mutations
	TOOLROOM_SCALE=$(LONG)0 cargo nextest run --locked --workspace --profile long fuzz::

# A server on the SDK of others, to measure ours against; where it cannot be built, the bench says that it is not there.
PEERS := $(CURDIR)/target/mcp-peers

bench: ## measure; prints JSON lines
	-@cargo build --locked --release --quiet --manifest-path benches/mcp-peers/Cargo.toml --target-dir $(PEERS)
	@TOOLROOM_BENCH_MCP_PEER=$(PEERS)/release/mcp-peer cargo bench --locked --workspace --benches --quiet

release:
	TOOLROOM_COMMIT=$$(git rev-parse HEAD 2>/dev/null || true) cargo build --locked --release -p toolroom-server --bin toolroom
	@scripts/size-limit $(BUILT)/release/toolroom

install: release ## install the `toolroom` command, its manual and completions below PREFIX
	scripts/stage $(BUILT)/release/toolroom $(DESTDIR)$(PREFIX)

deb: release ## make a Debian package in BUILT
	scripts/deb $(BUILT)/release/toolroom $(BUILT)
