#!/usr/bin/env bash
# A gate in anybody's continuous integration: fetches a release, compares two sides, leaves with the code of
# `assay diff`. action.yml calls it; on other systems set the variables and call it.
#
#   ASSAY_BASE, ASSAY_NEW    traces, folders or patterns
#   ASSAY_VERSION            the release, e.g. 0.2.0
#   ASSAY_GATES              one a line, e.g. tklqt>+10%
#   ASSAY_STRICT             true: data lost on import is a failure (default)
#   ASSAY_COMMENT            true: the report goes into the job's summary, where there is one (default)
#   ASSAY_ARCHIVE            an archive that is here already; else it is fetched from
#   ASSAY_RELEASES           or of github.com's ASSAY_REPOSITORY (OWNER/NAME), and checked against
#   ASSAY_SHA256             or the release's SHA256SUMS
#   ASSAY_OUT                the folder for what it writes: assay-diff.md, .xml (JUnit), .html (default: here)
#
# Everything comes from the environment, and nothing of it becomes shell text: a branch or file name is no command.
set -euo pipefail
fail() { echo "assay gate: $1" >&2; exit 2; }

: "${ASSAY_BASE:?}" "${ASSAY_NEW:?}" "${ASSAY_VERSION:?}"
[[ $ASSAY_VERSION =~ ^[0-9]+(\.[0-9]+)*$ ]] || fail "'$ASSAY_VERSION' is no version"
name=assay-$ASSAY_VERSION-linux-$(uname -m)
folder=$(mktemp -d "${RUNNER_TEMP:-${TMPDIR:-/tmp}}/assay.XXXXXX")
trap 'rm -rf "$folder"' EXIT

fetch() { curl --proto '=https,http' -fsSL --retry 3 -o "$folder/$1" "$releases/$1" || fail "$releases/$1 was not fetched"; }
archive=${ASSAY_ARCHIVE:-}
if [ -z "$archive" ]; then
  releases=${ASSAY_RELEASES:-https://github.com/${ASSAY_REPOSITORY:?}/releases/download}/v$ASSAY_VERSION
  fetch "$name.tar.xz"
  archive=$folder/$name.tar.xz
  wanted=${ASSAY_SHA256:-}
  if [ -z "$wanted" ]; then
    fetch SHA256SUMS
    wanted=$(awk -v name="$name.tar.xz" '$2 == name {print $1}' "$folder/SHA256SUMS")
  fi
  [ "$(sha256sum "$archive" | cut -d' ' -f1)" = "$wanted" ] || fail "$name.tar.xz is not what its checksum says"
fi
tar -xJf "$archive" -C "$folder"
assay=$folder/$name/bin/assay

flags=()
while IFS= read -r gate; do
  gate=${gate%$'\r'}
  [[ $gate =~ ^[[:space:]]*$ ]] || flags+=("--fail-on=$gate")
done <<<"${ASSAY_GATES:-}"
[ "${ASSAY_STRICT:-true}" = true ] && flags+=(--strict)
mkdir -p "${ASSAY_OUT:-.}"
out=${ASSAY_OUT:-.}/assay-diff
rm -f "$out.md" "$out.xml" "$out.html"

code=0
"$assay" diff --format=md "--output=$out.md" "--junit=$out.xml" "${flags[@]}" -- "$ASSAY_BASE" "$ASSAY_NEW" || code=$?
# The gates were judged above; the page is for reading.
if [ -e "$out.md" ]; then
  "$assay" diff "--output=$out.html" -- "$ASSAY_BASE" "$ASSAY_NEW" || rm -f "$out.html"
  if [ "${ASSAY_COMMENT:-true}" = true ] && [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then
    cat "$out.md" >>"$GITHUB_STEP_SUMMARY"
  fi
fi
if [ -n "${GITHUB_OUTPUT:-}" ]; then
  for pair in report:html markdown:md junit:xml; do
    file=$out.${pair#*:}
    [ -e "$file" ] || file=
    echo "${pair%:*}=$file"
  done >>"$GITHUB_OUTPUT"
  echo "crossed=$([ $code = 1 ] && echo true || echo false)" >>"$GITHUB_OUTPUT"
fi
exit $code
