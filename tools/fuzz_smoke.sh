#!/usr/bin/env bash
# A short libFuzzer run of every fuzz target from the corpus in the repository. Where clang or its
# libFuzzer runtime is missing, the corpus is still replayed by the ctest test fuzz/corpus.
#   tools/fuzz_smoke.sh [SECONDS]
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-20}

if ! echo 'extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }' |
  clang++ -x c++ -fsanitize=fuzzer -o /dev/null - 2>/dev/null; then
  echo "fuzz smoke: no clang with libFuzzer here; the corpus is replayed by fuzz/corpus instead"
  exit 0
fi

launcher=()
if command -v ccache >/dev/null; then launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
cmake --preset fuzz "${launcher[@]}" >/dev/null
cmake --build --preset fuzz

# A fixed seed and a fresh folder for what it finds, so that a run can be repeated; the corpus in the
# repository is only read.
found=build/fuzz/found/kineto
rm -rf "$found"
mkdir -p "$found"
log=build/fuzz/fuzz_kineto.log
if ! build/fuzz/fuzz_kineto -seed=1 -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 \
  -max_len=65536 -dict=tests/fuzz/kineto.dict -artifact_prefix=build/fuzz/ "$found" \
  tests/fuzz/corpus/chrome >"$log" 2>&1; then
  tail -n 60 "$log"
  exit 1
fi
echo "fuzz smoke: kineto: $(grep '^Done ' "$log"), no finding"

# Every parser, a share of the time each, from samples of its formats and what was found before. The
# plain program writes them: databases are kept as SQL, and .assay files are made by the build.
for parser in $(build/fuzz/assay_fuzz_mutate --list); do
  found=build/fuzz/found/$parser
  rm -rf "$found"
  mkdir -p "$found"
  build/fuzz/assay_fuzz_mutate --formats tests/data/formats --corpus tests/fuzz/corpus --target "$parser" \
    --write-seeds "$found" >/dev/null
  log=build/fuzz/fuzz_$parser.log
  if ! ASSAY_FUZZ_TARGET=$parser build/fuzz/fuzz_parsers -seed=1 -max_total_time="$((seconds / 4 + 1))" -timeout=10 \
    -rss_limit_mb=2048 -max_len=65536 -artifact_prefix="build/fuzz/$parser-" "$found" >"$log" 2>&1; then
    tail -n 60 "$log"
    exit 1
  fi
  echo "fuzz smoke: $parser: $(grep '^Done ' "$log"), no finding"
done
