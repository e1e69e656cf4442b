#!/usr/bin/env bash
# Installs what is missing, builds and runs dmlop on Debian 12 or Ubuntu 24.04.
# Where the packages are present, cmake --preset release && cmake --build --preset release does too.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

# The packages, by purpose; the names are the same on Debian 12 and Ubuntu 24.04.
packages_to_build=(
  cmake ninja-build g++ libcli11-dev nlohmann-json3-dev
  glslang-tools spirv-tools libvulkan-dev libvulkan-volk-dev libstb-dev libxxhash-dev
  libhwy-dev
)
packages_to_test=(doctest-dev libvalijson-dev mesa-vulkan-drivers vulkan-validationlayers)
# Tests that need these skip themselves, with the reason, where the system does not have them.
packages_to_test_more=(chromium slurmctld slurmd slurm-client munge parallel python3-yaml)
packages_to_fuzz=(clang libclang-rt-dev)
packages_for_windows=(
  g++-mingw-w64-x86-64-posix binutils-mingw-w64-x86-64 directx-headers-dev wine wine64 xvfb
)

help() {
  cat <<'TEXT'
usage: ./build.sh COMMAND

  demo             build build/dmlop and run the padding sample
  test             build everything and run every test
  test-sanitizers  the same with AddressSanitizer and UndefinedBehaviorSanitizer, in build-asan/
  fuzz [SECONDS] [TARGET...]
                   feed each fuzz target made-up bytes for so long (60), in build-fuzz/; what breaks one
                   is kept there, and the corpora are, so that the next time goes on from them
  test-windows     build dmlop.exe with mingw-w64, in build-windows/, and run its tests under Wine
  clean            remove the build folders

Packages that are missing are installed with apt-get, as root or with sudo.
TEXT
}

fail() {
  printf 'build.sh: error: %s\n' "$1" >&2
  exit "${2:-1}"
}

# Prints those of the packages that are not installed, one per line.
missing() {
  local package
  for package in "$@"; do
    dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed ||
      printf '%s\n' "$package"
  done
}

