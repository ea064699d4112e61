#!/usr/bin/env bash
# Compiles collectors for the PyTorch of an installed Python (2.x from pip, or 1.13 from Debian), with its C++ ABI and
# without CUDA headers.
#
#   build_for_torch.sh --out FOLDER [--python PYTHON] [replay | operators]
#
# replay: FOLDER/assay-replay, for `assay replay`. operators: FOLDER/libassay_torch.so, which `assay record --torch`
# loads into programs. Default: replay.
set -euo pipefail

python=python3
out=
what=replay
usage() { sed -n '2,9s/^# \{0,1\}//p' "$0" >&2; exit 2; }
while [ $# -gt 0 ]; do
  case $1 in
    --out) out=${2:-}; shift 2 || exit 2 ;;
    --python) python=${2:-}; shift 2 || exit 2 ;;
    replay | operators) what=$1; shift ;;
    *) usage ;;
  esac
done
[ -n "$out" ] || usage
here=$(cd "$(dirname "$0")" && pwd)
compiler=${CXX:-c++}
command -v "$compiler" >/dev/null || { echo "no C++ compiler: install g++, or set CXX" >&2; exit 1; }

# Folders and flags of that PyTorch: one per line.
facts=$("$python" - 2>/dev/null <<'PY'
import glob, os, shutil, sys
try:
    import torch
except ImportError as error:
    print(f"{sys.executable} has no PyTorch: {error}; name another Python with --python")
    sys.exit(1)
root = os.path.dirname(torch.__file__)
includes = [root + "/include", root + "/include/torch/csrc/api/include"]
libraries = [root + "/lib"]
try:
    # Where a distribution keeps them elsewhere.
    from torch.utils import cpp_extension
    includes += cpp_extension.include_paths()
    libraries += cpp_extension.library_paths()
except Exception:
    pass
def there(folders):
    return os.pathsep.join(dict.fromkeys(folder for folder in folders if os.path.isdir(folder)))
print(torch.__version__)
print(int(torch.compiled_with_cxx11_abi()))
print(there(includes))
print(there(libraries))
print(int(torch.version.cuda is not None))
# Only the NVTX headers, from any installed toolkit. The program also compiles without them.
nvcc = shutil.which("nvcc")
toolkits = [os.environ.get("CUDA_HOME", ""), os.path.dirname(os.path.dirname(nvcc)) if nvcc else "", "/usr/local/cuda",
            *glob.glob(os.path.dirname(root) + "/nvidia/*")]
print(next((kit + "/include" for kit in toolkits if os.path.isdir(kit + "/include/nvtx3")), ""))
PY
) || { echo "${facts:-$python: no such Python}" >&2; exit 1; }
{ read -r version; read -r abi; read -r include_paths; read -r library_paths; read -r cuda
  read -r nvtx || true; } <<<"$facts"

# PyTorch defines NDEBUG; without it, classes in its headers (RecordFunction) have other members.
flags=(-O2 -DNDEBUG -pthread "-D_GLIBCXX_USE_CXX11_ABI=$abi" -I"$here/..")
# The dependencies of PyTorch's libraries are found by their own search paths, not by the linker.
libraries=(-Wl,--no-as-needed -Wl,--allow-shlib-undefined)
IFS=: read -ra folders <<<"$include_paths"
for folder in "${folders[@]}"; do flags+=(-isystem "$folder"); done
[ -n "$nvtx" ] && flags+=(-idirafter "$nvtx")
IFS=: read -ra folders <<<"$library_paths"
for folder in "${folders[@]}"; do libraries+=(-L"$folder" "-Wl,-rpath,$folder"); done
libraries+=(-ltorch -ltorch_cpu -lc10)
[ "$cuda" = 1 ] && libraries+=(-ltorch_cuda -lc10_cuda)
libraries+=(-ldl)

mkdir -p "$out"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# 1.13 does not compile as C++20, and versions after 2.8 may need it: try the likelier one first.
standards=(c++17 c++20)
name=assay-replay
[ "$what" = operators ] && name=libassay_torch.so && flags+=(-fPIC -fvisibility=hidden)
IFS=. read -r major minor _ <<<"$version"
[ "$major" -gt 2 ] || { [ "$major" = 2 ] && [ "${minor%%[!0-9]*}" -gt 8 ]; } && standards=(c++20 c++17)
for standard in "${standards[@]}"; do
  echo "compiling $name against PyTorch $version as $standard (about a minute)"
  jobs=()
  for source in "$here/$what"/*.cc; do
    "$compiler" "-std=$standard" "${flags[@]}" -c "$source" -o "$work/$(basename "$source").o" \
      2>"$work/$(basename "$source").log" &
    jobs+=($!)
  done
  compiled=1
  for job in "${jobs[@]}"; do wait "$job" || compiled=0; done
  [ $compiled = 1 ] && break
done
if [ $compiled = 0 ]; then
  head -n 30 "$work"/*.log >&2
  exit 1
fi
if [ "$what" = operators ]; then
  "$compiler" -shared -pthread "$work"/*.o "${libraries[@]}" -o "$work/$name"
else
  "$compiler" -pthread "$work"/*.o "${libraries[@]}" -o "$work/$name"
  "$work/$name" --about
fi
mv "$work/$name" "$out/$name"
echo "$out/$name"
