# Of tools/static_deps.sh and tools/wasm_deps.sh: sources of installed packages, fetched and verified by apt; the system's
# own lists stay as they are. Before: $folder, an absolute path of a folder with lists/partial, parts and source.
need() { echo "$1 is missing: $2" >&2; exit 1; }
command -v dpkg-source >/dev/null || need dpkg-source "apt-get install dpkg-dev"

# The entries of the system, and beside each the same for sources.
for file in /etc/apt/sources.list.d/*.sources; do
  [ -e "$file" ] && sed 's/^Types:.*/Types: deb deb-src/' "$file" >"$folder/parts/$(basename "$file")"
done
for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
  [ -e "$file" ] && sed -n 's/^deb \(.*\)/deb \1\ndeb-src \1/p' "$file" >"$folder/parts/$(basename "${file%.list}").list"
done
apt=(apt-get -qq -o "Dir::Etc::sourcelist=/dev/null" -o "Dir::Etc::sourceparts=$folder/parts"
  -o "Dir::State::lists=$folder/lists" -o APT::Sandbox::User=root)

rows=()
# unpack PACKAGE SOURCE: the source of an installed package lies in source/SOURCE.
unpack() {
  local version
  version=$(dpkg-query -W -f '${source:Version}' "$1:$(dpkg --print-architecture)")
  (cd "$folder/source" && "${apt[@]}" source --download-only "$2=$version" &&
    rm -rf "$2" && dpkg-source --no-check -x "$2"_*.dsc "$2" >/dev/null)
  rows+=("$2	$version	$(sha256sum "$folder/source/$2"_*.dsc | cut -d' ' -f1)")
}
