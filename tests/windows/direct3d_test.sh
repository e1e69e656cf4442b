#!/usr/bin/env bash
# direct3d_test.sh PROGRAM NATIVE SAMPLES CONFORMANCE: what Direct3D, its compiler and its cache do when
# they are missing, damaged or there. PROGRAM starts dmlop.exe in Wine.
set -euo pipefail
program=$1
samples=$3
build=$(dirname "$(dirname "$program")")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

failures=0
fail() {
  echo "FAILED: $1"
  sed 's/^/  /' out err
  failures=$((failures + 1))
}
# expect CODE TEXT COMMAND...: the exit code, and a text in what it prints.
expect() {
  local code=0
  "${@:3}" >out 2>err || code=$?
  [ "$code" = "$1" ] || fail "${*:3}: exit $code, not $1"
  grep -qF -- "$2" out err || fail "${*:3}: does not say \"$2\""
}

run=(run "$samples/lp_pooling/op.json" -i "InputTensor=$samples/lp_pooling/InputTensor.npy" -o out.npy)
golden=(--expect "$samples/lp_pooling/expected/OutputTensor.npy")

expect 0 "d3d12:0" "$program" devices
expect 0 '"luid": "' "$program" devices --format json
expect 0 "PASSED" "$program" "${run[@]}" "${golden[@]}" --device d3d12:0
expect 4 "only software drivers were found: d3d12:0" "$program" "${run[@]}" --gpu
expect 4 'no device fits "d3d12:7"' "$program" "${run[@]}" --device d3d12:7
expect 2 "d3d12:NUMBER" "$program" "${run[@]}" --device vulkan:0

# Libraries that are missing: the CPU runs all the same.
without() { WINEDLLOVERRIDES="$WINEDLLOVERRIDES;$1=d" "${@:2}"; }
for library in d3d12 dxgi; do
  expect 0 "running on the CPU" without $library "$program" "${run[@]}"
  expect 4 ".dll) cannot be loaded" without $library "$program" "${run[@]}" --gpu
  expect 0 "PASSED" without $library "$program" "${run[@]}" "${golden[@]}" --cpu
done
expect 4 "listing the adapters: DXGI_ERROR_UNSUPPORTED (0x887A0004)" env VK_DRIVER_FILES=/nonexistent VK_ICD_FILENAMES=/nonexistent "$program" "${run[@]}" --gpu

# The compiled shaders are kept; what is damaged is made again.
cache=$(echo "$WINEPREFIX"/drive_c/users/*/AppData/Local/dmlop)
rm -rf "$cache"
expect 0 "PASSED" "$program" "${run[@]}" "${golden[@]}" --device d3d12:0
file=$(echo "$cache"/d3d12-window_norm_*.cache)
[ -f "$file" ] || fail "no shader was kept in $cache"
cp "$file" sound
for damage in "cp /dev/null" "head -c 100 sound >" "printf x >>" "printf x | dd conv=notrunc bs=1 seek=60 of="; do
  cp sound "$file"
  case $damage in
  *of=) eval "$damage'$file'" 2>/dev/null ;;
  *) eval "$damage '$file'" ;;
  esac
  cmp -s sound "$file" && fail "not damaged by: $damage"
  expect 0 "PASSED" "$program" "${run[@]}" "${golden[@]}" --device d3d12:0
  cmp -s sound "$file" || fail "not made again after: $damage"
done
mtime=$(stat -c %Y.%y "$file")
expect 0 "PASSED" "$program" "${run[@]}" "${golden[@]}" --device d3d12:0
[ "$mtime" = "$(stat -c %Y.%y "$file")" ] || fail "a sound shader was written again"

# A sound file with a shader that the driver refuses, as another compiler or driver may have left it.
kept() { # kept TEXT: the bytes of a cache file that holds TEXT
  local sum=$((0xcbf29ce484222325)) i
  for ((i = 0; i < ${#1}; i++)); do sum=$(((sum ^ $(printf %d "'${1:i:1}")) * 0x100000001b3)); done
  local number
  printf dmloppc1
  for number in ${#1} $sum; do
    for ((i = 0; i < 8; i++)); do printf "\\x$(printf %02x $((number >> 8 * i & 255)))"; done
  done
  printf %s "$1"
}
kept "no shader at all" >"$file"
expect 0 "PASSED" "$program" "${run[@]}" "${golden[@]}" --device d3d12:0
cmp -s sound "$file" || fail "not made again after the driver refused it"

# Libraries come from the system, not from where a stranger may have put them.
mkdir strange
cp "$build/dmlop.exe" strange/
for library in d3d12 dxgi; do printf 'no library' >strange/$library.dll; done
expect 0 "d3d12:0" wine strange/dmlop.exe devices
rm -r strange

# Wine has no debug layer.
expect 4 "install Graphics Tools" env DMLOP_D3D12_DEBUG=1 "$program" "${run[@]}" --gpu
expect 0 "running on the CPU" env DMLOP_D3D12_DEBUG=1 "$program" "${run[@]}"

# Without the compiler: Wine's own, which stands in for it, cannot compile these shaders; a program that
# was compiled before needs none.
mkdir alone
cp "$build/dmlop.exe" alone/
alone() { wine "$folder/alone/dmlop.exe" "$@"; }
expect 0 "PASSED" without d3dcompiler_47 alone "${run[@]}" "${golden[@]}" --device d3d12:0
rm -rf "$cache"
expect 4 "d3dcompiler_47.dll) cannot be loaded" without d3dcompiler_47 alone "${run[@]}" --device d3d12:0
expect 0 "PASSED" without d3dcompiler_47 alone "${run[@]}" "${golden[@]}" --cpu
printf 'no library' >alone/d3dcompiler_47.dll
expect 4 "d3dcompiler_47.dll) cannot be loaded" without d3dcompiler_47 alone "${run[@]}" --device d3d12:0

# Names beyond ASCII, and paths longer than the 260 characters of old.
name="grüß 日本"
expect 0 "$name.npy" "$program" "${run[@]::4}" -o "$name.npy" --cpu
cmp -s "$name.npy" "$samples/lp_pooling/expected/OutputTensor.npy" || fail "$name.npy is not the expected output"
deep=$(printf 'folder-%.0s' {1..20})/$(printf 'deeper-%.0s' {1..20})
mkdir -p "$deep"
expect 0 "$deep/out.npy" "$program" "${run[@]::4}" -o "$deep/out.npy" --cpu
[ -f "$deep/out.npy" ] || fail "no file at the end of a long path"

[ "$failures" = 0 ] && echo "Direct3D: all as expected"
exit $((failures > 0))
