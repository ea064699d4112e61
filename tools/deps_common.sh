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
# The versions of a source that apt lists with the same upstream release as VERSION, VERSION first. A mirror may hold the
# packages of a security update but not its source.
versions_of() {
  local source=$1 version=$2
  echo "$version"
  "${apt[@]/#apt-get/apt-cache}" showsrc "$source" 2>/dev/null | sed -n 's/^Version: //p' | sort -ruV |
    grep -F -- "${version%-*}-" | grep -vxF -- "$version" || true
}
# unpack PACKAGE SOURCE: the source of an installed package lies in source/SOURCE.
unpack() {
  local installed version found=
  installed=$(dpkg-query -W -f '${source:Version}' "$1:$(dpkg --print-architecture)")
  for version in $(versions_of "$2" "$installed"); do
    (cd "$folder/source" && "${apt[@]}" source --download-only "$2=$version") || continue
    found=$version
    break
  done
  [ -n "$found" ] || need "the source of $2 $installed" "no archive of this system has it"
  [ "$found" = "$installed" ] || echo "$2: source of $found, as $installed (installed) could not be fetched" >&2
  (cd "$folder/source" && rm -rf "$2" && dpkg-source --no-check -x "$2"_*.dsc "$2" >/dev/null)
  rows+=("$2	$found	$(sha256sum "$folder/source/$2"_*.dsc | cut -d' ' -f1)")
}
