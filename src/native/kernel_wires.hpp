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
    tables.of[t] = d[0] * load(kBit[0]) + d[1] * load(kBit[1]) + d[2] * load(kBit[2]) + d[3] * load(kBit[3]);
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

// The gradient e of an input is d times a slope that depends on the other input, so it takes at most two masks: `one`
// times d where flip ^ (other & keep), `two` times d elsewhere. A table, because branches on gates are guessed wrong.
struct Slope {
  float one, two;
  std::uint64_t flip, keep;
};
constexpr Slope make_slope(float at_zero, float at_one) {
  if (at_zero == at_one) return {at_one, 0, ~0ULL, 0};
  if (at_one == 0) return {at_zero, 0, ~0ULL, ~0ULL};
  return {at_one, at_zero, 0, ~0ULL};
}
struct Slopes {
  Slope of[kGates][2];  // by gate and side
};
constexpr Slopes make_slopes() {
  Slopes slopes{};
  for (int gate = 0; gate < kGates; ++gate)
    for (int side = 0; side < 2; ++side) {
      const float at_zero = kCoefficients[gate][1 + side];
      slopes.of[gate][side] = make_slope(at_zero, at_zero + kCoefficients[gate][3]);
    }
  return slopes;
}
constexpr Slopes kSlopes = make_slopes();

// The sums of 16 candidates of one wire; fresh: in place of what is there.
template <bool fresh>
inline void add_wire_sums(const SumTables& tables, const std::uint64_t* in, const std::int32_t* candidates,
                          const Slope& slope, std::uint64_t other, float* sums) {
  const std::uint64_t mask = slope.flip ^ (other & slope.keep);
  Words low, high;
  gather_words(in, candidates, low, high);
  Floats total = slope.one * masked_sums(tables, low, high, mask);
  if (slope.two != 0.0f) total += slope.two * masked_sums(tables, low, high, ~mask);
  store(sums, fresh ? total : total + load(sums));
}

// Candidates from 16 on, apart from the loop over neurons, which is a fourth faster if it knows there are 16.
template <bool fresh>
__attribute__((noinline)) void add_further_sums(const SumTables& tables, const std::uint64_t* in,
                                                const std::int32_t* candidates, std::int64_t width, const Slope& slope,
                                                std::uint64_t other, float* sums) {
  for (std::int64_t k = kLanes; k < width; k += kLanes)
    add_wire_sums<fresh>(tables, in, candidates + k, slope, other, sums + k);
}

template <bool fresh, bool mixed>
void wire_sums(const WireView& wires, const std::uint8_t* gates, const float* mixture, const std::uint64_t* pairs,
               const std::uint64_t* in, const GradientRows& rows, float* sums) {
  const std::int64_t width = wires.stride, neurons = wires.neurons;
  const auto row_of = [&](std::int64_t j) { return rows.row_of ? rows.row_of[j] : j; };
  for (std::int64_t begin = 0, end; begin < neurons; begin = end) {
    const std::int64_t row = row_of(begin);
    for (end = begin + 1; end < neurons && row_of(end) == row;) ++end;  // all neurons of a class share their row
    SumTables tables;
    make_tables(rows.rows + row * kWordSamples, tables);
    for (std::int64_t j = begin; j < end; ++j)
      for (int side = 0; side < 2; ++side) {
        const float* c = mixture + kTerms * j;
        const Slope& slope = mixed ? Slope{c[1 + side] + c[3], c[1 + side], 0, ~0ULL} : kSlopes.of[gates[j]][side];
        const std::uint64_t other = pairs[2 * j + 1 - side];
        const std::int32_t* candidates = wires.wires + (side * neurons + j) * width;
        float* own = sums + (side * wires.rows + (wires.row_of ? wires.row_of[j] : j)) * width;
        if (slope.one != 0.0f || slope.two != 0.0f) {
          add_wire_sums<fresh>(tables, in, candidates, slope, other, own);
          if (width > kLanes) add_further_sums<fresh>(tables, in, candidates, width, slope, other, own);
        } else if (fresh) {
          for (std::int64_t k = 0; k < width; k += kLanes) store(own + k, Floats{});
        }
      }
  }
}

inline void wire_sums_bits(const WireView& wires, const std::uint8_t* gates, const float* mixture,
                           const std::uint64_t* pairs, const std::uint64_t* in, const GradientRows& rows, bool fresh,
                           float* sums) {
  const auto run = fresh ? (mixture ? wire_sums<true, true> : wire_sums<true, false>)
                         : (mixture ? wire_sums<false, true> : wire_sums<false, false>);
  run(wires, gates, mixture, pairs, in, rows, sums);
}

}  // namespace
}  // namespace hardwire
