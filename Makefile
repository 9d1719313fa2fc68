# The only list of commands. `make demo` and `make test` need Rust (1.88 or newer), Python (3.10 or
# newer) and Debian's packages; what else they need they install themselves, into target/ where it
# is a Python package, with apt-get where it is Debian's chromium or valgrind.

CARGO ?= cargo
FTLAB := target/release/ftlab
DEMO := out/demo
QUICK := out/quick
# The book, the pages that it is made of, and a run of every scheme for their cards.
BOOK := target/book
PAGES := target/book-pages
CARDS := out/cards
MDBOOK_VERSION := 0.5.4
MUTANTS_VERSION := 27.1.0
MDBOOK := target/tools/mdbook-$(MDBOOK_VERSION)/bin/mdbook
# Says what mutants there are, and a Python that puts them into a copy of the sources.
MUTANTS := target/tools/mutants-$(MUTANTS_VERSION)/bin/cargo-mutants
MUTANTS_VENV := target/tools/mutants-python
# What `make build` makes. `make test` adds the Python package: one compilation serves both then.
PACKAGES ?= -p ftlab
PYTHON_PACKAGES := -p ftlab -p ftlab-py
# What makes wheels, the wheels, and a Python that has one of them and what its tests need.
MATURIN := target/tools/wheel/bin/maturin
WHEELS := target/wheels
PYTHON_VENV := target/python-test
# Notebooks as they were run, with their outputs.
NOTEBOOKS := out/notebooks
# A part of it, with a few runs of each kind.
PAPERS := out/papers-page
# All runs of it on one page.
EXPLORE := out/explore.html
# A small one, whose grid has no holes but those of a scheme without cache.
SWEEP := out/sweep
PICTURED := dftl2014-fig12 dftl2014-fig13 dftl2014-fig15 dftl2014-fig16 adapt2012-fig7
# Tests make tens of thousands of small devices one after another, in threads. Without this glibc
# gives the memory of each back to the system and asks for it again, half of the time of some.
SMALL_DEVICES := MALLOC_TRIM_THRESHOLD_=268435456 MALLOC_MMAP_THRESHOLD_=33554432
# Leaves schemes out of tests, for whoever works on one; never here.
unexport FTLAB_ONLY

.PHONY: demo build test tests built-tests made-pages test-long check fmt bench cost cost-aims memory scaling pgo fuzz fuzz-brief fuzz-long docs book book-test browser clients test-clients reproduce quick linted-tests package wheel wheel-here stubs python-test notebooks notebooks-test test-cluster test-mutants test-mutants-sample clean \
    browser-report browser-workload browser-calibration browser-papers browser-explore browser-sweep browser-drive

# BUILT: it is there already. Cargo and maturin set the build of the Python package apart, and each would compile it anew
# behind the other.
build: ## the release binary, target/release/ftlab
	$(if $(BUILT),,$(CARGO) build --release --locked $(PACKAGES))

demo: build ## compares six schemes on a bundled workload, looks into it, fits a device to a drive, and writes pages to out/demo
	rm -rf $(DEMO)
	$(FTLAB) compare --schemes ideal_page,dftl,fast,last,superblock,adapt --device dftl2014 \
	    --capacity 256MiB --set device.over_provisioning=7% --workload oltp_demo \
	    --precondition warmup:1000000 --verify --probe 100000:400 --out $(DEMO)
	$(FTLAB) trace inspect oltp_demo --device dftl2014 --html $(DEMO)/workload.html --json \
	    > $(DEMO)/workload.json
	$(FTLAB) calibrate crates/lab/tests/lab/fio/intel_d3_s4610.json --base tlc_nvme \
	    --set host.queue_depth=32 --channels 4 --dies 4 --planes 2 --precondition fill --requests 500 \
	    --out $(DEMO)/drive.toml --html $(DEMO)/drive.html --json > $(DEMO)/drive.json
	@echo "The report: $(DEMO)/report.html, its workload: $(DEMO)/workload.html"

quick: build ## the quick set of the papers' experiments; its verdicts must be the known ones
	rm -rf $(QUICK)
	$(FTLAB) reproduce all --quick --out $(QUICK)
	python3 tests/verdicts.py $(QUICK)/claims.json tests/golden/quick-verdicts.txt
	rm -rf $(PAPERS)
	mkdir $(PAPERS)
	cp -r $(addprefix $(QUICK)/,$(PICTURED)) $(PAPERS)
	rm -f $(EXPLORE)
	$(FTLAB) explore $(PAPERS) --out $(EXPLORE)
	rm -rf $(SWEEP)
	$(FTLAB) sweep --device slc_small --capacity 32MiB --precondition fill \
	    --workload randwrite:bs=4k,span=16MiB,count=4000,seed=5 --quiet --out $(SWEEP) --grid \
	    "scheme=dftl,tpftl,fast cache[family:cached_map]=8KiB..128KiB*4 op=20%,30% seed=1,2"

