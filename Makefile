# Tactus: what to type. `make help` lists it.
#
# Everything first sets up what it needs itself, which installs what is missing once and then finds nothing to do;
# `make setup` sets up all.

# Where the demo runs: board is the virtual board, qemu is stock QEMU.
PLATFORM ?= board
# How long `make soak` goes on, in minutes.
SOAK_MINUTES ?= 60

# A rustup that set-up installed is not in the PATH of a shell that is older.
ifeq ($(shell sh -c 'command -v rustup'),)
export PATH := $(or $(CARGO_HOME),$(HOME)/.cargo)/bin:$(PATH)
endif

CARGO ?= cargo
TACTUS := $(CARGO) run --quiet --release --package tactus --

.DEFAULT_GOAL := help
.PHONY: help setup demo demo-debian test lint fabric docs bench bench-quick dist synth soak book clean platform

help: ## this list
	@echo 'Tactus, a real-time hypervisor. Say make and one of:'
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  \1\t\2/p' $(MAKEFILE_LIST) | expand -t 14
	@echo 'PLATFORM=board (the virtual board, the default) or PLATFORM=qemu says where the demo runs.'

setup: ## install what is missing on this machine (docs/src/reference/setup.md says what)
	@setup/setup.sh

# What `tactus run` is told of the platform. On the board, time passes as on the real one from when Linux is up; what is
# measured begins there. QEMU has no programmable logic, and so no accelerators and no pins.
DEMO_board := systems/demo-board.toml --platform board --timed-from phase:linux_up --pins build/demo/pins.vcd
DEMO_qemu := systems/demo.toml --platform qemu

# The models that the platform loads.
MODELS_board := accelerators

.PHONY: platform
platform:
	@test -n '$(DEMO_$(PLATFORM))' || { echo "make: PLATFORM=$(PLATFORM) is not a platform; say PLATFORM=board or PLATFORM=qemu" >&2; exit 2; }

demo: platform ## Linux and FreeRTOS side by side, sharing accelerators, ending with a latency report in build/demo
	@setup/setup.sh demo-$(PLATFORM)
	@setup/build.sh $(MODELS_$(PLATFORM))
	@echo 'demo: the run takes about half a minute of one core, beside building the hypervisor and the guests the first time'
	@$(TACTUS) run $(DEMO_$(PLATFORM)) --report build/demo

demo-debian: ## Debian with systemd beside FreeRTOS on one hart, reached by ssh; makes Debian's disk the first time
	@setup/setup.sh demo-debian
	@setup/debian.sh
	@setup/build.sh
	@setup/demo-debian.sh

test: setup ## all tests but the long ones: on this machine, on the board, on QEMU, of set-up; of the fabric the quick ones
	@setup/test.sh

lint: ## formatting and lints
	@setup/setup.sh lint
	@setup/test.sh lint

fabric: setup ## all tests and proofs of the fabric's blocks, that each proof can fail, and tests that need its larger models
	@setup/test.sh fabric

docs: ## the programming interfaces' documentation, and the book where mdbook is installed
	@setup/setup.sh docs
	@setup/test.sh docs

bench: setup ## all experiments and their limits, ten minutes each at most; `make bench-quick`: a minute each
	@setup/bench.sh default

# Which experiments `make bench-quick` runs; nothing for all.
BENCHES ?=

bench-quick: setup
	@setup/bench.sh quick $(BENCHES)

# The designs whose models `make dist` takes along; none for none, nothing for all.
DIST_MODELS ?=

dist: setup ## the archive of a release and the wheel for Python in build/dist, each tried in an empty folder
	@setup/dist.sh $(DIST_MODELS)

# After so many seconds `make synth` begins no more and names what it leaves out; nothing for all.
SYNTH_SECONDS ?=

synth: ## area and clock rate of the fabric's blocks, and their limits; what has not changed is not done again
	@setup/setup.sh synth
	@fabric/flow.py synth $(if $(SYNTH_SECONDS),--begin-within $(SYNTH_SECONDS))

soak: setup ## the tests again and again for SOAK_MINUTES (60), the long ones included
	@setup/soak.sh $(SOAK_MINUTES)

book: setup ## the book in docs/book; installs mdBook into build/tools where it is missing
	@setup/book.sh

clean: ## remove what was built; downloads stay in the user's cache
	$(CARGO) clean --quiet
	rm -rf build docs/book
