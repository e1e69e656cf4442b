#!/usr/bin/env bash
# on_device.sh [--cases] DEVICE [PROGRAM]: runs the tests of all operators, and every case that the real DirectML
# computed, on a device of `dmlop devices`, with as many processes at once as there are processors. Ends with how many
# of the stored cases agree.
#
#   --cases   only the stored cases
#   DEVICE    "cpu", "vulkan:0", "d3d12:0"
#   PROGRAM   the tests, build/dmlop_tests by default; in a Windows build "wine build-windows/dmlop_tests.exe"
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

only_cases=
if [ "${1:-}" = --cases ]; then
  only_cases=1
  shift
fi
[ $# -ge 1 ] && [ $# -le 2 ] || {
  sed -n '2,9s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
  exit 2
}
device=$1
program=${2:-$here/../build/dmlop_tests}
export DMLOP_TEST_EVERY_CASE=1
if [ "$device" != cpu ]; then export DMLOP_TEST_BACKENDS=gpu DMLOP_TEST_DEVICE=$device; fi

processes=$(nproc)
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT

# A line for each process: the name of its log, then its arguments. The stored cases are cut into more parts than there
# are processors, so that none ends long after the others.
commands() {
  local part parts=$((processes * 4)) file
  for ((part = 0; part < parts; ++part)); do
    echo "cases.$part DMLOP_TEST_PART=$part/$parts --source-file=*/golden_cases_test.cpp --test-case=*gives*what*DirectML*gives"
  done
  [ -z "$only_cases" ] || return 0
  for file in "$here"/operators/*_test.cpp "$here"/models/model_run_test.cpp; do
    case $file in */golden_cases_test.cpp) continue ;; esac
    echo "$(basename "$file" .cpp) --source-file=*/$(basename "$file")"
  done
}

run_one() {
  local log=$1 setting=
  shift
  case $1 in *=*/*[0-9]) setting=$1 ;; esac
  [ -z "$setting" ] || shift
  # shellcheck disable=SC2086  # a program may have words of its own
  env $setting $DMLOP_PROGRAM_OF_TESTS "$@" >"$DMLOP_LOGS/$log" 2>&1 ||
    { echo "FAILED: $log"; grep -E "ERROR|FATAL|values:|logged:" -A3 "$DMLOP_LOGS/$log" | head -40; }
}
export -f run_one
export DMLOP_PROGRAM_OF_TESTS=$program DMLOP_LOGS=$logs

commands | xargs -P "$processes" -L 1 bash -c 'run_one "$@"' _ | tee "$logs/failures"

awk -v device="$device" '
  match($0, /stored cases: .*/) {
    split(substr($0, RSTART + 14), words, " ")
    agree += words[1]; differ += words[3]; cpu += words[5]; parts += 1
  }
  END {
    if (parts == 0) { print "no stored case ran"; exit 1 }
    printf "%s: %d of %d stored cases agree, %d differ, %d of all ran on the CPU instead\n", device, agree, agree + differ, differ, cpu
  }' "$logs"/cases.*
grep -l SKIPPED "$logs"/* | sed 's|.*/|skipped: |' || true
! grep -q FAILED "$logs/failures"
