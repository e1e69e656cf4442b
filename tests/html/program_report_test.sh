#!/usr/bin/env bash
# program_report_test.sh PROGRAM SAMPLES FOLDER: a batch with a failure, its report in a browser.
# Exits with 77 where the browser or its driver is missing.
set -euo pipefail
program=$1 samples=$2 folder=$3
rm -rf "$folder"
mkdir -p "$folder/jobs"
for operator in padding slice1 lp_pooling reverse_subsequences; do
  cp -r "$samples/$operator" "$folder/jobs/"
done

# The padding sample now expects what another mode gives.
sed 's/"CONSTANT"/"EDGE"/' "$samples/padding/op.json" > "$folder/edge.json"
"$program" run --cpu -q "$folder/edge.json" -i "$samples/padding/InputTensor.npy" \
  -o "$folder/jobs/padding/expected/OutputTensor.npy"
code=0
"$program" batch --cpu -q "$folder/jobs" --html "$folder/report.html" || code=$?
[ "$code" -eq 1 ] || { echo "the batch ended with $code, expected 1"; exit 1; }
exec node "$(dirname "$0")/report_test.mjs" "$folder/report.html"
