#!/usr/bin/env bash
# same_bytes_test.sh PROGRAM NATIVE SAMPLES CONFORMANCE: the cases and samples of the first operators, by dmlop.exe and
# by the build of this system, on the CPU and on the GPU: the same files, byte for byte. LP pooling on a GPU
# is compared within the ULPs that it promises.
set -euo pipefail
program=$1 native=$2 samples=$3 conformance=$4
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir samples
for operator in lp_pooling padding reverse_subsequences slice1; do ln -s "$samples/$operator" samples/; done
ln -s "$conformance" conformance

gpu_of() { "$1" devices | sed -nE 's/^((vulkan|d3d12):[0-9]+) .*software.*/\1/p' | head -1; }
# The outputs of all jobs in folder NAME; those of jobs that are to be refused are missing.
run_all() {
  local name=$1 start=$2 device=$3 jobs code
  for jobs in samples conformance/public conformance/directml; do
    code=0
    "$start" batch "$jobs" --device "$device" --out "$name/$jobs" --results "$name-${jobs//\//-}.jsonl" -q \
      >"$name.log" 2>&1 || code=$?
    [ "$code" -le 3 ] || { cat "$name.log"; echo "FAILED: $name: exit $code"; exit 1; }
  done
}
native_gpu=$(gpu_of "$native")
windows_gpu=$(gpu_of "$program")
[ -n "$windows_gpu" ] || { echo "FAILED: dmlop.exe lists no GPU"; exit 1; }
run_all cpu "$native" cpu
run_all windows-cpu "$program" cpu
run_all windows-gpu "$program" "$windows_gpu"
others="windows-cpu windows-gpu"
if [ -n "$native_gpu" ]; then
  run_all gpu "$native" "$native_gpu"
  others="$others gpu"
fi

count=$(find cpu -name '*.npy' | wc -l)
[ "$count" -gt 400 ] || { echo "FAILED: only $count outputs"; exit 1; }
failures=0
for other in $others; do
  [ "$(cd cpu && find . -name '*.npy' | sort)" = "$(cd $other && find . -name '*.npy' | sort)" ] || {
    echo "FAILED: $other has other files than cpu"
    failures=$((failures + 1))
  }
  same=0 near=0
  while read -r file; do
    if cmp -s "cpu/$file" "$other/$file"; then
      same=$((same + 1))
    elif [ $other != windows-cpu ] && "$native" compare "cpu/$file" "$other/$file" --ulp 4 --allow-trivial -q; then
      near=$((near + 1))
    else
      echo "FAILED: $other/$file differs from cpu/$file"
      failures=$((failures + 1))
    fi
  done < <(cd cpu && find . -name '*.npy')
  echo "$other: of $count files $same are the same, $near within 4 ULP"
done
exit $((failures > 0))
