#!/usr/bin/env bash
# Everything that a release consists of, from a clean tree into dist/, and proven there; it publishes nothing.
#
#   tools/release.sh [--dirty] [--arch aarch64] [FOLDER]            FOLDER: dist
#
#   assay-V-linux-ARCH.tar.xz     bin/assay, its recorder, manual page, completions, documents, licences
#   assay-V-linux-ARCH-campaign.tar.xz  what tests/gpu/campaign.sh needs on a machine with a GPU
#   assay_V_ARCH.deb              the same as a package
#   assay_gpu-V-…-ARCH.whl        the same with `import assay`
#   assay-V-linux-ARCH.spdx.json  what is inside of it
#   SHA256SUMS
#
# The program needs glibc 2.34 or newer and nothing else: tools/static_deps.sh builds what it is linked with. Two runs
# over one commit give the same bytes. --dirty: of a tree with changes, for trying it out. --arch: for another processor,
# proven under QEMU and against what this one says; without the campaign, whose rehearsal runs on the processor itself.
set -euo pipefail
cd "$(dirname "$0")/.."

dirty=0
dist=dist
arch=$(uname -m)
while [ $# -gt 0 ]; do
  case $1 in
    --dirty) dirty=1 ;;
    --arch) arch=${2:?}; shift ;;
    -*) sed -n '2,16s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
    *) dist=$1 ;;
  esac
  shift
done
version=$(sed -n 's/^project(assay VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
if [ $dirty = 0 ]; then
  [ -z "$(git status --porcelain)" ] || { echo "the tree has changes: commit them, or --dirty" >&2; exit 1; }
  grep -q "^## \[$version\]" CHANGELOG.md || { echo "CHANGELOG.md has no heading [$version]" >&2; exit 1; }
fi
umask 022
name=assay-$version-linux-$arch
build=$PWD/build/release-static
static=$PWD/build/static
own=$PWD/build/release-static/assay # what answers on this machine
cross=()
if [ "$arch" != "$(uname -m)" ]; then
  build+=-$arch
  static+=-$arch
  cross=(-DCMAKE_TOOLCHAIN_FILE="cmake/$arch.cmake")
  [ -x "$own" ] && "$own" --version | grep -qF "($(git rev-parse --short=8 HEAD))" || { echo "first the release for $(uname -m), whose answers that for $arch must give" >&2; exit 1; }
fi

tools/static_deps.sh --arch "$arch" "$static" >/dev/null
launcher=()
command -v ccache >/dev/null && launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_UNITY_BUILD=ON -DASSAY_TESTS=OFF \
  -DASSAY_STATIC="$static" -DASSAY_COMMIT="$(git rev-parse --short=8 HEAD)" "${cross[@]}" "${launcher[@]}" >/dev/null
cmake --build "$build" --target assay >"$build/build.log" || { tail -n 30 "$build/build.log" >&2; exit 1; }

# From here on; a cache of compilers takes another day or language for another input.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH LC_ALL=C
mkdir -p "$dist"
dist=$(cd "$dist" && pwd)
rm -rf "$build/licenses" "$build/stage"
python3 tools/make_sbom.py --version "$version" --map "$build/assay.map" --static "$static" \
  --licenses "$build/licenses" "$build/sbom.spdx.json"
cp "$build/sbom.spdx.json" "$dist/$name.spdx.json"

stage=$build/stage/$name
cmake --install "$build" --prefix "$stage" >"$build/install.log"
python3 tools/check_release.py "$stage"
rm -f "$dist/$name-campaign.tar.xz"
if [ ${#cross[@]} = 0 ]; then
  # What is carried to a borrowed GPU is made of the same files, and proves itself before anybody borrows one.
  python3 tools/pack_campaign.py --prefix "$stage" --to "$build/campaign"
  python3 tests/gpu/rehearsal.py --packed "$build/campaign"
  tar -C "$build" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" \
    --mode=u+rwX,go+rX,go-w -c campaign | xz -9e -T1 >"$dist/$name-campaign.tar.xz"
fi
rm -f "$dist/$name.tar.xz"
tar -C "$build/stage" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" \
  --mode=u+rwX,go+rX,go-w -c "$name" | xz -9e -T1 >"$dist/$name.tar.xz"

rm -f "$build"/*.deb
(cd "$build" && cpack -G DEB >"$build/cpack.log") || { tail -n 20 "$build/cpack.log" >&2; exit 1; }
# Packed again as Debian's policy has it; cpack writes the time of day, and scripts for a library that no other
# program links.
deb=$(basename "$build"/*.deb)
rm -rf "$build/deb"
dpkg-deb --raw-extract "$build/$deb" "$build/deb"
(
  cd "$build/deb"
  rm -f DEBIAN/postinst DEBIAN/postrm DEBIAN/triggers
  gzip -9n usr/share/man/man1/assay.1
  printf 'assay (%s) stable; urgency=medium\n\n  * What changed: CHANGELOG.md beside this file.\n\n -- %s  %s\n' "$version" \
    "$(sed -n 's/^Maintainer: //p' DEBIAN/control)" "$(date -uR -d "@$SOURCE_DATE_EPOCH")" |
    gzip -9n >usr/share/doc/assay/changelog.gz
  find usr -type f -print0 | sort -z | xargs -0 md5sum >DEBIAN/md5sums
  find . -exec touch --no-dereference -d "@$SOURCE_DATE_EPOCH" {} +
)
dpkg-deb --root-owner-group -Zxz --build "$build/deb" "$dist/$deb" >/dev/null

glibc=$(python3 tools/check_release.py --newest "$stage")
python3 tools/make_wheel.py --version "$version" --tag "manylinux_${glibc/./_}_$arch" "$stage" "$dist"

(
  cd "$dist"
  shopt -s nullglob
  sha256sum assay-"$version"-linux-* assay_"$version"_*.deb assay_gpu-"$version"-*.whl >SHA256SUMS
)
python3 tests/release/check_dist.py --dist "$dist" --arch "$arch" --assay "$own"
ls -l "$dist"
