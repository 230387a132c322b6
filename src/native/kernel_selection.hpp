// From logits to a choice and back, 16 choices at a time: lane n of every vector is choice n of the block, vector k is
// candidate k, so that maxima and sums over candidates need no shuffling. Gates choose among 16, wires among any
// number.
#pragma once
#include "gate_table.hpp"
#include "kernels.hpp"
#include "simd.hpp"

namespace hardwire {
namespace {

constexpr int kPhiloxWords = 4;  // of a counter, and of its answer

// Candidates [begin, begin + 16) of `count` choices, transposed; zero where there are none.
inline void load_square(const float* logits, std::int64_t candidates, std::int64_t begin, int count,
                        Floats square[kLanes]) {
  const std::int64_t there = candidates - begin < kLanes ? candidates - begin : kLanes;
  for (int n = 0; n < kLanes; ++n) {
    const float* row = logits + n * candidates + begin;
    if (n >= count) {
      square[n] = Floats{};
    } else if (there == kLanes) {
      square[n] = load_unaligned(row);
    } else {
      alignas(64) float rest[kLanes] = {};
      for (std::int64_t k = 0; k < there; ++k) rest[k] = row[k];
      square[n] = load(rest);
    }
  }
  transpose(square);
}

inline Words lane_numbers() {
  alignas(64) static constexpr std::uint32_t kNumbers[kLanes] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  Words numbers;
  read(kNumbers, numbers);
  return numbers;
}

// z: the logits of choices [choice, choice + count); noisy: the same plus noise (the same for methods without).
// Both have room for a multiple of 16 candidates.
inline void load_block(const float* logits, std::int64_t candidates, std::int64_t choice, int count,
                       const SelectionRule& rule, Floats* z, Floats* noisy) {
  for (std::int64_t k = 0; k < candidates; k += kLanes)
    load_square(logits + choice * candidates, candidates, k, count, z + k);
  if (!rule.noisy) {
    for (std::int64_t k = 0; k < candidates; ++k) noisy[k] = z[k];
    return;
  }
  const Words lane = lane_numbers();
  for (std::int64_t k = 0; k < candidates; k += kPhiloxWords) {
    const std::uint32_t part = static_cast<std::uint32_t>(k / kPhiloxWords);
    Words counter[kPhiloxWords] = {lane + static_cast<std::uint32_t>(choice), spread(part + (rule.draw << 16)),
                                   spread(rule.step), spread(rule.noise_stream)};
    philox(counter, rule.seed_low, rule.seed_high);
    for (int word = 0; word < kPhiloxWords; ++word) noisy[k + word] = z[k + word] + gumbel(counter[word]);
  }
}

inline Floats maximum(const Floats* v, std::int64_t candidates) {
  Floats m = v[0];
  for (std::int64_t k = 1; k < candidates; ++k) m = larger(v[k], m);
  return m;
}

// w over its sum.
inline void to_shares(Floats* w, std::int64_t candidates) {
  Floats total = Floats{};
  for (std::int64_t k = 0; k < candidates; ++k) total += w[k];
  const Floats share = 1.0f / total;
  for (std::int64_t k = 0; k < candidates; ++k) w[k] = w[k] * share;
}

// w = softmax(v / tau); w may be v itself.
inline void softmax(const Floats* v, std::int64_t candidates, float tau, Floats* w) {
  const Floats top = maximum(v, candidates);
  const float scale = 1.0f / tau;
  for (std::int64_t k = 0; k < candidates; ++k) w[k] = exponential((v[k] - top) * scale);
  to_shares(w, candidates);
}

// From the gradients g of the weights w to those of the logits: w_k (g_k - sum w g) / tau.
inline void softmax_gradient(const Floats* w, std::int64_t candidates, float tau, Floats* g) {
  Floats mean = Floats{};
  for (std::int64_t k = 0; k < candidates; ++k) mean += w[k] * g[k];
  const float scale = 1.0f / tau;
  for (std::int64_t k = 0; k < candidates; ++k) g[k] = w[k] * (g[k] - mean) * scale;
}

inline bool all_finite(const Floats* v, std::int64_t candidates) {
  Floats rest = Floats{};
  for (std::int64_t k = 0; k < candidates; ++k) rest += v[k] - v[k];  // only a finite number leaves zero
  const Four folded = fold(rest);
  return folded[0] + folded[1] + folded[2] + folded[3] == 0.0f;
}

// The sum over the block's choices of max softmax(z), which is 1 / sum exp(z - max z).
inline double block_confidence(const Floats* z, std::int64_t candidates, int count) {
  const Floats top = maximum(z, candidates);
  Floats total = Floats{};
  for (std::int64_t k = 0; k < candidates; ++k) total += exponential(z[k] - top);
  alignas(64) float share[kLanes];
  store(share, 1.0f / total);
  double sum = 0;
  for (int n = 0; n < count; ++n) sum += share[n];
  return sum;
}

// The largest, ties to the lowest: a later candidate must be strictly larger.
inline Ints first_largest(const Floats* v, std::int64_t candidates) {
  Floats best = v[0];
  Ints place = Ints{};
  for (std::int64_t k = 1; k < candidates; ++k) {
    const Ints better = v[k] > best;
    best = choose(better, v[k], best);
    place = (better & static_cast<std::int32_t>(k)) | (~better & place);
  }
  return place;
}

inline void measure(const Floats* z, std::int64_t candidates, int count, const SelectionRule& rule,
                    SelectionResult& result) {
  result.finite &= all_finite(z, candidates);
  if (rule.confidence) result.confidence += block_confidence(z, candidates, count);
}

inline int block_count(std::int64_t begin, std::int64_t end) {
  return static_cast<int>(end - begin < kLanes ? end - begin : kLanes);
}

inline void store_coefficients(const Floats c[kTerms], int count, float* out) {
  alignas(64) float rows[kTerms][kLanes];
  for (int k = 0; k < kTerms; ++k) store(rows[k], c[k]);
  for (int n = 0; n < count; ++n)
    for (int k = 0; k < kTerms; ++k) out[n * kTerms + k] = rows[k][n];
}

inline SelectionResult select_gates(const float* logits, std::int64_t begin, std::int64_t end,
                                    const SelectionRule& rule, std::uint8_t* gates, float* coefficients) {
  SelectionResult result = {0.0, true};
  Floats z[kGates], noisy[kGates], w[kGates], c[kTerms];
  for (std::int64_t row = begin; row < end; row += kLanes) {
    const int count = block_count(row, end);
    load_block(logits, kGates, row, count, rule, z, noisy);
    measure(z, kGates, count, rule, result);
    if (rule.hard) {
      const Ints place = first_largest(noisy, kGates);
      if (gates) {
        std::int32_t places[kLanes];
        __builtin_memcpy(places, &place, sizeof places);
        for (int n = 0; n < count; ++n) gates[row + n] = static_cast<std::uint8_t>(places[n]);
      }
      if (!coefficients) continue;
      for (int g = 0; g < kGates; ++g) w[g] = only(place == g, spread(1.0f));
    } else {
      softmax(noisy, kGates, rule.tau, w);
    }
    mixture(w, c);
    if (coefficients) store_coefficients(c, count, coefficients + row * kTerms);
  }
  return result;
}

inline SelectionResult select_wires(const float* logits, std::int64_t candidates, std::int64_t begin, std::int64_t end,
                                    const SelectionRule& rule, float* scratch, std::int32_t* picked, float* weights) {
  SelectionResult result = {0.0, true};
  Floats *z = reinterpret_cast<Floats*>(scratch), *noisy = z + (candidates + kLanes - 1) / kLanes * kLanes;
  for (std::int64_t choice = begin; choice < end; choice += kLanes) {
    const int count = block_count(choice, end);
    load_block(logits, candidates, choice, count, rule, z, noisy);
    measure(z, candidates, count, rule, result);
    if (picked) {
      const Ints place = first_largest(noisy, candidates);
      __builtin_memcpy(picked + choice, &place, sizeof(std::int32_t) * count);
    }
    if (!weights) continue;
    softmax(noisy, candidates, rule.tau, noisy);
    for (std::int64_t k = 0; k < candidates; ++k) {
      alignas(64) float column[kLanes];
      store(column, noisy[k]);
      for (int n = 0; n < count; ++n) weights[(choice + n) * candidates + k] = column[n];
    }
  }
  return result;
}

// The sums of `count` rows over all parts: s[k] holds sum k of each row.
inline void load_sums(const SumParts& from, std::int64_t row, int count, Floats s[kTerms]) {
  alignas(64) float total[kTerms * kLanes] = {};
  for (std::int64_t part = 0; part < from.parts; ++part)
    for (int i = 0; i < kTerms * count; ++i) total[i] += from.sums[kTerms * row + part * from.stride + i];
  alignas(64) float columns[kTerms][kLanes];
  for (int n = 0; n < kLanes; ++n)
    for (int k = 0; k < kTerms; ++k) columns[k][n] = total[kTerms * n + k];
  for (int k = 0; k < kTerms; ++k) s[k] = load(columns[k]);
}

inline void gate_gradient(const float* logits, std::int64_t begin, std::int64_t end, const SelectionRule& rule,
                          const SumParts& sums, float* gradient) {
  static_assert(kGates == kLanes, "the gradients of a block are transposed in place");
  Floats z[kGates], noisy[kGates], w[kGates], s[kTerms], g[kGates];
  for (std::int64_t row = begin; row < end; row += kLanes) {
    const int count = block_count(row, end);
    load_block(logits, kGates, row, count, rule, z, noisy);
    softmax(noisy, kGates, rule.tau, w);
    load_sums(sums, row, count, s);
    gate_gradients(s, g);
    softmax_gradient(w, kGates, rule.tau, g);
    transpose(g);
    for (int n = 0; n < count; ++n) store_unaligned(gradient + (row + n) * kGates, g[n]);
  }
}

inline void wire_gradient(const float* logits, std::int64_t candidates, std::int64_t begin, std::int64_t end,
                          const SelectionRule& rule, float* scratch, const SumParts& sums, std::int64_t sum_width,
                          float* gradient) {
  Floats *g = reinterpret_cast<Floats*>(scratch), *w = g + sum_width;
  for (std::int64_t choice = begin; choice < end; choice += kLanes) {
    const int count = block_count(choice, end);
    load_block(logits, candidates, choice, count, rule, g, w);
    softmax(w, candidates, rule.tau, w);
    for (std::int64_t k = 0; k < sum_width; k += kLanes) {
      for (int n = 0; n < kLanes; ++n) {
        g[k + n] = Floats{};
        for (std::int64_t part = 0; n < count && part < sums.parts; ++part)
          g[k + n] += load(sums.sums + part * sums.stride + (choice + n) * sum_width + k);
      }
      transpose(g + k);
    }
    softmax_gradient(w, candidates, rule.tau, g);
    for (std::int64_t k = 0; k < candidates; k += kLanes) {
      transpose(g + k);
      for (int n = 0; n < count; ++n) {
        float* to = gradient + (choice + n) * candidates + k;
        if (candidates - k >= kLanes)
          store_unaligned(to, g[k + n]);
        else
          __builtin_memcpy(to, &g[k + n], sizeof(float) * (candidates - k));
      }
    }
  }
}

}  // namespace
}  // namespace hardwire
