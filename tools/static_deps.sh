#!/usr/bin/env bash
# The libraries that a release is linked with and that the distribution has only as shared ones, built from the
# distribution's own sources into FOLDER/lib*.a: simdjson, fmt, ISA-L. The rest (zstd, SQLite, libcsv) it has.
#
#   tools/static_deps.sh [FOLDER]            FOLDER: build/static
#
# Sources are those of the versions installed here, whose headers the program is compiled with, fetched and
# verified by apt; the system's own lists stay as they are. FOLDER/sources.tsv says what was built from what:
# library, source package, version, SHA-256 of its .dsc, licence. Needs dpkg-dev and nasm.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=${1:-build/static}
mkdir -p "$folder/lists/partial" "$folder/parts" "$folder/source"
folder=$(cd "$folder" && pwd)
if [ -e "$folder/sources.tsv" ]; then
  echo "$folder is built already; remove it to build it anew"
  exit 0
fi
for tool in dpkg-source nasm; do
  command -v $tool >/dev/null || { echo "$tool is missing: apt-get install dpkg-dev nasm" >&2; exit 1; }
done

# Beside each entry of the system the same for sources.
for file in /etc/apt/sources.list.d/*.sources; do
  [ -e "$file" ] && sed 's/^Types:.*/Types: deb-src/' "$file" >"$folder/parts/$(basename "$file")"
done
for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
  [ -e "$file" ] && sed -n 's/^deb /deb-src /p' "$file" >"$folder/parts/$(basename "${file%.list}").list"
done
apt=(apt-get -qq -o "Dir::Etc::sourcelist=/dev/null" -o "Dir::Etc::sourceparts=$folder/parts"
  -o "Dir::State::lists=$folder/lists" -o APT::Sandbox::User=root)
"${apt[@]}" update

flags=(-O3 -DNDEBUG -fPIC -ffunction-sections -fdata-sections "-ffile-prefix-map=$folder/source=.")
rows=()
# unpack PACKAGE SOURCE: the source of an installed package lies in source/SOURCE.
unpack() {
  local version
  version=$(dpkg-query -W -f '${source:Version}' "$1")
  (cd "$folder/source" && "${apt[@]}" source --download-only "$2=$version" &&
    rm -rf "$2" && dpkg-source --no-check -x "$2"_*.dsc "$2" >/dev/null)
  rows+=("$2	$version	$(sha256sum "$folder/source/$2"_*.dsc | cut -d' ' -f1)")
}
archive() { rm -f "$folder/$1"; ar rcsD "$folder/$1" "${@:2}"; }

unpack libsimdjson-dev simdjson
(cd "$folder/source/simdjson" &&
  g++ -std=c++20 "${flags[@]}" -DSIMDJSON_THREADS_ENABLED=1 -Iinclude -Isrc -c src/simdjson.cpp -o simdjson.o)
archive libsimdjson.a "$folder/source/simdjson/simdjson.o"

unpack libfmt-dev fmtlib
(cd "$folder/source/fmtlib" && g++ -std=c++20 "${flags[@]}" -Iinclude -c src/format.cc -o format.o)
archive libfmt.a "$folder/source/fmtlib/format.o"

unpack libisal-dev libisal
make -s -C "$folder/source/libisal" -f Makefile.unx lib units="igzip crc" >"$folder/isal.log" 2>&1 ||
  { tail -n 20 "$folder/isal.log" >&2; exit 1; }
cp "$folder/source/libisal/bin/isa-l.a" "$folder/libisal.a"

printf '%s\n' "${rows[@]}" >"$folder/sources.tsv"
ls -l "$folder"/*.a
