#!/usr/bin/env bash
# Runs a batch with GNU parallel, one shard a process, and reports on all of them:
#
#   parallel.sh JOBS OUTDIR SHARDS [OPTION OF GNU PARALLEL]...
#
#   parallel.sh jobs out 8 --sshlogin alpha,beta     # a shard at a time on each machine
#   parallel.sh jobs out 4 --jobs 4                  # four at a time on this one
#
# Each process uses all cores of its machine. Run again, it does what is missing.
set -euo pipefail

if [ $# -lt 3 ]; then
  echo "usage: parallel.sh JOBS OUTDIR SHARDS [OPTION OF GNU PARALLEL]..." >&2
  exit 2
fi
mkdir -p "$2"
jobs=$(realpath "$1")
results=$(realpath "$2")
shards=$3
shift 3

# TERM and Ctrl-C let each dmlop finish its running jobs. Meanwhile `wait` returns more than once.
parallel --quote --jobs 1 --termseq TERM,30000,KILL,25 "$@" \
  "${DMLOP:-dmlop}" batch "$jobs" --shard "{}/$shards" --allow-empty \
  --resume --results "$results/{}.jsonl" --out "$results/outputs" \
  ::: $(seq 0 $((shards - 1))) &
trap 'kill -TERM $!' INT TERM
failed=0
while wait $! || failed=$?; kill -0 $! 2>/dev/null; do :; done

"${DMLOP:-dmlop}" batch --merge "$results"/*.jsonl \
  --junit "$results/all.xml" --html "$results/all.html" || exit
if [ "$failed" -ne 0 ]; then
  echo "parallel.sh: error: all records are from earlier runs; parallel ended with $failed" >&2
  exit 5
fi