# Installs those of the packages that are missing.
need() {
  command -v dpkg-query >/dev/null ||
    fail "packages can be installed on Debian and Ubuntu only; elsewhere install what the lists at the top of this script name, then run: cmake --preset release && cmake --build --preset release"
  local absent
  mapfile -t absent < <(missing "$@")
  [ ${#absent[@]} -gt 0 ] || return 0

  local as_root=(env DEBIAN_FRONTEND=noninteractive)
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null ||
      fail "packages are missing and there is neither root nor sudo; as root run: apt-get install ${absent[*]}"
    as_root=(sudo "${as_root[@]}")
  fi
  echo "Installing ${absent[*]} ..."
  # A package source that fails may be one that nothing here needs: the installation decides.
  "${as_root[@]}" apt-get update -qq || echo "build.sh: warning: apt-get update failed" >&2
  "${as_root[@]}" apt-get install -qq -y --no-install-recommends -o DPkg::Lock::Timeout=300 \
    -o Dpkg::Use-Pty=0 "${absent[@]}" >/dev/null ||
    fail "installing failed; as root run: apt-get install ${absent[*]}"
}

# Installs those of the packages that are missing and that the package sources have.
need_if_available() {
  local package available=()
  for package in $(missing "$@"); do
    if apt-cache show "$package" >/dev/null 2>&1; then available+=("$package"); fi
  done
  [ ${#available[@]} -eq 0 ] || need "${available[@]}"
}

# The driver of the browser for the tests of HTML reports.
need_browser_driver() {
  [ ! -d tests/html/node_modules ] && command -v npm >/dev/null || return 0
  npm ci --prefix tests/html --ignore-scripts --no-audit --no-fund >/dev/null ||
    echo "build.sh: warning: installing playwright-core failed; the browser is not tested" >&2
}

# configure PRESET OPTION...: says nothing unless it fails.
configure() {
  local log
  log=$(cmake --preset "$@" 2>&1) || fail "configuring failed:
$log"
}

# Prints a command as it would be typed, then runs it.
show() {
  printf '\n$ %s\n' "$*"
  "$@"
}

demo() {
  need "${packages_to_build[@]}"
  # Tests are configured where their packages are present, so that a test before is not undone.
  local tests=ON
  [ -z "$(missing "${packages_to_test[@]}")" ] || tests=OFF
  configure release -DDMLOP_TESTS=$tests
  cmake --build --preset release --target dmlop
  show cat samples/padding/op.json
  show build/dmlop inspect samples/padding/InputTensor.npy
  show build/dmlop run --cpu samples/padding/op.json -o build/padded.npy
  show build/dmlop inspect build/padded.npy
  show cmp build/padded.npy samples/padding/expected/OutputTensor.npy
  echo "The output is the expected one, byte for byte."
}

# run_tests PRESET
run_tests() {
  need "${packages_to_build[@]}" "${packages_to_test[@]}"
  need_if_available "${packages_to_test_more[@]}"
  need_browser_driver
  configure "$1" -DDMLOP_TESTS=ON
  cmake --build --preset "$1"
  ctest --preset "$1" --parallel "$(nproc)"
}

# fuzz [SECONDS] [TARGET...]: as many targets at once as there are processors.
fuzz() {
  local seconds=${1:-60} target status=0
  case $seconds in *[!0-9]* | "") fail "SECONDS is a whole number, not \"$seconds\"" 2 ;; esac
  [ $# -eq 0 ] || shift
  need "${packages_to_build[@]}" "${packages_to_test[@]}" "${packages_to_fuzz[@]}"
  configure fuzz
  cmake --build --preset fuzz
  local folder=build-fuzz/fuzz targets=("$@")
  [ ${#targets[@]} -gt 0 ] || mapfile -t targets < <(build-fuzz/dmlop_fuzz --targets | cut -d ' ' -f 1)
  for target in "${targets[@]}"; do
    while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do wait -n || status=1; done
    fuzz_target "$target" "$seconds" "$folder" &
  done
  while [ "$(jobs -rp | wc -l)" -gt 0 ]; do wait -n || status=1; done
  return $status
}

# fuzz_target TARGET SECONDS FOLDER: prints one line; fails where an input breaks the target.
fuzz_target() {
  local corpus=$3/$1/corpus found=$3/$1/found log=$3/$1/log
  mkdir -p "$corpus" "$found"
  build-fuzz/dmlop_fuzz --target="$1" --seeds="$3/$1/seeds" >"$log"
  if build-fuzz/dmlop_fuzz --target="$1" "$corpus" "$3/$1/seeds" -dict=tests/fuzz/words.dict \
    -artifact_prefix="$found/" -max_total_time="$2" -timeout=20 -rss_limit_mb=2048 -max_len=8192 \
    -print_final_stats=1 >>"$log" 2>&1; then
    printf '%-12s %s executions in %s s, %s inputs in the corpus, nothing found\n' "$1" \
      "$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")" "$2" "$(find "$corpus" -type f | wc -l)"
  else
    printf '%-12s FOUND something: %s\n' "$1" "$log"
    return 1
  fi
}

# dmlop.exe and its tests, beside a build of this system whose tests run it and whose files it must match.
test_windows() {
  need "${packages_to_build[@]}" "${packages_to_test[@]}" "${packages_for_windows[@]}"
  command -v npm >/dev/null || fail "npm is missing: install nodejs and npm"
  [ -d tests/windows/node_modules ] ||
    npm ci --prefix tests/windows --ignore-scripts --no-audit --no-fund >/dev/null
  configure release -DDMLOP_TESTS=ON
  cmake --build --preset release
  configure windows-cross -DDMLOP_TESTS=ON
  cmake --build --preset windows-cross
  tests/windows/in_wine.sh build-windows ctest --preset windows-cross --parallel "$(nproc)"
}

[ $# -le 1 ] || [ "$1" = fuzz ] || fail "one command at a time; ./build.sh lists them" 2
case "${1:-help}" in
  demo) demo ;;
  test) run_tests release ;;
  test-sanitizers) run_tests asan ;;
  test-windows) test_windows ;;
  fuzz) fuzz "${@:2}" ;;
  clean) rm -rf build build-*/ ;;
  help | -h | --help) help ;;
  *) fail "unknown command \"$1\"; ./build.sh lists them" 2 ;;
esac
