#!/usr/bin/env bash
# clang-format over every C++ file of the tree: complains, or rewrites with --fix.
set -euo pipefail
cd "$(dirname "$0")/.."

format=$(command -v clang-format-19 || command -v clang-format) || {
  echo "clang-format is missing: tools/install_deps.sh check" >&2
  exit 2
}
case "$("$format" --version)" in
  *" 19."*) ;;
  *) echo "note: the house format is clang-format 19; $format may differ in details" >&2 ;;
esac

mapfile -t files < <(git ls-files --cached --others --exclude-standard -- '*.cc' '*.h')
if [ "${1:-}" = --fix ]; then
  "$format" -i "${files[@]}"
else
  "$format" --dry-run --Werror "${files[@]}"
  echo "format: ${#files[@]} files fine"
fi
