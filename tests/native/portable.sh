#!/usr/bin/env bash
# Builds the native code's own tests for systems that are not this one, and runs them where an emulator is installed:
# aarch64 Linux (qemu-user), Windows (wine), macOS (compiled only). Needs the ziglang wheel, clang for all of them.
set -eu
. "$(dirname "$0")/common.sh"

build() {  # target, definitions -> $work/test
  compile="$python -m ziglang c++ -target $1 ${*:2} -std=c++20 -O2 -Wall -Wextra -Wno-psabi -Wno-ignored-attributes -I$native -I$work"
  rm -f "$work"/*.o
  $compile -DHARDWIRE_ISA=baseline -c "$native/kernels.cpp" -o "$work/baseline.o"
  if [[ $1 == x86_64* ]]; then
    $compile -DHARDWIRE_ISA=avx2 -mavx2 -mfma -c "$native/kernels.cpp" -o "$work/avx2.o"
    $compile -DHARDWIRE_ISA=avx512 -mavx512f -mavx512bw -mavx512dq -mavx512vl -mfma -c "$native/kernels.cpp" -o "$work/avx512.o"
  fi
  $compile "$here"/*.cpp $sources "$work"/*.o -o "$work/test"
}

attempt() {  # emulator and its arguments: runs the test where the emulator is installed
  if command -v "$1" > /dev/null; then "$@" "$work/test"; else echo "compiled; $1 is not installed, so it was not run"; fi
}

echo "aarch64-linux:"; build aarch64-linux-musl -static; attempt qemu-aarch64
echo "aarch64-macos:"; build aarch64-macos; echo "compiled"
echo "x86_64-windows:"; build x86_64-windows-gnu -DHARDWIRE_X86_64; mv "$work/test" "$work/test.exe" 2> /dev/null || true
ln -sf test.exe "$work/test"; WINEDEBUG=-all attempt wine
