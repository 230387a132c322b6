#!/usr/bin/env bash
# Builds the native code's own tests with each sanitizer and runs them with every instruction set this machine has.
# Needs g++ or clang++ (CXX) on x86-64; takes a few minutes.
set -eu
. "$(dirname "$0")/common.sh"
compiler=${CXX:-g++}
common="-std=c++20 -g -O1 -fno-omit-frame-pointer -Wall -Wextra -Wno-psabi -Wno-ignored-attributes -Wno-unknown-warning-option
  -Wno-maybe-uninitialized -DHARDWIRE_X86_64 -I$native -I$work"

for sanitizer in address,undefined thread; do
  flags="$common -fsanitize=$sanitizer -fno-sanitize-recover=all"
  kernels() { $compiler $flags -DHARDWIRE_ISA="$1" "${@:2}" -c "$native/kernels.cpp" -o "$work/$1.o"; }
  kernels baseline
  kernels avx2 -mavx2 -mfma
  kernels avx512 -mavx512f -mavx512bw -mavx512dq -mavx512vl -mfma
  $compiler $flags "$here"/*.cpp $sources "$work"/*.o -o "$work/test" -lpthread
  for isa in baseline avx2 avx512; do
    echo "sanitizer $sanitizer:"
    HARDWIRE_ISA=$isa "$work/test"
  done
done
