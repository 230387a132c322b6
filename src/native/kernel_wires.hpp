// Learned wires on bits: for the gradient row e of an input and candidates x_1 .. x_K, the sums over 64 samples of
// e * x_k. Samples go by groups: a table of the 16 sums that four of them can have makes a look-up of each candidate's
// four bits, for 16 candidates at a time, and no sum across lanes is left to take. The table is that of the neuron's
// own row d and serves both inputs: e is d where the gate's derivative is not zero, so it becomes a mask on x.
// The attributes keep all this in one function: only there can tables stay in registers.
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

[[gnu::always_inline]] inline Floats four_sums(float a, float b, float c, float d) {
  alignas(64) static constexpr float kBit[4][kLanes] = {{0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1},
                                                        {0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1},
                                                        {0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 1},
                                                        {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1}};
  return a * load(kBit[0]) + b * load(kBit[1]) + c * load(kBit[2]) + d * load(kBit[3]);
}

[[gnu::always_inline]] inline void make_tables(const float* row, SumTables& tables) {
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
[[gnu::always_inline]] inline Floats masked_sums(const SumTables& tables, const Words& low, const Words& high,
                                                 std::uint64_t mask) {
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
      const float* derivative = kDerivatives.of[gate][side];
      slopes.of[gate][side] = make_slope(derivative[0], derivative[1]);
    }
  return slopes;
}
constexpr Slopes kSlopes = make_slopes();

// By its gate, which wires of a neuron learn, and whether they take both masks.
enum Kind { kNeither, kFirst, kSecond, kBoth, kBothTwice, kKinds };
struct KindOfGate {
  std::uint8_t of[kGates];
};
constexpr KindOfGate make_kinds() {
  KindOfGate kinds{};
  for (int gate = 0; gate < kGates; ++gate) {
    const Slope *first = kSlopes.of[gate], *second = first + 1;
    const bool a = first->one != 0.0f, b = second->one != 0.0f;
    kinds.of[gate] = first->two != 0.0f ? kBothTwice : a && b ? kBoth : a ? kFirst : b ? kSecond : kNeither;
  }
  return kinds;
}
constexpr KindOfGate kKindOf = make_kinds();

// Neurons [begin, end) by kind, so that no branch depends on a gate. Without gates they are mixtures, which take both.
constexpr std::int64_t kSorted = 256;
struct SortedNeurons {
  std::int32_t neurons[kSorted];
  int starts[kKinds + 1];

  SortedNeurons(const std::uint8_t* gates, std::int64_t begin, std::int64_t end) {
    int place[kKinds + 1] = {};
    const auto kind_of = [&](std::int64_t j) { return gates ? kKindOf.of[gates[j]] : kBothTwice; };
    for (std::int64_t j = begin; j < end; ++j) ++place[kind_of(j) + 1];
    for (int kind = 0; kind < kKinds; ++kind) place[kind + 1] += place[kind];
    __builtin_memcpy(starts, place, sizeof starts);
    for (std::int64_t j = begin; j < end; ++j) neurons[place[kind_of(j)]++] = static_cast<std::int32_t>(j);
  }
};

// What the sums of a level's wires are made of, and where they go.
struct WireSums {
  const WireView& wires;
  const std::uint8_t* gates;
  const float* mixture;
  const std::uint64_t *pairs, *in;
  float* sums;

  const std::int32_t* candidates(int side, std::int64_t j, std::int64_t width) const {
    return wires.wires + (side * wires.neurons + j) * width;
  }
  float* own(int side, std::int64_t j, std::int64_t width) const {
    return sums + (side * wires.rows + (wires.row_of ? wires.row_of[j] : j)) * width;
  }
};

// The sums of 16 candidates of one wire; fresh: in place of what is there. twice: the slope may take both masks.
template <bool fresh, bool gather, bool twice = true>
[[gnu::always_inline]] inline void add_wire_sums(const SumTables& tables, const std::uint64_t* in,
                                                 const std::int32_t* candidates, const Slope& slope,
                                                 std::uint64_t other, float* sums) {
  const std::uint64_t mask = slope.flip ^ (other & slope.keep);
  Words low, high;
  gather_words<gather>(in, candidates, low, high);
  Floats total = slope.one * masked_sums(tables, low, high, mask);
  if (twice && slope.two != 0.0f) total += slope.two * masked_sums(tables, low, high, ~mask);
  store(sums, fresh ? total : total + load(sums));
}