reproduce: build ## every experiment of the papers in full (about half an hour on two cores), to out/papers
	$(FTLAB) reproduce all --resume --out out/papers

test: export PACKAGES = $(PYTHON_PACKAGES)
test: ## everything that CI runs: lints, all tests, half a minute of fuzzing, packages, Python, the browser test
	$(MAKE) -j4 linted-tests built-tests

# Clippy's driver stands in for the compiler of our crates (tests/compile.sh), so that what is compiled to be tested is
# linted by the way: `make check` alone takes as long as compiling half of it. `--all-targets` would compile the tests that the
# library of the engine does not have, all schemes among them. The command line is tested with the program that is shipped.
linted-tests: export RUSTC_WORKSPACE_WRAPPER := $(abspath tests/compile.sh)
linted-tests: export RUSTFLAGS := -D warnings
linted-tests:
	$(CARGO) fmt --all --check
	$(CARGO) test --locked --workspace --tests --examples --bench '*' --no-run
	env -u RUSTC_WORKSPACE_WRAPPER -u RUSTFLAGS $(MAKE) build
	FTLAB_PROGRAM=$(abspath $(FTLAB)) $(MAKE) tests
	$(MAKE) fuzz-brief test-mutants-sample

# What needs the program alone runs beside the tests of the crates, whose compilation takes longer than the program's.
# Much of it waits for others (a browser, a server, a package from afar): four steps at a time keep two cores busy.
built-tests: build
	$(MAKE) BUILT=yes package
	$(MAKE) BUILT=yes made-pages notebooks-test book-test clients cost memory

# Where all run side by side nobody opens a page that is not written yet.
made-pages: demo quick
	$(MAKE) browser

# The Python package is tested from Python; it is among the crates so that others have the features here that the
# program and it are built with.
tests: ## the tests of every crate
	$(SMALL_DEVICES) $(CARGO) test --locked --workspace --no-fail-fast

test-long: export PACKAGES = $(PYTHON_PACKAGES)
test-long: bench cost-aims ## what takes longer than CI may: the benchmark's full device, costs where the aims were set, packed crates compiled with nothing beside them, every cut of every variant and 100000 in long runs of each family, machines that fail under a drive, intervals of many calibrations, all of the real traces under every scheme, pages at all widths, a quarter of an hour of fuzzing
	FTLAB_ALL_CUTS=1 $(SMALL_DEVICES) $(CARGO) test --locked -p ftlab-engine --test conformance -- --show-output
	FTLAB_ALL_CUTS=1 $(CARGO) test --locked -p ftlab --test cli -- tail::trace_events_are_those_of_the_probe tail::the_slowest_are_those_of_the_rows real_traces:: requests::sums_over_rows_are_the_totals_and_both_formats_agree
	$(CARGO) test --locked -p ftlab-drive --lib -- --ignored
	$(CARGO) test --locked -p ftlab-lab --test lab -- --ignored
	tests/packages.sh --alone
	$(MAKE) demo quick
	FTLAB_ALL_WIDTHS=1 $(MAKE) browser
	FTLAB_FUZZ_SECONDS=300 $(CARGO) test --locked --release -p ftlab-engine -p ftlab-fuzzing -p ftlab-nbd --test fuzz_smoke -- --show-output

test-mutants-sample: $(MUTANTS_VENV)/bin/python ## whether the mutants of a fixed sample are still noticed
	$(SMALL_DEVICES) $(MUTANTS_VENV)/bin/python -B tests/mutants/sample.py

# ROOM: a scheme, or a room of tests/mutants/rooms.py; SECONDS: no longer than this at a time, the next
# run goes on; LONGEST: of tests that take so many seconds at most; SAMPLE=40 instead of a room: a
# fixed sample over all of them, kept in tests/mutants/sample.json.
test-mutants: $(MUTANTS) $(MUTANTS_VENV)/bin/python ## how many mutants of ROOM its tests notice (docs/mutants.md); the sources are compiled once
	$(SMALL_DEVICES) $(MUTANTS_VENV)/bin/python -B tests/mutants/run.py --tool $(abspath $(MUTANTS)) \
	    $(ROOM) $(if $(SECONDS),--seconds $(SECONDS)) $(if $(LONGEST),--longest $(LONGEST)) $(if $(SAMPLE),--sample $(SAMPLE))

$(MUTANTS_VENV)/bin/python: tests/mutants/requirements.txt
	tests/venv.sh $(MUTANTS_VENV) tests/mutants/requirements.txt
	touch $(MUTANTS_VENV)/bin/python

