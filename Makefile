# Shortcuts for meson: install missing packages (.ci/setup), configure a build directory once, run ninja.
#
#   make test CC=clang       make run KUBECONFIG=path ARGS='-o full'       make install PREFIX=/usr
#
# Set-up and build write to stderr, so that the output of `make run` can be piped.

ifeq ($(origin CC),default)
CC := gcc
endif
export CC

PREFIX ?= /usr/local
SECONDS ?= 60
cc     := $(notdir $(firstword $(CC)))
tested := build-test-$(cc)

.NOTPARALLEL:
.PHONY: build test test-full run e2e dist deb packages-test image bench bench-api bench-handlers bench-page realistic scale steps screens instructions memory fuzz format tidy install clean help

build: setup-build build/made-with-$(cc) ## build the release in build/
	@ninja -C build product >&2

test: setup-test $(tested)/build.ninja ## run the tests with sanitizers, a few minutes; ARGS='fifo watch' for some of them
	@.ci/test $(tested) $(or $(ARGS),--no-suite slow)

test-full: setup-test $(tested)/build.ninja ## run all tests except e2e, exhaustively: every cut, more seeds, long waits
	@TEST_TIER=full .ci/test $(tested) $(ARGS)

# KUBECONFIG counts only on the command line of make: a real cluster must not be watched by accident.
run: setup-build ## watch a simulated cluster; with KUBECONFIG=path the pods of a real one; further arguments in ARGS
ifeq ($(origin KUBECONFIG),command line)
	@test/demo/build.sh build-run-$(cc) informerd
	@build-run-$(cc)/informerd watch pods -A --kubeconfig '$(KUBECONFIG)' $(ARGS)
else
	@test/demo/build.sh build-run-$(cc) informerd informerctl test/kubesim/kubesim
	@test/demo/run.sh build-run-$(cc)/informerd build-run-$(cc)/test/kubesim/kubesim conf/demo.conf $(ARGS)
endif

e2e: setup-e2e build build-mutant/made-with-$(cc) ## compare with client-go on a real API server; builds it once, about 15 minutes
	@ninja -C build test/e2e/follower test/e2e/print_table test/kafka/mock_kafka >&2
	@ninja -C build-mutant informerd test/e2e/follower >&2
	@python3 test/e2e/run.py --build build --mutant build-mutant $(ARGS)

bench: setup-bench build ## measure CPU, memory and latency against client-go and kube-rs; ARGS=--quick
	@ninja -C build test/kubesim/kubesim test/bench/bench_state test/bench/floor test/bench/replay test/bench/library test/bench/log_reader >&2
	@python3 test/bench/bench.py build $(ARGS)

realistic: setup-e2e build ## measure the volume of event logs on a real control plane with 100 simulated nodes, about 10 minutes; ARGS=--compare: CPU against client-go
	@python3 test/bench/realistic.py build $(ARGS)

scale: setup-test build ## show what limits informerd first: 1,000,000 objects, growing rates; ARGS='OBJECTS BYTES SHARDS'
	@ninja -C build test/kubesim/kubesim >&2
	@python3 test/bench/scale.py build/test/kubesim/kubesim test/data/recordings build/informerd $(ARGS)

steps: build ## measure how long the engine holds the loop, and each step of a change
	@ninja -C build test/bench/bench_engine test/bench/bench_event test/bench/bench_store >&2
	@build/test/bench/bench_engine
	@build/test/bench/bench_event
	@build/test/bench/bench_store

instructions: setup-instructions build ## count instructions per change; fails if 5 % above the recorded number
	@ninja -C build test/bench/bench_event test/bench/bench_state >&2
	@python3 test/bench/instructions.py build $(ARGS)

bench-api: setup-e2e build ## measure the local API: longest tick of a list of 100,000; against kube-apiserver, CPU per request, object and watch event; ARGS=--no-peer
	@ninja -C build test/bench/api_load test/kubesim/kubesim >&2
	@python3 test/bench/api_ticks.py build/test/kubesim/kubesim test/data/recordings build/informerd build/test/bench/api_load
	@python3 test/bench/local_api.py build $(ARGS)

bench-handlers: setup-test setup-e2e build ## measure handlers: records a second, and the event log while one hangs; fails below the goals
	@ninja -C build test/bench/replay test/bench/log_reader >&2
	@python3 test/bench/handlers.py build $(ARGS)

