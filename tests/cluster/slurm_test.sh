#!/usr/bin/env bash
# slurm_test.sh PROGRAM SAMPLES: runs samples/cluster/slurm.sh on a Slurm of its own: one node, all daemons
# and files in a temporary folder, no systemd, no cgroups. Of four tasks, one is killed and requeued, and one
# is requeued while it runs.
set -euo pipefail
PROGRAM=$1
SAMPLES=$2
source "$(dirname "${BASH_SOURCE[0]}")/jobs.sh"
need munged munge slurmctld slurmctld slurmd slurmd sbatch slurm-client
PATH=$PATH:/usr/sbin

daemons=()
tidy_up() {
  local code=$?
  kill_tasks
  if [ ${#daemons[@]} -gt 0 ]; then
    end_jobs
    kill -TERM "${daemons[@]}" 2>/dev/null || true
    wait "${daemons[@]}" 2>/dev/null || true
  fi
  if [ $code -ne 0 ] && [ $code -ne 77 ]; then tail -n 20 "$work"/*.log "$work"/slurm-*.out >&2 || true; fi
  rm -rf "$work"
}
trap tidy_up EXIT

# Without slurmd the processes that look after tasks would not end.
end_jobs() {
  local i
  scancel --name=dmlop 2>/dev/null || return 0
  for ((i = 0; i < 50; ++i)); do
    [ -n "$(squeue --noheader 2>/dev/null)" ] || break
    sleep 0.2
  done
}

# start NAME COMMAND...
start() {
  local log=$work/$1.log
  shift
  "$@" >"$log" 2>&1 &
  daemons+=($!)
}

# free_port FIRST
free_port() {
  local port
  for ((port = $1; ; ++port)); do
    (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || break
  done
  echo "$port"
}

start_slurm() {
  local user host port
  user=$(id -un)
  host=$(hostname -s)
  port=$(free_port $((20000 + RANDOM % 10000)))
  export SLURM_CONF=$work/slurm.conf
  mkdir -p "$work/state" "$work/spool"
  cat >"$SLURM_CONF" <<TEXT
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmUser=$user
SlurmdUser=$user
SlurmctldPort=$port
AuthType=auth/munge
AuthInfo=socket=$work/munge.socket,cred_expire=5
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/builtin
SchedulerParameters=sched_interval=1
MpiDefault=none
ReturnToService=2
SlurmdParameters=config_overrides
KillWait=1
NodeName=node NodeHostname=$host NodeAddr=127.0.0.1 Port=$(free_port $((port + 1))) CPUs=$shard_count
PartitionName=all Nodes=node Default=YES MaxTime=INFINITE State=UP
TEXT
  # Versions that know this word want cgroups without it.
  [[ $(slurmd -V) =~ \ 2[0-3]\. ]] || echo "CgroupPlugin=disabled" >"$work/cgroup.conf"
  (umask 077 && head -c 128 /dev/urandom >"$work/munge.key")
  start munged munged --foreground --force --key-file="$work/munge.key" --socket="$work/munge.socket" \
    --pid-file="$work/munged.pid" --seed-file="$work/munge.seed" --log-file="$work/munge.log"
  wait_for "munged" test -S "$work/munge.socket"
  start slurmctld slurmctld -D -i
  start slurmd slurmd -D -N node
  wait_for "a node that is idle" node_is_idle
}

node_is_idle() {
  if ! kill -0 "${daemons[2]}" 2>/dev/null; then
    grep -qi cgroup "$work/slurmd.log" && skip "slurmd needs cgroups here: $(tail -n 1 "$work/slurmd.log")"
    fail "slurmd ended"
  fi
  [ "$(sinfo --noheader --format=%T 2>/dev/null)" = idle ]
}

# field NAME TASK: of scontrol's description.
field() {
  scontrol show job "${array}_$2" 2>/dev/null | grep -o "\b$1=[^ ]*" | cut -d= -f2
}

is() {
  [ "$(field "$1" "$2")" = "$3" ]
}

make_jobs
make_program
hold 1
hold 2
start_slurm

array=$(cd "$work" && sbatch --parsable --array=0-$((shard_count - 1)) --cpus-per-task=1 \
  "$SAMPLES/cluster/slurm.sh" jobs results)
for shard in 1 2; do
  wait_for "task $shard up to its held job" has_records $shard "${done_before[shard]}"
done
kill_task 1
wait_for "the end of task 1" is JobState 1 FAILED
equal "the exit code and signal of task 1" "$(field ExitCode 1)" 0:9
for shard in 1 2; do
  equal "the number of records of task $shard" "$(records_of $shard)" "${done_before[shard]}"
  cp "$results/$shard.jsonl" "$work/killed$shard.jsonl"
done

scontrol requeue "${array}_1"
scontrol requeue "${array}_2" # it still runs: Slurm ends it first
release 1
release 2
for ((shard = 0; shard < shard_count; ++shard)); do
  wait_for "task $shard" is JobState $shard COMPLETED
done
for shard in 1 2; do
  equal "the restarts of task $shard" "$(field Restarts $shard)" 1
  cmp -n "$(wc -c <"$work/killed$shard.jsonl")" "$work/killed$shard.jsonl" "$results/$shard.jsonl" ||
    fail "records of task $shard from before the end changed"
  equal "the number of records of task $shard" "$(records_of $shard)" "${shard_size[shard]}"
  grep -q "(${done_before[shard]} from an earlier run)" "$work/slurm-${array}_$shard.out" ||
    fail "task $shard does not resume"
done
check_records

text=$("$PROGRAM" batch --merge "$results"/*.jsonl --junit "$work/all.xml" --html "$work/all.html") ||
  fail "the merge: exit code $?: $text"
check_report "$work/all.xml" "$text"
echo "$job_count jobs in $shard_count tasks: each done once"
echo "Task 1 was killed after ${done_before[1]} of ${shard_size[1]} jobs."
echo "Task 2 was requeued after ${done_before[2]} of ${shard_size[2]} jobs."
