// The packed path: activations are bits, 64 samples a word. On bits the derivative of a gate, or of a mixture of gates,
// by an input depends only on the other input, so it is one of two numbers, and a gradient row passes as one choice
// between these and one multiplication.
#pragma once
#include "kernels.hpp"
#include "simd.hpp"
#include "words.hpp"

namespace hardwire {
namespace {

// The derivative of a gate by the input on one side, where the other input is 0 and where it is 1.
struct Derivatives {
  float of[kGates][2][2];  // by gate, side and the other input
};
constexpr Derivatives make_derivatives() {
  Derivatives table{};
  for (int g = 0; g < kGates; ++g)
    for (int side = 0; side < 2; ++side) {
      const float at_zero = kCoefficients[g][1 + side];
      table.of[g][side][0] = at_zero;
      table.of[g][side][1] = at_zero + kCoefficients[g][3];
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

// Adds one consumer's gradient row to the row of an input, times the derivative where the other input is 0 or 1.
inline void add_product(const float* row, float at_zero, float at_one, const std::uint64_t* other, Floats acc[kVectors]) {
  const Floats zero = spread(at_zero), one = spread(at_one);
  for (int v = 0; v < kVectors; ++v) acc[v] += choose(mask_at(other, v), one, zero) * load(row + v * kLanes);
}

// The same in some samples only, as it is.
inline void add_samples(const float* row, std::uint64_t samples, Floats acc[kVectors]) {
  for (int v = 0; v < kVectors; ++v)
    acc[v] = add_where(acc[v], mask_of(samples >> (v * kLanes)), load(row + v * kLanes));
}

// pair: the words of both inputs.
inline void add_sums(const Floats row[kVectors], const std::uint64_t* pair, float* sums) {
  Floats all = row[0], with_a = Floats{}, with_b = Floats{}, with_both = Floats{};
  for (int v = 0; v < kVectors; ++v) {
    const Mask a = mask_at(pair, v), b = mask_at(pair + 1, v);
    if (v) all += row[v];
    with_a = add_where(with_a, a, row[v]);
    with_b = add_where(with_b, b, row[v]);
    with_both = add_where(with_both, both(a, b), row[v]);
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
      const int side = edge & 1;
      if (kThrough == kMixture) {
        const float* c = mixture + kTerms * j;
        add_product(row, c[1 + side], c[1 + side] + c[3], pairs + (edge ^ 1), acc);
      } else if (kThrough == kMaximum) {
        add_samples(row, to_larger(side, pairs[edge], pairs[edge ^ 1]), acc);
      } else {
        const float* derivative = kDerivatives.of[gates[j]][side];
        add_product(row, derivative[0], derivative[1], pairs + (edge ^ 1), acc);
      }
    }
    if (kSums) add_sums(acc, below->pairs + 2 * i, sums_of(*below, i));
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
    add_sums(d, sums.pairs + 2 * j, sums_of(sums, j));
  }
}

}  // namespace
}  // namespace hardwire
