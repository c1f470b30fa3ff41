# `make run` and `make test` are all a newcomer needs; CONTRIBUTING.md says the rest.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

# How much property tests and fuzz targets try: 1 in `make test`. Kill loops run in full everywhere.
export TOOLROOM_SCALE ?= 1
# The scale of `make test-long` and `make fuzz`.
LONG ?= 50

.PHONY: help run build setup check test test-long bench fuzz install

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

check: ## formatting, lints, documentation
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

bench: ## measure; prints JSON lines
	@cargo bench --locked --workspace --benches --quiet

install: ## install the `toolroom` command
	cargo install --locked --path crates/toolroom-server
