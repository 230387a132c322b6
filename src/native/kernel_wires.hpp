// Learned wires on bits: for the gradient row e of an input and candidates x_1 .. x_K, the sums over 64 samples of
// e * x_k. Samples go by groups: a table of the 16 sums that four of them can have makes a look-up of each candidate's
// four bits, for 16 candidates at a time, and no sum across lanes is left to take. The table is that of the neuron's
// own row d and serves both inputs: e is d where the gate's derivative is not zero, so it becomes a mask on x.
#pragma once
#include "kernel_bits.hpp"
#include "kernels.hpp"
#include "simd.hpp"
#include "words.hpp"

namespace hardwire {
namespace {

// Samples of a look-up: five where an instruction looks up 32 numbers, else four. The 32 samples of half a word make so
// many groups of them; what is left of both halves, two and two with groups of five, is one more group.
#ifdef __AVX512F__
constexpr int kGroup = 5;
#else
constexpr int kGroup = 4;
#endif
constexpr int kHalf = kWordSamples / 2;
constexpr int kGroups = kHalf / kGroup;
constexpr int kLeft = kHalf - kGroup * kGroups;
static_assert(kLeft == 0 || kLeft == 2);

// Lane m of a table: the sum of those of its samples whose bit is set in m; the second is that plus the fifth sample.
struct SumTables {
  Floats first[2][kGroups], second[2][kGroups], rest;
};

inline Floats four_sums(float a, float b, float c, float d) {
  alignas(64) static constexpr float kBit[4][kLanes] = {{0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1},
                                                        {0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1},
                                                        {0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 1},
                                                        {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1}};
  return a * load(kBit[0]) + b * load(kBit[1]) + c * load(kBit[2]) + d * load(kBit[3]);
}

inline void make_tables(const float* row, SumTables& tables) {
  for (int half = 0; half < 2; ++half)
    for (int g = 0; g < kGroups; ++g) {
      const float* d = row + half * kHalf + g * kGroup;
      tables.first[half][g] = four_sums(d[0], d[1], d[2], d[3]);
      if (kGroup == 5) tables.second[half][g] = tables.first[half][g] + d[4];
    }
  const float* left = row + kHalf - kLeft;
  if (kLeft) tables.rest = four_sums(left[0], left[1], left[kHalf], left[kHalf + 1]);
}

inline Floats look_up_group(const SumTables& tables, int half, int group, const Words& index) {
#ifdef __AVX512F__
  return look_up(tables.first[half][group], tables.second[half][group], index);
#else
  return look_up(tables.first[half][group], index);
#endif
}

// The sums of d over the samples in which both x and the mask are 1, for 16 words x.
inline Floats masked_sums(const SumTables& tables, const Words& low, const Words& high, std::uint64_t mask) {
  const Words x = low & spread(static_cast<std::uint32_t>(mask));
  const Words y = high & spread(static_cast<std::uint32_t>(mask >> 32));
  Floats lower = look_up_group(tables, 0, 0, x), upper = look_up_group(tables, 1, 0, y);
  for (int g = 1; g < kGroups; ++g) {
    lower += look_up_group(tables, 0, g, x >> (g * kGroup));
    upper += look_up_group(tables, 1, g, y >> (g * kGroup));
  }
  if (kLeft) lower += look_up(tables.rest, (x >> (kHalf - kLeft)) | ((y >> (kHalf - kLeft)) << kLeft));
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
template <bool fresh, bool gather>
inline void add_wire_sums(const SumTables& tables, const std::uint64_t* in, const std::int32_t* candidates,
                          const Slope& slope, std::uint64_t other, float* sums) {
  const std::uint64_t mask = slope.flip ^ (other & slope.keep);
  Words low, high;
  gather_words<gather>(in, candidates, low, high);
  Floats total = slope.one * masked_sums(tables, low, high, mask);
  if (slope.two != 0.0f) total += slope.two * masked_sums(tables, low, high, ~mask);
  store(sums, fresh ? total : total + load(sums));
}

// fixed_width: of the candidates, or 0; the usual 16 make it a fourth faster if they are known.
template <bool gather, bool fresh, bool mixed, int fixed_width>
void wire_sums(const WireView& wires, const std::uint8_t* gates, const float* mixture, const std::uint64_t* pairs,
               const std::uint64_t* in, const GradientRows& rows, float* sums) {
  const std::int64_t width = fixed_width ? fixed_width : wires.stride, neurons = wires.neurons;
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
        const bool learns = slope.one != 0.0f || slope.two != 0.0f;
        for (std::int64_t k = 0; k < width; k += kLanes)
          if (learns)
            add_wire_sums<fresh, gather>(tables, in, candidates + k, slope, other, own + k);
          else if (fresh)
            store(own + k, Floats{});
      }
  }
}

template <bool gather>
void wire_sums_by_case(const WireView& wires, const std::uint8_t* gates, const float* mixture,
                       const std::uint64_t* pairs, const std::uint64_t* in, const GradientRows& rows, bool fresh,
                       float* sums) {
  using Run = decltype(&wire_sums<gather, true, true, 0>);
  constexpr Run kByCase[2][2][2] = {
      {{wire_sums<gather, false, false, 0>, wire_sums<gather, false, false, kLanes>},
       {wire_sums<gather, false, true, 0>, wire_sums<gather, false, true, kLanes>}},
      {{wire_sums<gather, true, false, 0>, wire_sums<gather, true, false, kLanes>},
       {wire_sums<gather, true, true, 0>, wire_sums<gather, true, true, kLanes>}},
  };
  const Run run = kByCase[fresh][mixture != nullptr][wires.stride == kLanes];
  run(wires, gates, mixture, pairs, in, rows, sums);
}

inline void wire_sums_bits(const WireView& wires, const std::uint8_t* gates, const float* mixture,
                           const std::uint64_t* pairs, const std::uint64_t* in, const GradientRows& rows, bool fresh,
                           float* sums) {
  (processor().fast_gather ? wire_sums_by_case<true> : wire_sums_by_case<false>)(wires, gates, mixture, pairs, in, rows,
                                                                                 fresh, sums);
}

}  // namespace
}  // namespace hardwire
