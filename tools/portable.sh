#!/usr/bin/env bash
# Puts assay, its tracer, its null kernel and every shared library they need (but the C library's own) into one
# folder that runs on any x86-64 Linux with the same or a newer C library, without packages: for a
# machine with a GPU where nothing can be installed.
#
#   tools/portable.sh [--build DIR] FOLDER
#
# assay is built anew in DIR (build/portable), with the folder's own libraries first in its search
# path and without OpenBLAS, which is larger than all the rest: only fits of large throughput tables
# are slower for it. Nothing else inherits that path: what `assay record` starts sees the machine's
# libraries. FOLDER is replaced. Fails above 60 MB, or when the folder does not run on its own.
set -euo pipefail
cd "$(dirname "$0")/.."

build=build/portable
usage() { sed -n '2,12s/^# \{0,1\}//p' "$0" >&2; exit 2; }
while [ $# -gt 0 ]; do
  case $1 in
    --build) build=${2:-}; shift 2 || usage ;;
    -*) usage ;;
    *) break ;;
  esac
done
[ $# -eq 1 ] && [ -n "$1" ] || usage
folder=$1
limit_mb=60
if [ -e "$folder" ] && [ ! -e "$folder/PORTABLE" ] && [ -n "$(ls -A "$folder" 2>/dev/null)" ]; then
  echo "$folder is not empty and was not made by this script: give another folder" >&2
  exit 2
fi

launcher=()
command -v ccache >/dev/null && launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DASSAY_TESTS=OFF \
  -DASSAY_OPENBLAS=OFF -DBLA_VENDOR=Generic -DCMAKE_RUNTIME_OUTPUT_DIRECTORY="$PWD/$build" \
  -DCMAKE_BUILD_RPATH="\$ORIGIN/lib" -DCMAKE_EXE_LINKER_FLAGS="-Wl,--disable-new-dtags" \
  "${launcher[@]}" >/dev/null
targets=(assay assay_search)
for target in assay_record assay_null_kernel; do
  # To the end: whoever stops reading early ends cmake with an error.
  cmake --build "$build" --target help | grep "^$target:" >/dev/null && targets+=("$target")
done
if ! cmake --build "$build" --target "${targets[@]}" >"$build/portable.log"; then
  tail -n 30 "$build/portable.log" >&2
  exit 1
fi

rm -rf "$folder"
mkdir -p "$folder/lib"
cp "$build/assay" "$folder/"
for part in libassay_search.so libassay_record.so assay_null_kernel; do
  [ -e "$build/$part" ] && cp "$build/$part" "$folder/"
done
# Sources that are compiled against the PyTorch of the machine.
for part in replay pytorch; do
  [ -d "collect/$part" ] && mkdir -p "$folder/collect" && cp -r "collect/$part" "$folder/collect/"
done

# The C library must be the machine's: it belongs to its loader and its kernel.
of_c_library='^(linux-vdso|ld-linux.*|lib(c|m|mvec|pthread|dl|rt|util|resolv|anl|nsl|nss_.*))\.so'
# Debian's alternatives lead to OpenBLAS's copies, which need all of OpenBLAS.
reference_of() {
  case $1 in
    libblas.so.3) echo /usr/lib/x86_64-linux-gnu/blas/libblas.so.3 ;;
    liblapack.so.3) echo /usr/lib/x86_64-linux-gnu/lapack/liblapack.so.3 ;;
  esac
}
pending=("$folder/assay")
for part in "$folder"/libassay_search.so "$folder"/libassay_record.so "$folder"/assay_null_kernel; do
  [ -e "$part" ] && pending+=("$part")
done
# Where the machine's loader finds a library.
place_of() { /sbin/ldconfig -p | awk -v n="$1" '$1 == n && /x86-64/ {print $NF; exit}'; }
# Those that assay opens by name when a verb needs them.
for name in libxlsxwriter.so.4 libmuparser.so.2 libxgboost.so.0; do
  path=$(place_of "$name")
  [ -e "$path" ] || { echo "note: $name is not here: what needs it will say so" >&2; continue; }
  cp -L "$path" "$folder/lib/$name"
  pending+=("$folder/lib/$name")
done
while [ ${#pending[@]} -gt 0 ]; do
  next=()
  for file in "${pending[@]}"; do
    while read -r name path; do
      [[ $name =~ $of_c_library ]] && continue
      [ -e "$folder/lib/$name" ] && continue
      reference=$(reference_of "$name")
      [ -n "$reference" ] && [ -e "$reference" ] && path=$reference
      [ -e "$path" ] || { echo "$file needs $name, which is not here" >&2; exit 1; }
      cp -L "$path" "$folder/lib/$name"
      next+=("$folder/lib/$name")
    done < <(objdump -p "$file" | awk '/NEEDED/ {print $2}' | while read -r needed; do
      printf '%s %s\n' "$needed" "$(place_of "$needed")"
    done)
  done
  pending=(${next[@]+"${next[@]}"})
done
# Each library comes with the terms that it comes under.
mkdir -p "$folder/licenses"
cp LICENSE NOTICE "$folder/licenses/"
for file in "$folder"/lib/*.so*; do
  name=$(basename "$file")
  owner=$(dpkg -S "*/$name" 2>/dev/null | sed 's/:.*//' | sort -u | head -n 1)
  terms=/usr/share/doc/$owner/copyright
  if [ -n "$owner" ] && [ -e "$terms" ]; then
    cp -L "$terms" "$folder/licenses/$owner.txt"
  else
    echo "$name: no package here tells its licence" >&2
    exit 1
  fi
done
strip --strip-unneeded "$folder/assay" "$folder"/libassay_search.so "$folder"/lib/*.so* 2>/dev/null || true
echo "made by tools/portable.sh; may be deleted" >"$folder/PORTABLE"

# Proof: nothing outside the folder but the C library, and it answers with an empty environment.
strangers=$(env -i /usr/bin/ldd "$folder/assay" | awk '$2 == "=>" {print $1, $3}' | while read -r name path; do
  [[ $name =~ $of_c_library ]] && continue
  case $path in "$(cd "$folder" && pwd)"/*) ;; *) echo "$name" ;; esac
done)
[ -z "$strangers" ] || { echo "taken from outside the folder: $strangers" >&2; exit 1; }
env -i "$folder/assay" --version >/dev/null
size_mb=$(du -sm --apparent-size "$folder" | cut -f1)
[ "$size_mb" -le $limit_mb ] || { echo "$folder has $size_mb MB, more than $limit_mb" >&2; exit 1; }
echo "$folder: $size_mb MB, runs on its own"
