// The packed path: activations are bits, 64 samples a word. On bits a gate's derivative by an input is -1, 0 or +1 and
// depends only on the other input, so a gradient row passes a gate as one masked addition and one masked subtraction.
#pragma once
#include "kernels.hpp"
#include "simd.hpp"
#include "words.hpp"

namespace hardwire {
namespace {

// The samples in which the derivative is +1: plus ^ (other & plus_flip); -1: minus ^ (other & minus_flip).
struct Derivative {
  std::uint64_t plus, plus_flip, minus, minus_flip;
};
struct Derivatives {
  Derivative of[kGates][2];  // by gate and side
};
constexpr Derivatives make_derivatives() {
  Derivatives table{};
  for (int g = 0; g < kGates; ++g)
    for (int side = 0; side < 2; ++side) {
      int slope[2] = {0, 0};  // for the other input at 0 and at 1
      for (int other = 0; other < 2; ++other)
        slope[other] =
            side == 0 ? kTruth[g][2 + other] - kTruth[g][other] : kTruth[g][2 * other + 1] - kTruth[g][2 * other];
      const std::uint64_t p0 = slope[0] > 0 ? ~0ULL : 0, p1 = slope[1] > 0 ? ~0ULL : 0;
      const std::uint64_t m0 = slope[0] < 0 ? ~0ULL : 0, m1 = slope[1] < 0 ? ~0ULL : 0;
      table.of[g][side] = {p0, p0 ^ p1, m0, m0 ^ m1};
    }
  return table;
}
constexpr Derivatives kDerivatives = make_derivatives();

inline void forward_bits(const LevelView& level, const std::uint8_t* gates, const std::uint64_t* in, std::uint64_t* out,
                         std::uint64_t* pairs) {
  for (std::int64_t j = 0; j < level.neurons; ++j) {
    const std::uint64_t a = in[level.first[j]], b = in[level.second[j]];
    out[j] = apply_masks(gate_masks(gates[j]), a, b);
    pairs[2 * j] = a;
    pairs[2 * j + 1] = b;
  }
}

// The same for rows of words: what the gate is has to be found out only once for all of them.
inline void rows_of(int words, const LevelView& level, const std::uint8_t* gates, const std::uint64_t* in,
                    std::uint64_t* out) {
  for (std::int64_t j = 0; j < level.neurons; ++j) {
    const std::uint64_t *a = in + std::int64_t(level.first[j]) * kRowWords,
                        *b = in + std::int64_t(level.second[j]) * kRowWords;
    const GateMasks gate = gate_masks(gates[j]);
    for (int w = 0; w < words; ++w) out[j * kRowWords + w] = apply_masks(gate, a[w], b[w]);
  }
}

inline void forward_rows(int words, const LevelView& level, const std::uint8_t* gates, const std::uint64_t* in,
                         std::uint64_t* out) {
  if (words == kRowWords)
    rows_of(kRowWords, level, gates, in, out);  // a constant: the loop becomes vector operations
  else
    rows_of(words, level, gates, in, out);
}

typedef std::uint64_t Row __attribute__((vector_size(kRowWords * sizeof(std::uint64_t))));

inline void group_scores(const std::uint64_t* rows, std::int64_t neurons, std::int64_t classes, std::int64_t samples,
                         float temperature, float* scores) {
  const std::int64_t size = neurons / classes;
  for (std::int64_t c = 0; c < classes; ++c) {
    const auto value = [&](std::size_t i) {
      Row row;
      __builtin_memcpy(&row, rows + (c * size + i) * kRowWords, sizeof row);
      return row;
    };
    Row planes[kMostPlanes];
    count_words(size, value, planes);
    read_planes(planes, bit_width(size), samples, [&](std::size_t sample, std::uint64_t number) {
      scores[sample * classes + c] = static_cast<float>(number) / temperature;
    });
  }
}

constexpr int kVectors = kWordSamples / kLanes;  // of a gradient row

// Adds one consumer's gradient row, seen through its gate, to the row of an input.
inline void add_through_gate(const float* row, const Derivative& slope, std::uint64_t other, Floats acc[kVectors]) {
  const std::uint64_t plus = slope.plus ^ (other & slope.plus_flip);
  const std::uint64_t minus = slope.minus ^ (other & slope.minus_flip);
  for (int v = 0; v < kVectors; ++v) {
    const Floats d = load(row + v * kLanes);
    acc[v] = add_where(acc[v], plus >> (v * kLanes), d);
    acc[v] = subtract_where(acc[v], minus >> (v * kLanes), d);
  }
}

// The same through a mixture of gates with coefficients c, to the input on this side.
inline void add_through_mixture(const float* row, const float* c, int side, std::uint64_t other, Floats acc[kVectors]) {
  const Floats at_zero = spread(c[1 + side]), more_at_one = spread(c[3]);
  for (int v = 0; v < kVectors; ++v)
    acc[v] += add_where(at_zero, other >> (v * kLanes), more_at_one) * load(row + v * kLanes);
}

inline void add_sums(const Floats row[kVectors], std::uint64_t a, std::uint64_t b, float* sums) {
  Floats all = row[0], with_a = Floats{}, with_b = Floats{}, with_both = Floats{};
  for (int v = 0; v < kVectors; ++v) {
    if (v) all += row[v];
    with_a = add_where(with_a, a >> (v * kLanes), row[v]);
    with_b = add_where(with_b, b >> (v * kLanes), row[v]);
    with_both = add_where(with_both, (a & b) >> (v * kLanes), row[v]);
  }
  add_lane_sums(all, with_a, with_b, with_both, sums);
}

inline float* sums_of(const SumsView& view, std::int64_t j) {
  return view.sums + kTerms * (view.row_of ? view.row_of[j] : j);
}

// The samples whose gradient goes to this input of a level with `maximum`: where it is larger, or the first of equals.
inline std::uint64_t to_larger(int side, std::uint64_t own, std::uint64_t other) {
  return side == 0 ? own | ~other : own & ~other;
}

enum Passing { kGate, kMixture, kMaximum };

// kRows: several consumers share a gradient row (class rows). kSums: reduce to the four sums as well.
template <bool kRows, bool kSums, Passing kThrough>
void backward(const LevelView& level, const std::uint8_t* gates, const float* mixture, const std::uint64_t* pairs,
              const GradientRows& rows, float* in_rows, const SumsView* below) {
  constexpr std::int64_t kAhead = 32;  // fewer wait for memory where the rows of a level are more than a cache holds
  const std::int64_t edge_count = level.offsets[level.inputs];
  for (std::int64_t i = 0; i < level.inputs; ++i) {
    Floats acc[kVectors];
    for (int v = 0; v < kVectors; ++v) acc[v] = Floats{};
    for (std::int64_t e = level.offsets[i]; e < level.offsets[i + 1]; ++e) {
      if (e + kAhead < edge_count) {  // the second input's consumers lie anywhere: ask for them early
        const std::int64_t ahead = level.edges[e + kAhead] >> 1;
        for (int v = 0; !kRows && v < kVectors; ++v)
          __builtin_prefetch(rows.rows + ahead * kWordSamples + v * kLanes);
        __builtin_prefetch(pairs + 2 * ahead);
        if (kThrough == kMixture) __builtin_prefetch(mixture + kTerms * ahead);
      }
      const std::uint32_t edge = level.edges[e];
      const std::int64_t j = edge >> 1;
      const float* row = rows.rows + (kRows ? rows.row_of[j] : j) * kWordSamples;
      if (kThrough == kMixture)
        add_through_mixture(row, mixture + kTerms * j, edge & 1, pairs[edge ^ 1], acc);
      else if (kThrough == kMaximum)
        add_through_gate(row, {to_larger(edge & 1, pairs[edge], pairs[edge ^ 1]), 0, 0, 0}, 0, acc);
      else
        add_through_gate(row, kDerivatives.of[gates[j]][edge & 1], pairs[edge ^ 1], acc);
    }
    if (kSums) add_sums(acc, below->pairs[2 * i], below->pairs[2 * i + 1], sums_of(*below, i));
    if (in_rows)
      for (int v = 0; v < kVectors; ++v) store(in_rows + i * kWordSamples + v * kLanes, acc[v]);
  }
}

template <bool kRows, bool kSums>
void backward_through(Passing through, const LevelView& level, const std::uint8_t* gates, const float* mixture,
                      const std::uint64_t* pairs, const GradientRows& rows, float* in_rows, const SumsView* below) {
  constexpr decltype(&backward<kRows, kSums, kGate>) kByCase[] = {
      backward<kRows, kSums, kGate>, backward<kRows, kSums, kMixture>, backward<kRows, kSums, kMaximum>};
  kByCase[through](level, gates, mixture, pairs, rows, in_rows, below);
}

inline void backward_bits(const LevelView& level, const std::uint8_t* gates, const float* mixture,
                          const std::uint64_t* pairs, const GradientRows& rows, float* in_rows, const SumsView* below) {
  constexpr decltype(&backward_through<false, false>) kByCase[2][2] = {
      {backward_through<false, false>, backward_through<false, true>},
      {backward_through<true, false>, backward_through<true, true>},
  };
  const Passing through = level.maximum ? kMaximum : mixture ? kMixture : kGate;
  kByCase[rows.row_of != nullptr][below != nullptr](through, level, gates, mixture, pairs, rows, in_rows, below);
}

inline void sums_bits(std::int64_t neurons, const GradientRows& rows, const SumsView& sums) {
  for (std::int64_t j = 0; j < neurons; ++j) {
    const float* row = rows.rows + (rows.row_of ? rows.row_of[j] : j) * kWordSamples;
    Floats d[kVectors];
    for (int v = 0; v < kVectors; ++v) d[v] = load(row + v * kLanes);
    add_sums(d, sums.pairs[2 * j], sums.pairs[2 * j + 1], sums_of(sums, j));
  }
}

}  // namespace
}  // namespace hardwire
