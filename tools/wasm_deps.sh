#!/usr/bin/env bash
# The libraries that the WebAssembly module is linked with, built by emscripten from the distribution's own sources into
# FOLDER/lib*.a, and their headers in FOLDER/include. Needs what `tools/install_deps.sh build wasm` installs.
#
#   tools/wasm_deps.sh [FOLDER]            FOLDER: build/wasm-deps
#
# Sources are those of the versions installed here. FOLDER/sources.tsv says what was built from what, as that of
# tools/static_deps.sh; once it is there, nothing is built anew.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=${1:-build/wasm-deps}
mkdir -p "$folder/lists/partial" "$folder/parts" "$folder/source" "$folder/include" "$folder/objects"
folder=$(cd "$folder" && pwd)
if [ -e "$folder/sources.tsv" ]; then
  exit 0
fi
. tools/deps_common.sh
command -v emcc >/dev/null || need emcc "tools/install_deps.sh wasm"
command -v tclsh >/dev/null || need tclsh "tools/install_deps.sh wasm"
. tools/emscripten_env.sh "$folder"
"${apt[@]}" update

flags=(-O3 -DNDEBUG -ffunction-sections -fdata-sections -msimd128 -fwasm-exceptions "-ffile-prefix-map=$folder/source=.")
# archive NAME COMPILER... -- SOURCE...: FOLDER/libNAME.a of these sources.
archive() {
  local name=$1 compiler=() objects=() file object
  shift
  while [ "$1" != -- ]; do compiler+=("$1"); shift; done
  shift
  for file in "$@"; do
    object=$folder/objects/$name-$(basename "$file").o
    "${compiler[@]}" "${flags[@]}" -c "$file" -o "$object"
    objects+=("$object")
  done
  rm -f "$folder/lib$name.a"
  emar rcsD "$folder/lib$name.a" "${objects[@]}"
}
source=$folder/source

unpack libsimdjson-dev simdjson
archive simdjson em++ -std=c++20 -I"$source/simdjson/include" -I"$source/simdjson/src" -- "$source/simdjson/src/simdjson.cpp"
cp -r "$source"/simdjson/include/. "$folder/include"

unpack libfmt-dev fmtlib
archive fmt em++ -std=c++20 -I"$source/fmtlib/include" -- "$source/fmtlib/src/format.cc"
cp -r "$source/fmtlib/include/fmt" "$folder/include"

unpack libcsv-dev libcsv
archive csv emcc -- "$source/libcsv/libcsv.c"
cp "$source/libcsv/csv.h" "$folder/include"

unpack libzstd-dev libzstd
archive zstd emcc -DZSTD_DISABLE_ASM -DXXH_NAMESPACE=ZSTD_ -DZSTD_LEGACY_SUPPORT=0 -I"$source/libzstd/lib" -- \
  "$source"/libzstd/lib/{common,decompress,compress}/*.c
cp "$source"/libzstd/lib/*.h "$folder/include"

unpack libisal-dev libisal
# Prototypes of the portable build that disagree with their definitions: harmless on x86, a module that is not valid here.
patch -s -d "$source/libisal" -p1 <cmake/wasm/isal_prototypes.patch
isal=$source/libisal
archive isal emcc -DBIGENDIAN=0 -DNO_NOEXCEPT -I"$isal/include" -I"$isal/igzip" -I"$isal/crc" -- \
  "$isal"/igzip/{igzip,hufftables_c,igzip_base,igzip_icf_base,adler32_base,flatten_ll,encode_df,igzip_icf_body,huff_codes,igzip_inflate,igzip_base_aliases,proc_heap_base}.c \
  "$isal"/crc/{crc_base,crc_base_aliases,crc64_base}.c
mkdir -p "$folder/include/isa-l"
cp "$isal"/include/*.h "$folder/include/isa-l"
[ ! -e "$isal/isa-l.h" ] || cp "$isal/isa-l.h" "$folder/include"

# The demangler of GCC's own library: LLVM's writes some names of kernels otherwise.
unpack libiberty-dev libiberty
archive demangle emcc -DIN_GLIBCPP_V3 -DHAVE_STDLIB_H -DHAVE_STRING_H -DHAVE_LIMITS_H -I"$source/libiberty/include" -- "$source/libiberty/libiberty/cp-demangle.c"

unpack libsqlite3-dev sqlite3
(cd "$source/sqlite3" && ./configure --disable-load-extension >"$folder/sqlite.log" 2>&1 &&
  make sqlite3.c >>"$folder/sqlite.log" 2>&1) || { tail -n 20 "$folder/sqlite.log" >&2; exit 1; }
archive sqlite3 emcc -DSQLITE_OMIT_LOAD_EXTENSION -DSQLITE_THREADSAFE=0 -- "$source/sqlite3/sqlite3.c"
cp "$source/sqlite3/sqlite3.h" "$folder/include"

# Headers alone, which are the same for every machine.
for header in CLI nlohmann eigen3 xxhash.h muParserDLL.h muParserFixes.h; do
  cp -rL "/usr/include/$header" "$folder/include"
done

printf '%s\n' "${rows[@]}" >"$folder/sources.tsv"
ls -l "$folder"/*.a
