# Everything a person types. The build itself is CMake (CMakePresets.json); this file only says it
# in one word. Binary: build/release/assay.

SHELL := /bin/bash
.DEFAULT_GOAL := build
PREFIX ?= /usr/local

.PHONY: build install demo test fast fuzz check sanitizers bench format clean web example wasm web-app

EXAMPLE := $(firstword $(wildcard examples/*.json.gz))
CONFIGURE = cmake --preset
BUILD = cmake --build --preset

# Release binary at build/release/assay. Installs nothing: `tools/install_deps.sh build` does.
build:
	@tools/install_deps.sh --check build
	@$(CONFIGURE) release >/dev/null
	@$(BUILD) release --target assay

# Programs, the recorder and the documents under PREFIX (DESTDIR before it, for packages).
install: build
	@$(BUILD) release --target assay_programs
	cmake --install build/release --prefix $(PREFIX)

# From a fresh clone to the answer: packages, Release build, report on a real trace.
demo:
	@tools/install_deps.sh build query
	@$(MAKE) --no-print-directory build
	build/release/assay report $(EXAMPLE)

# The same, then every test. The closing lines are ctest's.
test: demo
	@tools/install_deps.sh build test
	@$(CONFIGURE) release >/dev/null
	@$(BUILD) release
	ctest --preset release

# Tests for daily work, under five minutes on two cores: unit, property, sources, documents, the quick ones of real traces.
fast:
	@tools/install_deps.sh build test
	@$(CONFIGURE) fast >/dev/null
	@$(BUILD) fast
	ctest --preset fast -L fast

# The readers under libFuzzer with ASan for a short while (clang). `make test` replays the corpus.
fuzz:
	@tools/install_deps.sh build fuzz
	tools/fuzz_smoke.sh

# What a change must pass before review: format, tidy, layers, fresh docs, the tests again under sanitizers, and the
# fuzzer. `make check ALL=1` runs clang-tidy over all files and not only the changed ones.
check:
	@tools/install_deps.sh build test fuzz check
	tools/check_format.sh
	python3 tools/check_layers.py
	python3 tools/gen_schema_docs.py --check
	python3 tools/gen_metrics_docs.py --check
	python3 tools/gen_format_docs.py --check
	$(CONFIGURE) dev
	$(BUILD) dev
	tools/check_tidy.sh $(if $(ALL),--all)
	@$(MAKE) --no-print-directory sanitizers
	tools/fuzz_smoke.sh

# The whole suite under ASan and UBSan, then what has threads under TSan: base, readers and the recorder.
# `make sanitizers ONLY='^golden/'`: those of the first whose names match.
sanitizers:
	@tools/install_deps.sh build test
	$(CONFIGURE) dev
	$(BUILD) dev
	ctest --preset dev $(if $(ONLY),-R '$(ONLY)')
	$(CONFIGURE) tsan
	$(BUILD) tsan --target assay_unit_base_tests --target assay_unit_ingest_tests --target assay_property_ingest_tests \
	  --target assay_record --target assay_fake_gpu --target assay_record_amd --target assay_fake_amd_gpu
	ctest --preset tsan -R '^(unit/base|unit/ingest|property/ingest)$$'
	ASSAY_RECORD_LIBRARY=$(CURDIR)/build/tsan/libassay_record.so python3 tests/golden/check_record.py \
	  --assay build/dev/assay --fakes build/tsan/fake_gpu
	ASSAY_RECORD_AMD_LIBRARY=$(CURDIR)/build/tsan/libassay_record_amd.so ASSAY_RECORD_LIBRARY=$(CURDIR)/build/tsan/libassay_record.so \
	  python3 tests/golden/check_record_amd.py --assay build/dev/assay --build build/tsan
	ASSAY_RECORD_LIBRARY=$(CURDIR)/build/tsan/libassay_record.so python3 tests/golden/check_record_death.py \
	  --assay build/dev/assay --fakes build/tsan/fake_gpu

# The speed claims of bench/README.md, measured here (about ten minutes).
bench:
	@tools/install_deps.sh build bench
	@$(MAKE) --no-print-directory build
	@$(CONFIGURE) bench
	@$(BUILD) bench
	@$(BUILD) release --target assay_job_model
	python3 bench/run.py
	python3 bench/job.py
	node bench/page.mjs build/release/assay build/bench-data/largest_real.json || echo 'the page: needs node, Chromium, npm ci --prefix web'

# The page that --format html fills, web/dist/report.html, from its sources (needs node 18 or newer).
web:
	npm ci --prefix web --no-audit --no-fund
	npm run build --prefix web

# Assay as WebAssembly with the distribution's emscripten: build/wasm/assay-trace-V.tgz for node (npx), and below it the
# page of web-app. Without emscripten it says how to install it.
wasm:
	@tools/install_deps.sh --check build wasm
	tools/wasm_deps.sh
	@$(CONFIGURE) wasm >/dev/null
	@$(BUILD) wasm
	tools/pack_wasm.py npm

# The page on which a trace is dropped: build/wasm/app/ for a static host, build/wasm/app/assay-app.html as one file.
web-app:
	@tools/install_deps.sh --check build wasm
	tools/wasm_deps.sh
	@$(CONFIGURE) wasm >/dev/null
	@$(BUILD) wasm --target assay_web
	tools/pack_wasm.py app

# The report that README.md links to.
example: build
	tools/example_report.py --assay build/release/assay

format:
	@tools/install_deps.sh check
	tools/check_format.sh --fix

clean:
	rm -rf build