// The same for all candidates of one wire of a two-input gate.
template <bool gather, bool fresh, bool mixed, bool twice, int fixed_width>
[[gnu::always_inline]] inline void add_gate_sums(const WireSums& of, const SumTables& tables, std::int64_t j,
                                                 int side) {
  const std::int64_t width = fixed_width ? fixed_width : of.wires.stride;
  const float* c = of.mixture + kTerms * j;
  const Slope slope = mixed ? Slope{c[1 + side] + c[3], c[1 + side], 0, ~0ULL} : kSlopes.of[of.gates[j]][side];
  const std::int32_t* candidates = of.candidates(side, j, width);
  float* own = of.own(side, j, width);
  for (std::int64_t k = 0; k < width; k += kLanes)
    add_wire_sums<fresh, gather, twice>(tables, of.in, candidates + k, slope, of.pairs[2 * j + 1 - side], own + k);
}

// Asks for what a neuron further on will need: by kind, they do not lie one behind the other.
[[gnu::always_inline]] inline void prefetch_neuron(const WireSums& of, const GradientRows& rows, std::int64_t j,
                                                   std::int64_t width) {
  for (int v = 0; !rows.row_of && v < kVectors; ++v) __builtin_prefetch(rows.rows + j * kWordSamples + v * kLanes);
  __builtin_prefetch(of.pairs + 2 * j);
  for (int side = 0; side < 2; ++side) {
    __builtin_prefetch(of.candidates(side, j, width));
    __builtin_prefetch(of.own(side, j, width));
  }
}

// fixed_width: of the candidates, or 0; the usual 16 make it a fourth faster if they are known.
template <bool gather, bool fresh, bool mixed, int fixed_width, Kind kind>
void add_neurons(const WireSums& of, const GradientRows& rows, const std::int32_t* neurons, int count) {
  constexpr int kAhead = 4;
  constexpr bool kTwice = kind == kBothTwice;
  const std::int64_t width = fixed_width ? fixed_width : of.wires.stride;
  SumTables tables;
  std::int32_t tabled = -1;  // the row whose tables these are: all neurons of a class share one
  for (int n = 0; n < count; ++n) {
    const std::int64_t j = neurons[n];
    if (kind != kNeither) {
      const std::int32_t row = rows.row_of ? rows.row_of[j] : static_cast<std::int32_t>(j);
      if (row != tabled) make_tables(rows.rows + row * kWordSamples, tables);
      tabled = row;
    }
    if (n + kAhead < count) prefetch_neuron(of, rows, neurons[n + kAhead], width);
    if (kind != kNeither && kind != kSecond) add_gate_sums<gather, fresh, mixed, kTwice, fixed_width>(of, tables, j, 0);
    if (kind != kNeither && kind != kFirst) add_gate_sums<gather, fresh, mixed, kTwice, fixed_width>(of, tables, j, 1);
    for (std::int64_t k = 0; fresh && k < width; k += kLanes) {
      if (kind == kNeither || kind == kSecond) store(of.own(0, j, width) + k, Floats{});
      if (kind == kNeither || kind == kFirst) store(of.own(1, j, width) + k, Floats{});
    }
  }
}

template <bool gather, bool fresh, bool mixed, int fixed_width>
void wire_sums(const WireView& wires, const std::uint8_t* gates, const float* mixture, const std::uint64_t* pairs,
               const std::uint64_t* in, const GradientRows& rows, float* sums) {
  const WireSums of{wires, gates, mixture, pairs, in, sums};
  const std::int64_t together = wires.row_of ? 1 : kSorted;  // neurons that share sums add to them in their order
  for (std::int64_t begin = 0; begin < wires.neurons; begin += together) {
    const SortedNeurons sorted(mixed ? nullptr : gates, begin, least(begin + together, wires.neurons));
    const auto range = [&](int kind) { return sorted.neurons + sorted.starts[kind]; };
    const auto count = [&](int kind) { return sorted.starts[kind + 1] - sorted.starts[kind]; };
    add_neurons<gather, fresh, mixed, fixed_width, kNeither>(of, rows, range(0), count(0));
    add_neurons<gather, fresh, mixed, fixed_width, kFirst>(of, rows, range(1), count(1));
    add_neurons<gather, fresh, mixed, fixed_width, kSecond>(of, rows, range(2), count(2));
    add_neurons<gather, fresh, mixed, fixed_width, kBoth>(of, rows, range(3), count(3));
    add_neurons<gather, fresh, mixed, fixed_width, kBothTwice>(of, rows, range(4), count(4));
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
