# A thin cover over meson: set up the machine (.ci/setup), configure once, let ninja do the rest.
#
#   make test CC=clang       make run KUBECONFIG=path ARGS='-o full'       make install PREFIX=/usr
#
# Set-up and build talk on stderr, so that what `make run` prints can be piped.

ifeq ($(origin CC),default)
CC := gcc
endif
export CC

PREFIX ?= /usr/local
SECONDS ?= 60
cc     := $(notdir $(firstword $(CC)))
tested := build-test-$(cc)

.NOTPARALLEL:
.PHONY: build test run e2e bench steps instructions memory fuzz format tidy install clean help

build: setup-build build/made-with-$(cc) ## the release, into build/
	@ninja -C build product >&2

test: setup-test $(tested)/build.ninja ## all tests but e2e, warnings as errors, address and undefined sanitizers
	@.ci/test $(tested) $(ARGS)

# Only what was asked for: a KUBECONFIG of the environment is not.
run: build ## a simulated cluster, live; with KUBECONFIG=path the pods of that one, further arguments in ARGS
ifeq ($(origin KUBECONFIG),command line)
	@build/informerd watch pods -A --kubeconfig '$(KUBECONFIG)' $(ARGS)
else
	@ninja -C build test/kubesim/kubesim >&2
	@test/demo/run.sh build/informerd build/test/kubesim/kubesim conf/demo.conf $(ARGS)
endif

e2e: setup-e2e build build-mutant/made-with-$(cc) ## against a real API server, with client-go beside us
	@ninja -C build test/e2e/follower >&2
	@ninja -C build-mutant informerd test/e2e/follower >&2
	@python3 test/e2e/run.py --build build --mutant build-mutant $(ARGS)

bench: setup-bench build ## what informerd costs, beside client-go and kube-rs, on the same bytes; ARGS=--quick for less
	@ninja -C build test/bench/replay test/bench/library test/bench/told >&2
	@python3 test/bench/bench.py build $(ARGS)

steps: build ## how long the engine holds the loop with 100,000 objects, and what each step of a change costs
	@ninja -C build test/bench/bench_engine test/bench/bench_event test/bench/bench_store >&2
	@build/test/bench/bench_engine
	@build/test/bench/bench_event
	@build/test/bench/bench_store

instructions: setup-instructions build ## how many instructions a change takes; fails if it is a twentieth more than it was
	@ninja -C build test/bench/bench_event >&2
	@python3 test/bench/instructions.py build $(ARGS)

memory: setup-test build ## what objects and watches cost, against what is promised; fails if it is more
	@ninja -C build test/bench/hold test/kubesim/kubesim >&2
	@python3 test/bench/memory.py build/test/kubesim/kubesim test/data/recordings build/test/bench/hold

# Clang only: libFuzzer is part of it.
fuzz: ## run every fuzz target for SECONDS (60) with clang; fails on a finding; TARGETS='items yaml' for some of them
	@CC=clang .ci/setup build >&2
	@$(MAKE) --no-print-directory CC=clang build-fuzz/build.ninja
	@python3 test/fuzz/run.py build-fuzz $(SECONDS) $(TARGETS)

format: setup-format ## lay out all C files
	@find src include test -name '*.[ch]' -exec clang-format-14 -i {} +

tidy: ## clang-tidy over all C files
	@CC=clang .ci/setup tidy
	@$(MAKE) --no-print-directory CC=clang build-test-clang/build.ninja
	@run-clang-tidy -quiet -p build-test-clang

install: build ## into PREFIX (/usr/local), below DESTDIR
	@meson configure build -Dprefix=$(PREFIX)
	@ninja -C build product
	@meson install -C build --no-rebuild

clean: ## remove every build directory
	rm -rf build build-*/

help: ## this list
	@sed -n 's/^\([a-z0-9]*\):.*## \(.*\)/make \1\t\2/p' Makefile | expand -t 20

setup-%:
	@.ci/setup $* >&2

# Each directory is configured when it is not yet, or when that was cut short.
# b_lundef=false: a shared library finds the sanitizers only in the program that loads it.
build-test-%/build.ninja:
	@rm -rf $(@D)
	@meson setup $(@D) -Dwerror=true -Db_sanitize=address,undefined -Dc_args=-fno-sanitize-recover=all -Db_lundef=false >&2

build-fuzz/build.ninja:
	@rm -rf $(@D)
	@meson setup $(@D) -Db_sanitize=address,undefined -Dc_args=-fno-sanitize-recover=all -Db_lundef=false >&2

# Release builds do not have the compiler in their directory names: with another compiler they are built from scratch.
# The mutant has named wrong engines behind a switch, which e2e must catch.
build-mutant/made-with-$(cc): options := -Dc_args=-DINF_MUTANTS
build/made-with-$(cc) build-mutant/made-with-$(cc):
	@rm -rf $(@D)
	@meson setup $(@D) --buildtype=release $(options) >&2
	@touch $@
