#!/usr/bin/env bash
# Runs a batch as a Slurm job array, one shard a task:
#
#   sbatch --array=0-3 slurm.sh JOBS OUTDIR [SHARDS]
#
# SHARDS is needed to run some of the tasks again: sbatch --array=2 slurm.sh JOBS OUTDIR 4
#
#SBATCH --job-name=dmlop
# After a preemption or the loss of its node a task goes on where it stopped, in the same log.
#SBATCH --requeue
#SBATCH --open-mode=append
# A minute before the time limit the running jobs are finished and the records closed.
#SBATCH --signal=B:TERM@60
set -euo pipefail

if [ $# -lt 2 ] || [ $# -gt 3 ] || [ -z "${SLURM_ARRAY_TASK_ID:-}" ]; then
  echo "usage: sbatch --array=0-3 slurm.sh JOBS OUTDIR [SHARDS]" >&2
  exit 2
fi
jobs=$1
results=$2
shards=${3:-$SLURM_ARRAY_TASK_COUNT}
cpus=${SLURM_CPUS_PER_TASK:-1}

mkdir -p "$results"
# exec: Slurm's signals reach dmlop, and its exit code is the task's.
exec "${DMLOP:-dmlop}" batch "$jobs" --shard "$SLURM_ARRAY_TASK_ID/$shards" --allow-empty \
  --jobs "$cpus" --threads "$cpus" \
  --resume --results "$results/$SLURM_ARRAY_TASK_ID.jsonl" --out "$results/outputs"
