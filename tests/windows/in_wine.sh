#!/usr/bin/env bash
# in_wine.sh BUILD COMMAND...: runs a command where `wine` runs the programs of a Windows build, with a
# software GPU for Direct3D 12 and a Wine folder of its own; leaves no process behind.
#
# What each setting is for: without a display Wine lists no adapter; its Direct3D 12 stands on Vulkan;
# without a desktop that stays, every program waits seconds for one.
set -euo pipefail
build=$(realpath "$1")
shift

folder=$build/wine
mkdir -p "$folder/prefix"
export WINEPREFIX=$folder/prefix WINEDEBUG=-all WINE_D3D_CONFIG=renderer=vulkan
export WINEDLLOVERRIDES="winedbg.exe=d;mscoree=d;mshtml=d"
export LC_ALL=C.UTF-8 # file names on the way to and from Wine
unset DMLOP_DEVICE

# The program as the tests of the command line start it.
cat >"$folder/dmlop" <<TEXT
#!/bin/sh
exec wine '$build/dmlop.exe' "\$@"
TEXT
chmod +x "$folder/dmlop"

# Microsoft's compiler of shaders, which Windows has and Wine does not.
compiler=$(dirname "${BASH_SOURCE[0]}")/node_modules/webgpu/dist/win32-x64/d3dcompiler_47.dll
[ -f "$compiler" ] || {
  echo "in_wine.sh: error: $compiler is missing; run npm ci in tests/windows" >&2
  exit 1
}
cp "$compiler" "$build/"

# A display that nobody else has: the server tells its number when it is ready.
exec {ready}< <(exec Xvfb -displayfd 1 -screen 0 640x480x24 -nolisten tcp 2>/dev/null)
display=$!
stop() {
  wineserver -k || true
  kill "$display" || true
}
trap stop EXIT
read -r -t 30 number <&"$ready"
export DISPLAY=:$number

# Wine needs some addresses for itself. Placed at random, one program in 5,000 has them taken and ends
# with 1 before it begins ("failed to map the shared user data").
placed=(setarch "$(uname -m)" --addr-no-randomize)
"${placed[@]}" true 2>/dev/null || placed=()
"${placed[@]}" wineserver -p
"${placed[@]}" wineboot -i >/dev/null 2>&1
"${placed[@]}" wine explorer /desktop=tests,640x480 >/dev/null 2>&1 &
"${placed[@]}" "$@"
