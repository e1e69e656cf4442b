#!/usr/bin/env bash
# program_operators_test.sh PROGRAM FOLDER: the page about all operators in a browser.
# Exits with 77 where the browser or its driver is missing.
set -euo pipefail
program=$1 folder=$2
rm -rf "$folder"
mkdir -p "$folder"
"$program" ops --html "$folder/operators.html"
"$program" ops --format json > "$folder/operators.json"
exec node "$(dirname "$0")/operators_test.mjs" "$folder/operators.html" "$folder/operators.json"
