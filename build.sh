#!/usr/bin/env bash
# Installs the packages that are missing, then builds, runs and tests dmlop on Debian 12 or Ubuntu 24.04.
# If the packages are present, cmake --preset release && cmake --build --preset release builds it too.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

# The packages, by purpose; the names are the same on Debian 12 and Ubuntu 24.04.
packages_to_build=(
  cmake ninja-build g++ libcli11-dev nlohmann-json3-dev
  glslang-tools libvulkan-dev libvulkan-volk-dev libstb-dev libxxhash-dev
  libhwy-dev libprotozero-dev
)
packages_to_test=(file dpkg-dev doctest-dev libvalijson-dev mesa-vulkan-drivers vulkan-validationlayers spirv-tools)
# Tests that need one of these skip themselves, with the reason, if it is missing.
packages_to_test_more=(chromium slurmctld slurmd slurm-client munge parallel python3-yaml
  python3-numpy python3-pytest python3-venv libonnx-testdata)
packages_to_fuzz=(clang libclang-rt-dev)
packages_to_lint=(clang clang-tidy cppcheck libbenchmark-dev)
packages_for_coverage=(clang llvm libclang-rt-dev)
packages_for_windows=(
  g++-mingw-w64-x86-64-posix binutils-mingw-w64-x86-64 directx-headers-dev wine wine64 xvfb
)

help() {
  cat <<'TEXT'
usage: ./build.sh COMMAND

  demo             build build/dmlop and run the padding sample
  test             build everything and run every test
  test-sanitizers  run every test with AddressSanitizer and UndefinedBehaviorSanitizer (build-asan/),
                   then with ThreadSanitizer (build-tsan/)
  fuzz [SECONDS] [TARGET...]
                   feed made-up bytes to each fuzz target for SECONDS (default: 60); build-fuzz/ keeps
                   the inputs that break a target, and the corpora, with which the next run goes on
  mutate [COUNT] [PATH...]
                   change COUNT (default: 20) random places of the sources, one at a time, and list the
                   changes that no test notices (build-mutate/); tests/README.md says more
  test-windows     build dmlop.exe with mingw-w64 (build-windows/) and run its tests under Wine
  lint             run clang's warnings, cppcheck and clang-tidy (build-lint/)
  coverage         run the tests and print which lines of lib/ they reach (build-coverage/)
  clean            remove the build folders

Missing packages are installed with apt-get, as root or with sudo.
TEXT
}

fail() {
  printf 'build.sh: error: %s\n' "$1" >&2
  exit "${2:-1}"
}

# step TEXT: says what comes next, and how far the command is: "[2/4] Configuring".
step() {
  steps_done=$((steps_done + 1))
  printf '[%d/%d] %s\n' "$steps_done" "$steps" "$1"
}

# Prints those of the packages that are not installed, one per line.
missing() {
  local package
  for package in "$@"; do
    dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed ||
      printf '%s\n' "$package"
  done
}

# Turns apt-get's output into one line that says how far it is; needs a terminal.
apt_progress() {
  local line all="?" unpacked=0 set_up=0
  while IFS= read -r line; do
    case $line in
      *" newly installed"*) all=${line%% newly*} all=${all##* } ;;
      "Unpacking "*) line="unpacking package $((++unpacked)) of $all" ;;
      "Setting up "*) line="setting up package $((++set_up)) of $all" ;;
    esac
    [ ! -t 1 ] || case $line in *" package "*" of "*) printf '\r\033[K  %s' "$line" ;; esac
  done
  [ ! -t 1 ] || printf '\r\033[K'
}

