#!/usr/bin/env bash
# The libraries that a release is linked with and that the distribution has only as shared ones, built from the
# distribution's own sources into FOLDER/lib*.a: simdjson, fmt, ISA-L. The rest (zstd, SQLite, libcsv) it has.
#
#   tools/static_deps.sh [--arch aarch64] [FOLDER]            FOLDER: build/static, or build/static-aarch64
#
# Sources are those of the versions installed here, whose headers the program is compiled with, fetched and
# verified by apt; the system's own lists stay as they are. FOLDER/sources.tsv says what was built from what:
# library, source package, version, SHA-256 of its .dsc, licence. Needs dpkg-dev, and nasm on x86-64; for another
# architecture its cross compiler and packages, which are named when missing.
set -euo pipefail
cd "$(dirname "$0")/.."
arch=$(uname -m)
cross=
folder=build/static
if [ "${1:-}" = --arch ]; then
  if [ "$2" != "$arch" ]; then
    arch=$2
    cross=$arch-linux-gnu-
    folder=build/static-$arch
  fi
  shift 2
fi
folder=${1:-$folder}
mkdir -p "$folder/lists/partial" "$folder/parts" "$folder/source"
folder=$(cd "$folder" && pwd)
if [ -e "$folder/sources.tsv" ]; then
  echo "$folder is built already; remove it to build it anew"
  exit 0
fi
. tools/deps_common.sh
[ "$arch" != x86_64 ] || command -v nasm >/dev/null || need nasm "apt-get install nasm"
if [ -n "$cross" ]; then
  [ "$arch" = aarch64 ] || { echo "no releases for $arch" >&2; exit 2; }
  command -v ld.lld >/dev/null || need ld.lld "apt-get install lld"
  command -v "${cross}g++" >/dev/null || need "${cross}g++" "apt-get install g++-aarch64-linux-gnu qemu-user-static"
fi

[ -z "$cross" ] || apt+=(-o APT::Architectures::=amd64 -o APT::Architectures::=arm64)
"${apt[@]}" update

flags=(-O3 -DNDEBUG -fPIC -ffunction-sections -fdata-sections "-ffile-prefix-map=$folder/source=.")
# sysroot PACKAGE...: what the program is compiled and linked with on its own machine, in the versions installed here, laid
# out and not installed.
sysroot() {
  mkdir -p "$folder/packages" "$folder/sysroot"
  local wanted=()
  for name in "$@"; do
    wanted+=("$name:arm64=$(dpkg-query -W -f '${Version}' "$name:$(dpkg --print-architecture)")")
  done
  (cd "$folder/packages" && "${apt[@]}" download "${wanted[@]}")
  for deb in "$folder"/packages/*.deb; do dpkg-deb -x "$deb" "$folder/sysroot"; done
  # A cross compiler looks for a linker under a name of its own.
  mkdir -p "$folder/tools"
  ln -sf "$(command -v ld.lld)" "$folder/tools/ld.lld"
  # Where the distribution's alternatives would point.
  ln -sf openblas-pthread/libopenblas.so "$folder/sysroot/usr/lib/$arch-linux-gnu/libopenblas.so"
}
archive() { rm -f "$folder/$1"; "${cross}ar" rcsD "$folder/$1" "${@:2}"; }

if [ -n "$cross" ]; then
  sysroot libzstd-dev libzstd1 libsqlite3-dev libsqlite3-0 libcsv-dev libcsv3 zlib1g-dev zlib1g libisal-dev libisal2 \
    libsimdjson-dev libsimdjson14 libfmt-dev libfmt9 libmuparser-dev libmuparser2v5 \
    libxgboost-dev libxgboost0 libxlsxwriter-dev libxlsxwriter4 libopenblas-pthread-dev libopenblas0-pthread libgfortran5
fi
unpack libsimdjson-dev simdjson
(cd "$folder/source/simdjson" &&
  "${cross}g++" -std=c++20 "${flags[@]}" -DSIMDJSON_THREADS_ENABLED=1 -Iinclude -Isrc -c src/simdjson.cpp -o simdjson.o)
archive libsimdjson.a "$folder/source/simdjson/simdjson.o"

unpack libfmt-dev fmtlib
(cd "$folder/source/fmtlib" && "${cross}g++" -std=c++20 "${flags[@]}" -Iinclude -c src/format.cc -o format.o)
archive libfmt.a "$folder/source/fmtlib/format.o"

unpack libisal-dev libisal
isal=()
if [ -n "$cross" ]; then
  isal=(host_cpu="$arch" arch="$arch" "CC=${cross}gcc" "AR=${cross}ar")
fi
make -s -C "$folder/source/libisal" -f Makefile.unx lib units="igzip crc" "${isal[@]}" >"$folder/isal.log" 2>&1 ||
  { tail -n 20 "$folder/isal.log" >&2; exit 1; }
cp "$folder/source/libisal/bin/isa-l.a" "$folder/libisal.a"

printf '%s\n' "${rows[@]}" >"$folder/sources.tsv"
ls -l "$folder"/*.a