$(MUTANTS):
	$(CARGO) install --locked --version $(MUTANTS_VERSION) --root target/tools/mutants-$(MUTANTS_VERSION) \
	    cargo-mutants

# Needs one core.
fuzz-brief: ## ten seconds of operations, of conversations, and of all targets in turns
	FTLAB_FUZZ_SECONDS=10 $(CARGO) test --locked --workspace --test fuzz_smoke

# EXECUTIONS: of all targets together, which get the same time (docs/fuzzing.md).
fuzz-long: ## 100000000 executions of all fuzz targets together, counted and timed by target; without nightly, needs one core
	FTLAB_FUZZ_EXECUTIONS=$(or $(EXECUTIONS),100000000) $(CARGO) test --locked --release -p ftlab-fuzzing --test fuzz_smoke -- --nocapture no_target

clients: build ## real clients of block devices on a drive of every scheme: fio, qemu-io, qemu-img, nbdinfo, nbdcopy; and bad ones
	tests/install.sh fio=fio qemu-io=qemu-utils nbdcopy=libnbd-bin
	python3 tests/clients.py $(FTLAB)
	python3 tests/endings.py $(FTLAB)
	python3 tests/places.py $(FTLAB)
	python3 tests/clocks.py $(FTLAB)

test-clients: clients ## and file systems: ext4 through nbdfuse and a loop device, SQLite on it, Linux with its NVMe driver in qemu, speed beside nbdkit, 200 kills of each family (a quarter of an hour on two cores); as root
	tests/install.sh nbdfuse=libnbd-bin mke2fs=e2fsprogs fusermount3=fuse3 nbdkit=nbdkit
	python3 tests/ratio.py $(FTLAB)
	python3 tests/clients.py $(FTLAB) --file-systems
	tests/kernel.sh target/nvme
	python3 tests/nvme.py $(FTLAB) target/nvme
	python3 tests/clients.py $(FTLAB) --crashes 200

package: PACKAGES := $(PYTHON_PACKAGES)
package: build ## packs every crate, and compares what was packed with what the compiler read
	tests/packages.sh