# Installs those of the packages that are missing.
need() {
  command -v dpkg-query >/dev/null ||
    fail "packages can be installed on Debian and Ubuntu only; elsewhere install what the lists at the top of this script name, then run: cmake --preset release && cmake --build --preset release"
  local absent
  mapfile -t absent < <(missing "$@")
  [ ${#absent[@]} -gt 0 ] || return 0

  local as_root=(env DEBIAN_FRONTEND=noninteractive LC_ALL=C)
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null ||
      fail "packages are missing and there is neither root nor sudo; as root run: apt-get install ${absent[*]}"
    as_root=(sudo "${as_root[@]}")
  fi
  echo "Installing ${absent[*]} and what they need ..."
  # A package source that fails may not be needed at all: the installation itself decides.
  "${as_root[@]}" apt-get update -qq || echo "build.sh: warning: apt-get update failed" >&2
  "${as_root[@]}" apt-get install -q -y --no-install-recommends -o DPkg::Lock::Timeout=300 \
    -o Dpkg::Use-Pty=0 "${absent[@]}" | apt_progress ||
    fail "installing failed; as root run: apt-get install ${absent[*]}"
}

# Installs those of the packages that are missing, except those that no package source has.
need_if_available() {
  local package available=()
  for package in $(missing "$@"); do
    if apt-cache show "$package" >/dev/null 2>&1; then available+=("$package"); fi
  done
  [ ${#available[@]} -eq 0 ] || need "${available[@]}"
}

# Installs the driver of the browser that the tests of HTML reports use.
need_browser_driver() {
  [ ! -d tests/html/node_modules ] && command -v npm >/dev/null || return 0
  npm ci --prefix tests/html --ignore-scripts --no-audit --no-fund >/dev/null ||
    echo "build.sh: warning: installing playwright-core failed; the browser is not tested" >&2
}

# configure PRESET OPTION...: prints nothing unless it fails.
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
  steps=4
  step "Looking for packages"
  need "${packages_to_build[@]}"
  # If the packages for tests are present, tests stay configured, so that ./build.sh test need not start over.
  local tests=ON
  [ -z "$(missing "${packages_to_test[@]}")" ] || tests=OFF
  step "Configuring"
  configure release -DDMLOP_TESTS=$tests
  step "Building build/dmlop: takes three to seven minutes on two cores, the first time"
  cmake --build --preset release --target dmlop libdmlop dmlop_c  # all that cmake --install needs
  step "Running the sample samples/padding"
  show cat samples/padding/op.json
  show build/dmlop inspect samples/padding/InputTensor.npy
  show build/dmlop run --cpu samples/padding/op.json -o build/padded.npy
  show build/dmlop inspect build/padded.npy
  show cmp build/padded.npy samples/padding/expected/OutputTensor.npy
  echo "The output is the expected one, byte for byte."
}

# run_tests PRESET PREFIX...: PREFIX starts the build and the tests. Takes four steps.
run_tests() {
  local preset=$1
  shift
  step "Looking for packages"
  need "${packages_to_build[@]}" "${packages_to_test[@]}"
  need_if_available "${packages_to_test_more[@]}"
  need_browser_driver
  step "Configuring"
  configure "$preset" -DDMLOP_TESTS=ON
  step "Building the program and its tests"
  "$@" cmake --build --preset "$preset" || return
  # Many tests wait for processes and files. Twice as many as there are processors keep these busy.
  step "Running the tests, $((2 * $(nproc))) at a time"
  "$@" ctest --preset "$preset" --parallel $((2 * $(nproc)))
}

# Runs both, even if the first one finds something.
test_sanitizers() {
  local found=0
  steps=8
  run_tests asan || found=1
  steps_done=4
  # Current Linux kernels place programs at addresses that ThreadSanitizer before g++ 14 cannot handle.
  local prefix=(setarch "$(uname -m)" --addr-no-randomize)
  "${prefix[@]}" true 2>/dev/null || prefix=()
  run_tests tsan "${prefix[@]}" || found=1
  [ $found = 0 ] || fail "tests fail with sanitizers: above"
}

# Prints the files of lib/ and app/ that are built on this system, the largest first.
built_here() {
  find lib app -name '*.cpp' ! -name '*windows.cpp' ! -path '*/d3d12/*' -printf '%s %p\n' |
    sort -nr | cut -d' ' -f2
}

# Runs every tool, even if one before it finds something.
lint() {
  need "${packages_to_build[@]}" "${packages_to_test[@]}" "${packages_to_lint[@]}"
  local found=0
  configure lint
  cmake --build --preset lint -- -k 0 || found=1

  mkdir -p build-lint/cppcheck
  # Checks the files of all systems. doctest's macro stands for a function.
  cppcheck --quiet -j "$(nproc)" --std=c++20 --enable=warning,performance,portability --inline-suppr \
    '-DTEST_CASE(name)=static void test_case()' -I lib -I tests -I tests/support \
    --cppcheck-build-dir=build-lint/cppcheck --suppressions-list=tests/cppcheck.supp \
    --template='{file}:{line}: {severity}: {message} [{id}]' --error-exitcode=1 \
    lib app tests || found=1

  built_here | xargs --max-args=1 --max-procs="$(nproc)" \
    clang-tidy -p build-lint --quiet 2> >(grep -v '^[0-9]* warnings\? ' >&2) || found=1
  [ $found = 0 ] || fail "the findings above"
  echo "No findings."
}

# Turns llvm-cov's report into a table of the folders of lib/; fails below 90 percent.
coverage_table() {
  awk -v least=90 '
    function row(name, lines, missed) {
      return sprintf("%-28s %6d %8d %7.1f %%\n", name, lines, missed, 100 * (lines - missed) / lines)
    }
    sub("^lib/", "", $1) && $8 > 0 {
      folder = $1
      sub("/[^/]*$", "", folder)
      if (!(folder in lines)) folders[++count] = folder
      lines[folder] += $8; missed[folder] += $9; all += $8; all_missed += $9
      if (($8 - $9) * 100 < least * $8) low = low row($1, $8, $9)
    }
    END {
      if (all == 0) { print "no lines were counted"; exit 1 }
      printf "%-28s %6s %8s\n", "folder of lib/", "lines", "not run"
      for (i = 1; i <= count; ++i) printf "%s", row(folders[i], lines[folders[i]], missed[folders[i]])
      printf "%s\nfiles below %d %%:\n%s", row("all", all, all_missed), least, low
      exit (all - all_missed) * 100 < least * all
    }'
}

# The kernels are built for one instruction set only, Highway's emulated one. The others compile the same
# file through a system header, where clang counts no lines.
coverage() {
  need "${packages_to_build[@]}" "${packages_to_test[@]}" "${packages_for_coverage[@]}"
  export CCACHE_BASEDIR=  # it would make paths relative, and llvm-cov would not find the files
  configure coverage -DDMLOP_TESTS=ON
  cmake --build --preset coverage
  local folder=build-coverage
  rm -rf $folder/profiles
  # Leaves out tests that reach no lines of their own. Of the tests on a GPU, those of models are enough.
  ctest --preset coverage --parallel "$(nproc)" -E '^(gpu_operators_.*|gpu_conformance|package_.*|cluster_.*|html_.*)$'
  DMLOP_TEST_BACKENDS=gpu DMLOP_VULKAN_VALIDATION=1 LLVM_PROFILE_FILE=$folder/profiles/%4m.profraw \
    $folder/dmlop_tests --source-file='*/model_run_test.cpp'
  llvm-profdata merge -sparse $folder/profiles/*.profraw -o $folder/tests.profdata

  local programs=($folder/dmlop_tests -object $folder/dmlop -instr-profile $folder/tests.profdata)
  llvm-cov show "${programs[@]}" -format html -output-dir $folder/html lib
  echo
  llvm-cov report "${programs[@]}" lib app | coverage_table ||
    fail "less than 90 % of the lines of lib/ are run"
  echo "Line by line: $folder/html/index.html"
}

# fuzz [SECONDS] [TARGET...]: runs as many targets at once as there are processors.
fuzz() {
  local seconds=${1:-60} target process status=0 running=()
  case $seconds in *[!0-9]* | "" | 0*) fail "SECONDS is a whole number from 1, not \"$seconds\"" 2 ;; esac
  [ $# -eq 0 ] || shift
  need "${packages_to_build[@]}" "${packages_to_test[@]}" "${packages_to_fuzz[@]}"
  configure fuzz
  cmake --build --preset fuzz
  local folder=build-fuzz/fuzz targets=("$@")
  [ ${#targets[@]} -gt 0 ] || mapfile -t targets < <(build-fuzz/dmlop_fuzz --targets | cut -d ' ' -f 1)
  for target in "${targets[@]}"; do
    while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do sleep 0.2; done
    fuzz_target "$target" "$seconds" "$folder" &
    running+=($!)
  done
  for process in "${running[@]}"; do wait "$process" || status=1; done
  return $status
}

# fuzz_target TARGET SECONDS FOLDER: prints one line; fails if an input breaks the target.
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

# mutate [COUNT] [PATH...]: in a copy of the tree.
mutate() {
  need "${packages_to_build[@]}" "${packages_to_test[@]}" git python3
  need_if_available "${packages_to_test_more[@]}"
  python3 tests/mutate/mutate.py "$@"
}

# Builds dmlop.exe and its tests, and a build for this system: its tests run dmlop.exe, and both must write
# the same files.
test_windows() {
  need "${packages_to_build[@]}" "${packages_to_test[@]}" "${packages_for_windows[@]}"
  command -v npm >/dev/null || fail "npm is missing: install nodejs and npm"
  [ -d tests/windows/node_modules ] ||
    npm ci --prefix tests/windows --ignore-scripts --no-audit --no-fund >/dev/null
  configure release -DDMLOP_TESTS=ON
  cmake --build --preset release
  configure windows-cross -DDMLOP_TESTS=ON
  cmake --build --preset windows-cross
  tests/windows/in_wine.sh build-windows ctest --preset windows-cross --parallel $(($(nproc) + 1))
}

steps=0
steps_done=0
[ $# -le 1 ] || [ "$1" = fuzz ] || [ "$1" = mutate ] || fail "one command at a time; ./build.sh lists them" 2
case "${1:-help}" in
  demo) demo ;;
  test) steps=4; run_tests release ;;
  test-sanitizers) test_sanitizers ;;
  test-windows) test_windows ;;
  fuzz) fuzz "${@:2}" ;;
  mutate) mutate "${@:2}" ;;
  lint) lint ;;
  coverage) coverage ;;
  clean) rm -rf build build-*/ ;;
  help | -h | --help) help ;;
  *) fail "unknown command \"$1\"; ./build.sh lists them" 2 ;;
esac
