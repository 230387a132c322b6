#!/usr/bin/env bash
# Builds the native engine's own test with each sanitizer and runs it with every instruction set this machine has.
# Needs g++ or clang++ (CXX) on x86-64; takes about two minutes.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
native=$here/../../src/native
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
compiler=${CXX:-g++}
common="-std=c++20 -g -O1 -fno-omit-frame-pointer -Wall -Wextra -Wno-psabi -Wno-ignored-attributes -DHARDWIRE_X86_64 -I$native"

for sanitizer in address,undefined thread; do
  flags="$common -fsanitize=$sanitizer -fno-sanitize-recover=all"
  kernels() { $compiler $flags -Wno-maybe-uninitialized -DHARDWIRE_ISA="$1" "${@:2}" -c "$native/kernels.cpp" -o "$work/$1.o"; }
  kernels baseline
  kernels avx2 -mavx2 -mfma
  kernels avx512 -mavx512f -mavx512bw -mavx512dq -mavx512vl -mfma
  $compiler $flags "$here/engine_test.cpp" "$native"/{engine,packing,threads}.cpp "$work"/*.o -o "$work/test" -lpthread
  for isa in baseline avx2 avx512; do
    echo "sanitizer $sanitizer, instruction set $isa at most:"
    HARDWIRE_ISA=$isa "$work/test"
  done
done
