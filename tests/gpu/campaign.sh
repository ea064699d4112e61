#!/usr/bin/env bash
# Runs Assay's measurements on a machine with a GPU, one step after the other, each with its own
# time limit, and keeps what each one says: OUT/STEP.json, OUT/STEP.log, raw records under
# OUT/records, and a summary in OUT/campaign.json. A step that fails or runs out of time does not
# stop the others. Nothing here changes a GPU's clocks, power limits or modes.
#
#   tests/gpu/campaign.sh --out DIR [--only STEP]... [--device auto] [--assay PATH] [--list]
#
# Exit code: 0 when every step that ran succeeded, 1 when one did not, 2 for wrong use.
set -uo pipefail

out= assay=assay device=auto list=0
only=()
usage() { sed -n '2,9s/^# \{0,1\}//p' "$0" >&2; exit 2; }
while [ $# -gt 0 ]; do
  case $1 in
    --out) out=${2:-}; shift 2 || usage ;;
    --only) only+=("${2:-}"); shift 2 || usage ;;
    --device) device=${2:-}; shift 2 || usage ;;
    --assay) assay=${2:-}; shift 2 || usage ;;
    --list) list=1; shift ;;
    *) usage ;;
  esac
done

# step, seconds, arguments of assay (SENSOR and RECORDS are replaced)
steps() {
  cat <<'STEPS'
power_calibrate 240 power calibrate --calibration SENSOR
power_cb_2k 120 power run --calibration SENSOR --record RECORDS --workload gemm:2048
power_cb_4k 120 power run --calibration SENSOR --record RECORDS --workload gemm:4096
power_cb_8k 180 power run --calibration SENSOR --record RECORDS --workload gemm:8192
power_mb_2k 120 power run --force --calibration SENSOR --record RECORDS --workload gemv:2048
power_mb_4k 120 power run --force --calibration SENSOR --record RECORDS --workload gemv:4096
power_mb_8k 120 power run --force --calibration SENSOR --record RECORDS --workload gemv:8192
power_sse_ssp 180 power run --paper-counts --calibration SENSOR --record RECORDS --workload gemm:4096
power_interleaved 180 power run --calibration SENSOR --record RECORDS --workload 60*gemm:2048,1*gemm:8192
STEPS
}

if [ "$list" = 1 ]; then
  steps | cut -d' ' -f1,2
  exit 0
fi
[ -n "$out" ] || usage
for name in ${only[@]+"${only[@]}"}; do
  steps | cut -d' ' -f1 | grep -qxF -- "$name" || { echo "no step '$name'; --list names them" >&2; exit 2; }
done
mkdir -p "$out/records" || exit 2
command -v "$assay" >/dev/null || { echo "assay is not on PATH; give --assay" >&2; exit 2; }

wanted() {
  [ ${#only[@]} -eq 0 ] && return 0
  local name
  for name in "${only[@]}"; do [ "$name" = "$1" ] && return 0; done
  return 1
}

failed=0
rows=()
# Split at spaces only: a * in a workload is no file name.
set -f
while read -r name limit arguments; do
  wanted "$name" || continue
  # shellcheck disable=SC2086
  set -- $arguments
  words=()
  for word; do
    case $word in
      SENSOR) word=$out/sensor.json ;;
      RECORDS) word=$out/records/$name ;;
    esac
    words+=("$word")
  done
  echo "$name (at most $limit s)" >&2
  started=$(date +%s)
  timeout --kill-after=10 "$limit" "$assay" "${words[@]}" --device "$device" --format json \
    >"$out/$name.json" 2>"$out/$name.log" </dev/null
  code=$?
  seconds=$(($(date +%s) - started))
  status=ok
  [ $code -ne 0 ] && status=failed && failed=1
  { [ $code -eq 124 ] || [ $code -eq 137 ]; } && status=out_of_time
  [ $status != ok ] && tail -n 3 "$out/$name.log" >&2
  rows+=("$(printf '{"step": "%s", "status": "%s", "exit_code": %d, "seconds": %d, "limit_s": %d}' \
    "$name" "$status" "$code" "$seconds" "$limit")")
done < <(steps)

{
  printf '{\n  "schema_version": 1,\n  "device": "%s",\n  "steps": [' "${device//[\"\\]/_}"
  separator=$'\n    '
  for row in ${rows[@]+"${rows[@]}"}; do
    printf '%s%s' "$separator" "$row"
    separator=$',\n    '
  done
  printf '\n  ]\n}\n'
} >"$out/campaign.json"
exit $failed
