// What the tests of the native code share: a random source, a check that ends the process, and the gates by their
// number.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <random>

using Random = std::mt19937;

inline void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "native test: %s\n", what);
  std::exit(1);
}

// A gate's number is its truth table: f(1,1) is bit 0, f(1,0) bit 1, f(0,1) bit 2, f(0,0) bit 3.
inline float gate_soft(int gate, float a, float b) {
  const int t11 = gate & 1, t10 = gate >> 1 & 1, t01 = gate >> 2 & 1, t00 = gate >> 3 & 1;
  return t11 * a * b + t10 * a * (1 - b) + t01 * (1 - a) * b + t00 * (1 - a) * (1 - b);
}
