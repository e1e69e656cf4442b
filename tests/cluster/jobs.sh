# shellcheck shell=bash
# What the tests of samples/cluster share. They set PROGRAM and SAMPLES before.
#
# A job is held by making its op.json a named pipe, for which dmlop waits. So a process can be killed after
# exactly so many jobs.

job_count=300 # about: as many copies of each sample
readonly shard_count=4
declare -a shard_size done_before held # by shard
# Ends before ctest's limit, so that the trap tidies up.
readonly seconds_max=100

export DMLOP_DEVICE=cpu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
jobs=$work/jobs
results=$work/results

fail() {
  echo "FAILED: $1" >&2
  exit 1
}

skip() {
  echo "SKIPPED: $1"
  exit 77
}

# need PROGRAM PACKAGE ...
need() {
  while [ $# -gt 0 ]; do
    PATH=$PATH:/usr/sbin command -v "$1" >/dev/null || skip "$1 is missing; install the package $2"
    shift 2
  done
}

# wait_for WHAT COMMAND...
wait_for() {
  local what=$1
  shift
  until "$@"; do
    [ $SECONDS -lt $seconds_max ] || fail "$what: not within $seconds_max seconds"
    sleep 0.1
  done
}

# equal WHAT ACTUAL EXPECTED
equal() {
  [ "$2" = "$3" ] || fail "$1 is $2, must be $3"
}

# Copies of the samples, each with its golden file.
make_jobs() {
  local group samples
  samples=("$SAMPLES"/*/op.json)
  samples=("${samples[@]%/op.json}")
  for ((group = 0; group < job_count / ${#samples[@]}; ++group)); do
    mkdir -p "$jobs/$group"
    cp -r "${samples[@]}" "$jobs/$group"
  done
  job_count=$((group * ${#samples[@]}))
}

# The ids of the records in files of results, but of jobs that a run ended before.
ids_of() {
  sed -n '/^{"id":"[^"]*","status":"NOT_RUN"/d; s/^{"id":"\([^"]*\)".*/\1/p' "$@"
}

records_of() {
  { ids_of "$results/$1.jsonl" 2>/dev/null || true; } | wc -l
}

has_records() {
  [ "$(records_of "$1")" = "$2" ]
}

# hold SHARD: holds the job in the middle of a shard, after done_before of shard_size jobs.
hold() {
  local ids
  mapfile -t ids < <("$PROGRAM" batch "$jobs" --shard "$1/$shard_count" --jobs 1 -q --results - |
    ids_of -)
  shard_size[$1]=${#ids[@]}
  done_before[$1]=$((${#ids[@]} / 2))
  held[$1]=$jobs/${ids[done_before[$1]]}/op.json
  mv "${held[$1]}" "${held[$1]}.kept"
  mkfifo "${held[$1]}"
}

# release SHARD: who waits is dead; those who come read the file.
release() {
  mv "${held[$1]}.kept" "${held[$1]}"
}

# make_program OPTION...: the program for the samples to start; its process id is known by shard.
make_program() {
  cat >"$work/dmlop" <<TEXT
#!/bin/sh
previous=
for argument; do
  if [ "\$previous" = --shard ]; then echo \$\$ >"$work/pid.\${argument%/*}"; fi
  previous=\$argument
done
exec "$PROGRAM" "\$@" $*
TEXT
  chmod +x "$work/dmlop"
  export DMLOP=$work/dmlop
}

# kill_task SHARD: kills its process if that still runs.
kill_task() {
  local pid
  pid=$(cat "$work/pid.$1" 2>/dev/null) || return 0
  if [ "/proc/$pid/exe" -ef "$PROGRAM" ]; then kill -KILL "$pid"; fi
}

kill_tasks() {
  local shard
  for ((shard = 0; shard < shard_count; ++shard)); do kill_task $shard; done
}

# Whether each job has one record in the files of all shards.
check_records() {
  ids_of "$results"/*.jsonl | sort >"$work/ids"
  find "$jobs" -name op.json -printf '%P\n' | sed 's|/op.json$||' | sort >"$work/expected_ids"
  cmp "$work/ids" "$work/expected_ids" || fail "not every job has exactly one record"
  equal "the number of records" "$(wc -l <"$work/ids")" $job_count
}

# check_report XML TEXT: what the merge wrote and said.
check_report() {
  grep -q "<testsuites name=\"dmlop\" tests=\"$job_count\" failures=\"0\" errors=\"0\" skipped=\"0\"" "$1" ||
    fail "JUnit counts: $(grep '<testsuites' "$1")"
  equal "the number of test cases" "$(grep -c '<testcase' "$1")" $job_count
  grep -q "^$job_count jobs in .*: $job_count PASSED" <<<"$2" || fail "the merge said: $2"
}
