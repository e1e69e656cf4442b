#!/bin/sh
# help.sh PROGRAM SAMPLES: runs what the help of an installed program shows, in an empty folder. It
# uses the installed samples, whose path ends with SAMPLES: help shortens paths that lie near.
set -eu
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cd "$folder"
"$1" help > help
grep '^  [^#]' help > commands
grep -F "/$2/padding/op.json" commands
sh -e commands
