#!/usr/bin/env bash
# wheel_test.sh PYTHON WHEELS SAMPLES MAKE...: installs the wheel in new environments without a network, and runs the
# tests of the package there: with the system's NumPy and pytest, and without NumPy. MAKE is the command that makes the
# wheel, without its folder; each time it has the same bytes.
set -euo pipefail
python=$1 wheels=$2 samples=$3
make=("${@:4}")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$(dirname "$0")"
skip() {
  echo "SKIPPED: $*"
  exit 77
}
# Another python3 may come first, without the packages of the system.
[ ! -x /usr/bin/python3 ] || python=/usr/bin/python3
"$python" -c 'import venv, ensurepip' 2>/dev/null || skip "python3 has no venv (python3-venv)"

wheel=$(ls "$wheels"/dmlop-*.whl)
[ -f "$wheel" ] || { echo "FAILED: there are these wheels: $wheel"; exit 1; }
"$python" wheel_contents.py "$wheel"
(umask 022 && "${make[@]}" --folder "$folder/first" >/dev/null)
(umask 077 && "${make[@]}" --folder "$folder/second" >/dev/null)
cmp "$folder"/first/*.whl "$folder"/second/*.whl || { echo "FAILED: the wheel is different each time"; exit 1; }
# Without git, too.
(PATH=$folder/nothing "$python" "${make[@]:1}" --folder "$folder/third" >/dev/null)

export DMLOP_SAMPLES=$samples PYTHONDONTWRITEBYTECODE=1
unset PYTHONPATH DMLOP_LIBRARY
"$python" -m venv "$folder/alone"
"$folder/alone/bin/pip" install --quiet --no-compile --no-index --disable-pip-version-check "$wheel"
"$folder/alone/bin/python" without_numpy.py

"$python" -c 'import numpy, pytest' 2>/dev/null || skip "python3-numpy or python3-pytest is missing"
"$python" -m venv --system-site-packages --without-pip "$folder/all"
"$folder/alone/bin/pip" --python "$folder/all/bin/python" install --quiet --no-compile --no-index --disable-pip-version-check \
  --ignore-installed "$wheel"
"$folder/all/bin/python" -m pytest -q -p no:cacheprovider test_dmlop.py test_second_calls.py
