#!/usr/bin/env bash
# clang-tidy over the .cc files that differ from the main branch (or from the last commit when on
# it), or over all with --all. Reads build/dev/compile_commands.json; the warnings of GCC that it
# names are unknown to clang, as are its parameters for the compiler's own memory; its -Werror would make errors of
# what clang says of the standard library's headers.
set -euo pipefail
cd "$(dirname "$0")/.."

tidy=$(command -v clang-tidy-19 || command -v clang-tidy) || {
  echo "clang-tidy is missing: tools/install_deps.sh check" >&2
  exit 2
}
case "$("$tidy" --version)" in
  *"version 19."*) ;;
  *) echo "note: the house linter is clang-tidy 19; $tidy may know fewer checks" >&2 ;;
esac

if [ "${1:-}" = --all ]; then
  mapfile -t files < <(git ls-files -- 'src/*.cc' 'tests/*.cc')
else
  base=$(git merge-base HEAD origin/HEAD 2>/dev/null || git rev-parse HEAD)
  [ "$base" != "$(git rev-parse HEAD)" ] || base=$(git rev-parse -q --verify HEAD~1 || echo "$base")
  mapfile -t files < <(git diff --name-only --diff-filter=d "$base" -- 'src/*.cc' 'tests/*.cc')
fi
if [ ${#files[@]} = 0 ]; then
  echo "tidy: nothing changed"
  exit 0
fi
printf '%s\n' "${files[@]}" | xargs -P "$(nproc)" -n 1 "$tidy" -p build/dev --quiet --extra-arg=-Wno-error --extra-arg=-Wno-unknown-warning-option \
  --extra-arg=-Wno-unused-command-line-argument
echo "tidy: ${#files[@]} files fine"
