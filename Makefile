# SPDX-License-Identifier: Apache-2.0
# Every target first makes sure that what it needs is there; `make help` lists them.

MODEL := SmolLM2-135M-Instruct-Q4_1.gguf

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help setup build run stop test models peers vulkan check check-long docs format asan tsan clean install uninstall deb

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

setup: ## install missing Debian packages
	@scripts/setup.sh

run: build ## build, fetch a small model, start the server, ask it something
	@scripts/models.sh $(MODEL)
	@scripts/run.sh $(MODEL)

stop: ## stop the server that `make run` started
	@scripts/stop.sh

build: setup ## build/release/hearth, hearth-worker and hearth-keeper
	@scripts/build.sh release hearth hearth-worker hearth-keeper

test: setup models ## build and run every test
	@scripts/test.sh release

models: setup ## both test models, into build/models/
	@scripts/models.sh

peers: setup ## llama-server on the same engine, into build/peers/, for comparisons
	@scripts/peers.sh

vulkan: build models ## a second build with the Vulkan backend, and its tests on a driver that needs no GPU
	@scripts/venv.sh --tests
	@scripts/build.sh release engine_tests
	@scripts/vulkan.sh build/release test

docs: build ## write what docs/ has of the program's own tables
	@scripts/docs.sh

check: ## formatting, clang-tidy on what changed, include directions, sizes
	@scripts/setup.sh packages-check
	@scripts/check.sh

format: ## lay out the sources as .clang-format says
	@scripts/setup.sh packages-check
	@find src -name '*.cpp' -o -name '*.h' | xargs -r clang-format-19 -i

check-long: ## clang-tidy on everything, the long end-to-end tests, then the sanitizer builds
	@scripts/setup.sh packages-check
	@scripts/check.sh --all
	@scripts/test.sh release long
	@$(MAKE) --no-print-directory asan tsan

asan: setup models ## unit tests under AddressSanitizer and UBSan
	@scripts/test.sh asan

tsan: setup models ## unit tests under ThreadSanitizer
	@scripts/test.sh tsan

install: ## copy what `make build` made to $DESTDIR$PREFIX (/usr/local), with man pages and a systemd unit
	@scripts/install.sh

uninstall: ## remove what `make install` put there; data stays
	@scripts/install.sh --remove

deb: build ## a Debian package, in build/deb/
	@scripts/deb.sh

clean: ## remove what was compiled; models, engine and peers stay
	@rm -rf build/release build/dev build/asan build/tsan build/deb build/log