wheel: $(MATURIN) ## the Python package, to target/wheels: for any Python from 3.10 on, and for glibc 2.17 where zig can be had
	target/tools/wheel/bin/pip install --quiet --disable-pip-version-check ziglang==0.17.1 || true
	rm -rf $(WHEELS)/new
	if target/tools/wheel/bin/python -c 'import ziglang' 2>/dev/null; then \
	    PATH="$(abspath target/tools/wheel/bin):$$PATH" $(MATURIN) build --release --strip --locked \
	        --manifest-path crates/py/Cargo.toml --target-dir target/manylinux --out $(WHEELS)/new \
	        --zig --compatibility manylinux2014; \
	else \
	    echo "zig cannot be had: the wheel is for the glibc of this machine, or newer"; \
	    $(MATURIN) build --release --strip --locked --manifest-path crates/py/Cargo.toml --out $(WHEELS)/new; \
	fi
	target/tools/wheel/bin/abi3audit --strict --summary $(WHEELS)/new/*.whl
	mv $(WHEELS)/new/*.whl $(WHEELS)/
	@ls $(WHEELS)/*.whl

# A wheel of this machine from what `make test` built.
wheel-here: PACKAGES := $(PYTHON_PACKAGES)
wheel-here: $(MATURIN) build
	rm -rf $(WHEELS)/test
	$(MATURIN) build --quiet --release --strip --locked --manifest-path crates/py/Cargo.toml \
	    --compatibility linux --out $(WHEELS)/test

test-cluster: wheel-here ## sweeps on Dask, whose workers and client are killed, and on a Slurm of this one machine; as root
	tests/cluster/run.sh $(WHEELS)/test/*.whl

# In a Python of its own.
python-test: wheel-here ## the tests of the Python package, on a wheel of it
	target/tools/wheel/bin/abi3audit --strict --assume-minimum-abi3 3.10 $(WHEELS)/test/*.whl
	tests/venv.sh $(PYTHON_VENV) crates/py/requirements-test.txt
	$(PYTHON_VENV)/bin/pip install --quiet --disable-pip-version-check --no-deps --no-index \
	    --force-reinstall $(WHEELS)/test/*.whl
	$(PYTHON_VENV)/bin/python -B -m pytest -q -p no:cacheprovider --rootdir crates/py/tests \
	    crates/py/tests --program $(abspath $(FTLAB)) --book $(abspath book/src)

notebooks: python-test ## runs the notebooks, to out/notebooks, and writes their pictures to the book
	$(PYTHON_VENV)/bin/python -B book/notebooks/run.py $(NOTEBOOKS) --write

notebooks-test: python-test
	rm -rf $(NOTEBOOKS)
	$(PYTHON_VENV)/bin/python -B book/notebooks/run.py $(NOTEBOOKS)

stubs: ## writes the stubs of the Python package, from what python-test installed
	$(PYTHON_VENV)/bin/python -B crates/py/stubs.py crates/py/python/ftlab

$(MATURIN): crates/py/requirements-build.txt
	tests/venv.sh target/tools/wheel crates/py/requirements-build.txt
	touch $(MATURIN)

check: ## formatting and lints, warnings being errors
	$(CARGO) fmt --all --check
	$(CARGO) clippy --locked --workspace --all-targets -- -D warnings

fmt: ## formats everything
	$(CARGO) fmt --all

bench: cost ## cost; speed as ratios against a bare loop on 4 and on 32 GiB; parsing
	$(CARGO) bench --locked -p ftlab-engine --bench hot_loop
	FTLAB_BENCH=full $(CARGO) bench --locked -p ftlab-engine --bench hot_loop
	$(CARGO) bench --locked -p ftlab-trace

cost: build ## instructions and cache misses of a host page; none may rise by 3 % unnoticed
	tests/install.sh valgrind=valgrind
	python3 tests/cost.py $(FTLAB) tests/golden/cost.txt

cost-aims: build ## the same where the aims of the book's page on speed were set, on 512 MiB: some minutes
	tests/install.sh valgrind=valgrind
	python3 tests/cost.py $(FTLAB) tests/golden/cost-aims.txt --aims

memory: build ## what every scheme holds of a tebibyte of which little is written
	python3 tests/memory.py $(FTLAB)

scaling: build ## rates from 1 GiB to 1 TiB, two runs side by side, bytes of memory per page; needs 8 GiB
	python3 tests/scaling.py $(FTLAB)

pgo: ## target/pgo/ftlab: a release binary that was trained on runs of every scheme; needs rustup
	tests/pgo.sh

# What libFuzzer finds goes to fuzz/found, so that the corpora stay small.
fuzz: ## libFuzzer on every target, SECONDS each (60 where nothing is said); needs a nightly toolchain and cargo-fuzz
	for target in $(notdir $(wildcard fuzz/corpus/*)); do \
	    mkdir -p fuzz/found/$$target || exit 1; \
	    $(CARGO) +nightly fuzz run $$target fuzz/found/$$target fuzz/corpus/$$target -- \
	        -max_total_time=$(or $(SECONDS),60) -max_len=16384 -print_final_stats=1 || exit 1; \
	done

docs: ## the documentation of every crate
	$(CARGO) doc --locked --no-deps --workspace

book: build $(MDBOOK) ## the book, to target/book: pages of every scheme with measured cards, links and examples checked
	rm -rf $(CARDS)
	$(FTLAB) compare --schemes all --device dftl2014 --capacity 256MiB --set device.over_provisioning=7% \
	    --workload oltp_demo --precondition warmup:1000000 --reproducible --quiet --out $(CARDS) >/dev/null
	python3 book/generate.py $(FTLAB) $(PAGES) --cards $(CARDS)/results.json
	python3 book/demo_picture.py $(CARDS)/results.json docs/demo.svg
	python3 tests/book.py sources $(PAGES) $(FTLAB) README.md
	rm -rf $(BOOK)
	$(MDBOOK) build $(PAGES) --dest-dir $(abspath $(BOOK))
	python3 tests/book.py pages $(BOOK)
	@echo "The book: $(BOOK)/index.html"

book-test: build ## runs every example of the book and of README, and follows the links of its sources
	python3 book/generate.py $(FTLAB) $(PAGES)-test
	python3 tests/book.py sources $(PAGES)-test $(FTLAB) README.md

$(MDBOOK):
	$(CARGO) install --locked --no-default-features --features search --version $(MDBOOK_VERSION) \
	    --root target/tools/mdbook-$(MDBOOK_VERSION) mdbook

browser: $(addprefix browser-,report workload calibration papers explore sweep drive) ## opens the pages of demo and quick set, and that of a drive, in Debian's chromium; with -j2 two at a time

browser-report:
	tests/browser/run.sh $(DEMO)/report.html $(DEMO)/results.json
browser-workload:
	tests/browser/run.sh $(DEMO)/workload.html $(DEMO)/workload.json
browser-calibration:
	tests/browser/run.sh $(DEMO)/drive.html $(DEMO)/drive.json
browser-papers:
	tests/browser/run.sh $(QUICK)/report.html $(QUICK)/claims.json
browser-explore:
	tests/browser/run.sh $(EXPLORE) $(PAPERS)
browser-sweep:
	tests/browser/run.sh $(SWEEP)/report.html $(SWEEP)
browser-drive:
	tests/browser/run.sh --drive $(FTLAB)

clean:
	rm -rf target out
