#!/bin/sh
# pkg_config.sh PREFIX SAMPLE.c FOLDER VERSION: a C program that asks pkg-config alone compiles, links and runs.
set -eu
prefix=$1 sample=$2 folder=$3 version=$4
for program in cc pkg-config; do
  command -v $program >/dev/null || { echo "SKIPPED: $program is missing"; exit 77; }
done
places=$(find "$prefix" -name dmlop.pc)
PKG_CONFIG_PATH=$(dirname "$places")
export PKG_CONFIG_PATH
[ "$(pkg-config --modversion dmlop)" = "$version" ] || { echo "FAILED: another version"; exit 1; }
# shellcheck disable=SC2046
cc "$sample" -o "$folder/pkg_config_pad" $(pkg-config --cflags --libs dmlop)
LD_LIBRARY_PATH=$(pkg-config --variable=libdir dmlop) "$folder/pkg_config_pad"
