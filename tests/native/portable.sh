#!/usr/bin/env bash
# Builds the native code's own tests for systems that are not this one, by every compiler that is installed: clang for all
# of them (the ziglang wheel), GCC for aarch64 Linux and for Windows (Debian's g++-aarch64-linux-gnu, g++-mingw-w64-x86-64).
# Runs them where there is an emulator (qemu-user, wine), on Windows with the kernels of each instruction set.
set -eu
. "$(dirname "$0")/common.sh"

build() {  # compiler and its arguments -> $work/test.exe
  local flags="-std=c++20 -O2 -Wall -Wextra -Wno-psabi -Wno-ignored-attributes -Wno-maybe-uninitialized -I$native -I$work"
  local x86=$([[ "$*" == *x86_64* ]] && echo -DHARDWIRE_X86_64)
  local compile="$* $flags $x86"
  rm -f "$work"/*.o
  $compile -DHARDWIRE_ISA=baseline -c "$native/kernels.cpp" -o "$work/baseline.o"
  if [ "$x86" ]; then
    $compile -DHARDWIRE_ISA=avx2 -mavx2 -mfma -c "$native/kernels.cpp" -o "$work/avx2.o"
    $compile -DHARDWIRE_ISA=avx512 -mavx512f -mavx512bw -mavx512dq -mavx512vl -mfma -c "$native/kernels.cpp" -o "$work/avx512.o"
  fi
  $compile "$here"/*.cpp $sources "$work"/*.o -o "$work/test.exe"
}

attempt() {  # emulator: runs the test where it is installed
  if command -v "$1" > /dev/null; then "$1" "$work/test.exe"; else echo "compiled; $1 is not installed, so it was not run"; fi
}

attempt_windows() {  # every set of kernels that this processor has
  local sets="baseline $(grep -q avx2 /proc/cpuinfo && echo avx2) $(grep -q avx512vl /proc/cpuinfo && echo avx512)"
  for isa in $sets; do HARDWIRE_ISA=$isa WINEDEBUG=-all attempt wine; done
}

clang="$python -m ziglang c++ -Wno-unknown-warning-option -target"
if "$python" -m ziglang version > /dev/null 2>&1; then
  echo "clang, aarch64 Linux:"; build $clang aarch64-linux-musl -static; attempt qemu-aarch64
  echo "clang, arm64 macOS:"; build $clang aarch64-macos; echo "compiled"
  echo "clang, Windows:"; build $clang x86_64-windows-gnu; attempt_windows
else
  echo "no clang for other systems: pip install ziglang"
fi
if command -v aarch64-linux-gnu-g++ > /dev/null; then
  echo "GCC, aarch64 Linux:"; build aarch64-linux-gnu-g++ -static; attempt qemu-aarch64
fi
if command -v x86_64-w64-mingw32-g++-posix > /dev/null; then
  echo "GCC, Windows:"; build x86_64-w64-mingw32-g++-posix -static; attempt_windows
fi
