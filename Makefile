# Tactus: what to type. `make help` lists it.
#
# Everything runs `make setup` first, which installs what is missing once and then finds nothing to do.

# Where systems run: qemu is stock QEMU.
PLATFORM ?= qemu
# How long `make soak` goes on, in minutes.
SOAK_MINUTES ?= 60

CARGO ?= cargo
TACTUS := $(CARGO) run --quiet --release --package tactus --

.DEFAULT_GOAL := help
.PHONY: help setup demo test bench soak lint docs clean platform

help: ## this list
	@echo 'Tactus, a real-time hypervisor. Say make and one of:'
	@sed -n 's/^\([a-z]*\):[^#]*## \(.*\)/  \1\t\2/p' $(MAKEFILE_LIST) | expand -t 10
	@echo 'PLATFORM=qemu (the default and only one so far) says where systems run.'

setup: ## install what is missing on this machine (docs/src/reference/setup.md says what)
	@setup/setup.sh

platform:
	@test '$(PLATFORM)' = qemu || { echo "make: PLATFORM=$(PLATFORM) is not a platform; say PLATFORM=qemu" >&2; exit 2; }

demo: setup platform ## Linux and FreeRTOS side by side, ending with a latency report in build/demo
	@test -x "$${CARGO_TARGET_DIR:-target}/release/tactus" || echo 'demo: building tactus, the hypervisor and the guests; the first time this takes about two minutes'
	@$(TACTUS) run systems/demo.toml --report build/demo

test: setup platform ## everything that proves it: formatting, lints, tests on this machine and on QEMU, docs
	@setup/test.sh

bench: setup platform ## the figures of the platform and of the virtual board's speed, and their limits
	@worst=0; for name in platform board; do $(TACTUS) bench $$name --platform $(PLATFORM) || worst=$$?; done; exit $$worst

soak: setup platform ## the tests again and again for SOAK_MINUTES (60), the long ones included
	@setup/soak.sh $(SOAK_MINUTES)

lint: setup ## formatting and lints alone
	@setup/test.sh lint

docs: setup ## the programming interfaces' documentation, and the book where mdbook is installed
	@setup/test.sh docs

clean: ## remove what was built; downloads stay in the user's cache
	$(CARGO) clean --quiet
	rm -rf build docs/book