bench-page: setup-test build ## measure the web page: first paint, and the cost without an open page; fails above the goals
	@ninja -C build test/bench/replay test/bench/log_reader >&2
	@python3 test/bench/page.py build $(ARGS)

screens: setup-screens build ## take the pictures of the web page in test/data/screens again: every view, three sizes, light and dark
	@ninja -C build test/kubesim/kubesim >&2
	@python3 test/page/screens.py build/test/kubesim/kubesim test/data/recordings build/informerd build/informerctl test/data/screens

memory: setup-test build ## measure memory per object and watch; fails above the documented limits
	@ninja -C build test/bench/hold test/bench/bench_memory test/bench/bench_state test/kubesim/kubesim >&2
	@python3 test/bench/memory.py build/test/kubesim/kubesim test/data/recordings build/test/bench/hold build/test/bench/bench_memory build/test/bench/bench_state

# libFuzzer is part of clang.
fuzz: ## run every fuzz target for SECONDS (60) with clang; fails on a finding; TARGETS='items yaml' for some of them
	@CC=clang .ci/setup build >&2
	@$(MAKE) --no-print-directory CC=clang build-fuzz/build.ninja
	@python3 test/fuzz/run.py build-fuzz $(SECONDS) $(TARGETS)

format: setup-format ## format all C files with clang-format 14
	@find src include test -name '*.[ch]' -exec clang-format-14 -i {} +

tidy: ## run clang-tidy on all C files
	@CC=clang .ci/setup tidy
	@$(MAKE) --no-print-directory CC=clang build-test-clang/build.ninja
	@run-clang-tidy -quiet -p build-test-clang

install: setup-build build/made-with-$(cc) ## install into PREFIX (/usr/local) below DESTDIR
	@meson configure build -Dprefix=$(PREFIX)
	@ninja -C build product
	@meson install -C build --no-rebuild

image: setup-image ## build the container image and its SBOM with buildah; TARGET=informerd-kafka, BASE=image, FRESH=1; see conf/image/build.sh
	@conf/image/build.sh $(ARGS)

dist: ## write the source of the last commit to build-dist/, the same bytes on every machine
	@conf/dist.sh build-dist

deb: setup-packages ## build the Debian packages of the last commit in build-deb/, in a chroot of Debian 13 that is made once; ARGS=--tests
	@python3 conf/packages/deb.py build-deb $(ARGS)

packages-test: setup-packages build ## install, upgrade, run and remove the packages in a Debian 13 with systemd, a few minutes; ARGS='Upgrade Kafka' for some of it
	@ninja -C build test/kubesim/kubesim test/kafka/mock_kafka >&2
	@python3 conf/packages/deb.py build-deb
	@python3 test/packages/test_packages.py build/test/kubesim/kubesim test/data/recordings build/informerd build-deb build/test/kafka/mock_kafka $(ARGS)
	@python3 test/packages/test_rpm.py

clean: ## remove every build directory
	rm -rf build build-*/

help: ## print this list
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/make \1\t\2/p' Makefile | expand -t 20

setup-%:
	@.ci/setup $* >&2

# Configured if that has not been completed before.
# b_lundef=false: a shared library finds the sanitizers only in the program that loads it. The many test programs are linked
# with mold where the compiler can use it. -O1: the sanitized code runs 5 % slower than with -O2, but compiles in 60 % of the
# time.
build-test-%/build.ninja:
	@rm -rf $(@D)
	@if $(CC) -fuse-ld=mold -Wl,--version >/dev/null 2>&1; then export CC_LD="$${CC_LD:-mold}"; fi; \
	meson setup $(@D) -Doptimization=1 -Dwerror=true -Db_sanitize=address,undefined -Dc_args=-fno-sanitize-recover=all -Db_lundef=false >&2

build-fuzz/build.ninja:
	@rm -rf $(@D)
	@meson setup $(@D) -Db_sanitize=address,undefined -Dc_args=-fno-sanitize-recover=all -Db_lundef=false >&2

# Release builds do not have the compiler in their directory names: another compiler rebuilds them from scratch.
# build-mutant contains named faults of the engine behind a switch, which the e2e tests must detect.
build-mutant/made-with-$(cc): options := -Dc_args=-DINF_MUTANTS
build/made-with-$(cc) build-mutant/made-with-$(cc):
	@rm -rf $(@D)
	@meson setup $(@D) --buildtype=release $(options) >&2
	@touch $@
