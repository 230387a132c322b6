// Learned wires on bits: for the gradient row e of an input and candidates x_1 .. x_K, the sums over 64 samples of
// e * x_k. Samples go by fours: a table of the 16 sums that four of them can have makes a look-up of each candidate's
// four bits, for 16 candidates at a time, and no sum across lanes is left to take. The table is that of the neuron's
// own row d and serves both inputs: e is d where the gate's derivative is not zero, so it becomes a mask on x.
#pragma once
#include "kernel_bits.hpp"
#include "kernels.hpp"
#include "simd.hpp"
#include "words.hpp"

namespace hardwire {
namespace {

constexpr int kFour = 4;                       // samples of a look-up
constexpr int kTables = kWordSamples / kFour;  // of a gradient row
static_assert(1 << kFour == kLanes);

struct SumTables {
  Floats of[kTables];  // lane m of table t: the sum of the samples of 4t .. 4t + 3 whose bit is set in m
};

inline void make_tables(const float* row, SumTables& tables) {
  alignas(64) static constexpr float kBit[kFour][kLanes] = {{0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1},
                                                            {0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1},
                                                            {0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 1},
                                                            {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1}};
  for (int t = 0; t < kTables; ++t) {
    const float* d = row + t * kFour;
    tables.of[t] = (d[0] * load(kBit[0]) + d[1] * load(kBit[1])) + (d[2] * load(kBit[2]) + d[3] * load(kBit[3]));
  }
}

// The sums of d over the samples in which both x and the mask are 1, for 16 words x.
inline Floats masked_sums(const SumTables& tables, const Words& low, const Words& high, std::uint64_t mask) {
  constexpr int kHalf = kTables / 2;
  Words x = low & spread(static_cast<std::uint32_t>(mask)), y = high & spread(static_cast<std::uint32_t>(mask >> 32));
  Floats lower = look_up(tables.of[0], x), upper = look_up(tables.of[kHalf], y);
  for (int t = 1; t < kHalf; ++t) {
    lower += look_up(tables.of[t], x >> (t * kFour));
    upper += look_up(tables.of[kHalf + t], y >> (t * kFour));
  }
  return lower + upper;
}

// e = (at_zero where the other input is 0, at_one where it is 1) * d.
struct Slope {
  float at_zero, at_one;
};
inline Slope slope_of(int gate, int side) {
  const float* c = kCoefficients[gate];
  return {c[1 + side], c[1 + side] + c[3]};
}
inline Slope slope_of(const float* mixture, int side) { return {mixture[1 + side], mixture[1 + side] + mixture[3]}; }

inline Floats slope_sums(const SumTables& tables, const Words& low, const Words& high, const Slope& slope,
                         std::uint64_t other) {
  if (slope.at_zero == slope.at_one) return slope.at_one * masked_sums(tables, low, high, ~0ULL);
  Floats total = Floats{};
  if (slope.at_one != 0.0f) total += slope.at_one * masked_sums(tables, low, high, other);
  if (slope.at_zero != 0.0f) total += slope.at_zero * masked_sums(tables, low, high, ~other);
  return total;
}

inline void wire_sums_bits(const WireView& wires, const std::uint8_t* gates, const float* mixture,
                           const std::uint64_t* pairs, const std::uint64_t* in, const GradientRows& rows, float* sums) {
  SumTables tables;
  const float* known = nullptr;
  for (std::int64_t j = 0; j < wires.neurons; ++j) {
    const float* row = rows.rows + (rows.row_of ? rows.row_of[j] : j) * kWordSamples;
    if (row != known) make_tables(row, tables);  // all neurons of a class share their row
    known = row;
    for (int side = 0; side < 2; ++side) {
      const Slope slope = mixture ? slope_of(mixture + kTerms * j, side) : slope_of(gates[j], side);
      if (slope.at_zero == 0.0f && slope.at_one == 0.0f) continue;
      const std::int32_t* candidate = wires.wires + (side * wires.neurons + j) * wires.stride;
      float* out = sums + (side * wires.rows + (wires.row_of ? wires.row_of[j] : j)) * wires.stride;
      for (std::int64_t k = 0; k < wires.stride; k += kLanes) {
        Words low, high;
        gather_words(in, candidate + k, low, high);
        store(out + k, load(out + k) + slope_sums(tables, low, high, slope, pairs[2 * j + 1 - side]));
      }
    }
  }
}

}  // namespace
}  // namespace hardwire
