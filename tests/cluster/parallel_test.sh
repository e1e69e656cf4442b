#!/usr/bin/env bash
# parallel_test.sh PROGRAM SAMPLES: runs samples/cluster/parallel.sh; one process is killed midway, and the
# second run does what is missing.
set -euo pipefail
PROGRAM=$1
SAMPLES=$2
source "$(dirname "${BASH_SOURCE[0]}")/jobs.sh"
need parallel parallel
parallel --version 2>/dev/null | grep -q '^GNU parallel' ||
  skip "parallel is another program than GNU parallel"

first=
tidy_up() {
  kill_tasks
  [ -z "$first" ] || wait "$first" 2>/dev/null || true
  rm -rf "$work"
}
trap tidy_up EXIT

run() {
  "$SAMPLES/cluster/parallel.sh" "$jobs" "$results" $shard_count --jobs 2
}

make_jobs
make_program --jobs 1
hold 1

run >"$work/first.log" 2>&1 &
first=$!
wait_for "shard 1 up to its held job" has_records 1 "${done_before[1]}"
kill_task 1
code=0
wait "$first" || code=$?
first=
equal "the exit code with a killed process" $code 5
grep -q "1.jsonl: error: the run that wrote this file did not finish" "$work/first.log" ||
  fail "the merge does not name the killed shard: $(cat "$work/first.log")"
equal "the number of records of the killed process" "$(records_of 1)" "${done_before[1]}"
cp "$results/1.jsonl" "$work/killed.jsonl"

release 1
text=$(run 2>"$work/second.log") || fail "the second run: exit code $?: $text $(cat "$work/second.log")"
cmp -n "$(wc -c <"$work/killed.jsonl")" "$work/killed.jsonl" "$results/1.jsonl" ||
  fail "records of the killed process changed"
equal "the number of records of shard 1" "$(records_of 1)" "${shard_size[1]}"
grep -q "(${done_before[1]} from an earlier run)" <<<"$text" ||
  fail "the second run does not resume: $text"
check_records
check_report "$results/all.xml" "$(tail -n 1 <<<"$text")"
[ -s "$results/all.html" ] || fail "there is no HTML report"

code=0
"$SAMPLES/cluster/parallel.sh" "$work/nowhere" "$results" $shard_count >"$work/third.log" 2>&1 || code=$?
equal "the exit code without jobs, with results of earlier runs" $code 5

# After one job none comes and no end: TERM ends the run, and the records say so.
mkfifo "$work/endless.jsonl"
exec 3<>"$work/endless.jsonl"
tr '\n' ' ' <"$SAMPLES/padding/op.json" |
  sed "s|\"InputTensor.npy\"|\"$SAMPLES/padding/InputTensor.npy\"|; s|\$|\n|" >&3
"$SAMPLES/cluster/parallel.sh" "$work/endless.jsonl" "$work/stopped" 1 >"$work/fourth.log" 2>&1 &
first=$!
wait_for "the only record" test -s "$work/stopped/0.jsonl"
kill -TERM "$first"
code=0
wait "$first" || code=$?
first=
equal "the exit code after TERM" $code 5
grep -q '"PASSED":1.*"interrupted"' "$work/stopped/0.jsonl" ||
  fail "no summary after TERM: $(cat "$work/fourth.log")"

echo "$job_count jobs in $shard_count shards: each done once"
echo "Shard 1 was killed after ${done_before[1]} of ${shard_size[1]} jobs."
