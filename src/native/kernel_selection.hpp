// From 16 logits to a choice and back, 16 neurons at a time: lane n of every vector is neuron n of the block, vector g
// is gate g, so that maxima and sums over gates need no shuffling.
#pragma once
#include "gate_table.hpp"
#include "kernels.hpp"
#include "simd.hpp"

namespace hardwire {
namespace {

static_assert(kGates == kLanes, "a block is as many neurons as gates, so that it can be transposed in place");

struct Block {
  Floats z[kGates];      // logits
  Floats noisy[kGates];  // logits plus noise, the same as z for the methods without
};

inline void load_block(const float* logits, std::int64_t neuron, int count, const SelectionRule& rule, Block& block) {
  for (int n = 0; n < count; ++n) block.z[n] = load_unaligned(logits + (neuron + n) * kGates);
  for (int n = count; n < kLanes; ++n) block.z[n] = Floats{};
  transpose(block.z);
  if (!rule.noisy) {
    for (int g = 0; g < kGates; ++g) block.noisy[g] = block.z[g];
    return;
  }
  alignas(64) static constexpr std::uint32_t kLaneNumbers[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  Words lane;
  read(kLaneNumbers, lane);
  for (std::uint32_t part = 0; part < 4; ++part) {
    Words counter[4] = {lane + static_cast<std::uint32_t>(neuron), spread(part + (rule.draw << 16)), spread(rule.step),
                        spread(rule.place)};
    philox(counter, rule.seed_low, rule.seed_high);
    for (int word = 0; word < 4; ++word)
      block.noisy[4 * part + word] = block.z[4 * part + word] + gumbel(counter[word]);
  }
}

inline Floats maximum(const Floats v[kGates]) {
  Floats m = v[0];
  for (int g = 1; g < kGates; ++g) m = larger(v[g], m);
  return m;
}

// w = softmax(v / tau)
inline void softmax(const Floats v[kGates], float tau, Floats w[kGates]) {
  const Floats top = maximum(v);
  const float scale = 1.0f / tau;
  Floats total = Floats{};
  for (int g = 0; g < kGates; ++g) total += w[g] = exponential((v[g] - top) * scale);
  const Floats share = 1.0f / total;
  for (int g = 0; g < kGates; ++g) w[g] = w[g] * share;
}

inline bool all_finite(const Floats v[kGates]) {
  Floats rest = Floats{};
  for (int g = 0; g < kGates; ++g) rest += v[g] - v[g];  // only a finite number leaves zero
  const Four folded = fold(rest);
  return folded[0] + folded[1] + folded[2] + folded[3] == 0.0f;
}

// The sum over the block's neurons of max softmax(z), which is 1 / sum exp(z - max z).
inline double block_confidence(const Floats z[kGates], int count) {
  const Floats top = maximum(z);
  Floats total = Floats{};
  for (int g = 0; g < kGates; ++g) total += exponential(z[g] - top);
  alignas(64) float share[kLanes];
  store(share, 1.0f / total);
  double sum = 0;
  for (int n = 0; n < count; ++n) sum += share[n];
  return sum;
}

// The largest of the 16, ties to the lowest: a later gate must be strictly larger.
inline Ints first_largest(const Floats v[kGates]) {
  Floats best = v[0];
  Ints place = Ints{};
  for (int g = 1; g < kGates; ++g) {
    const Ints better = v[g] > best;
    best = choose(better, v[g], best);
    place = (better & g) | (~better & place);
  }
  return place;
}

inline void store_coefficients(const Floats c[kTerms], int count, float* out) {
  alignas(64) float rows[kTerms][kLanes];
  for (int k = 0; k < kTerms; ++k) store(rows[k], c[k]);
  for (int n = 0; n < count; ++n)
    for (int k = 0; k < kTerms; ++k) out[n * kTerms + k] = rows[k][n];
}

inline SelectionResult select(const float* logits, std::int64_t begin, std::int64_t end, const SelectionRule& rule,
                              std::uint8_t* gates, float* coefficients) {
  SelectionResult result = {0.0, true};
  Block block;
  Floats w[kGates], c[kTerms];
  for (std::int64_t neuron = begin; neuron < end; neuron += kLanes) {
    const int count = static_cast<int>(end - neuron < kLanes ? end - neuron : kLanes);
    load_block(logits, neuron, count, rule, block);
    result.finite &= all_finite(block.z);
    result.confidence += block_confidence(block.z, count);
    if (rule.hard) {
      const Ints place = first_largest(block.noisy);
      if (gates) {
        std::int32_t places[kLanes];
        __builtin_memcpy(places, &place, sizeof places);
        for (int n = 0; n < count; ++n) gates[neuron + n] = static_cast<std::uint8_t>(places[n]);
      }
      if (!coefficients) continue;
      for (int g = 0; g < kGates; ++g) w[g] = only(place == g, spread(1.0f));
    } else {
      softmax(block.noisy, rule.tau, w);
    }
    mixture(w, c);
    if (coefficients) store_coefficients(c, count, coefficients + neuron * kTerms);
  }
  return result;
}

// The sums of `count` neurons over all parts: s[k] holds sum k of each neuron.
inline void load_sums(const float* sums, std::int64_t parts, std::int64_t stride, int count, Floats s[kTerms]) {
  alignas(64) float total[kTerms * kLanes] = {};
  for (std::int64_t part = 0; part < parts; ++part)
    for (int i = 0; i < kTerms * count; ++i) total[i] += sums[part * stride + i];
  alignas(64) float columns[kTerms][kLanes];
  for (int n = 0; n < kLanes; ++n)
    for (int k = 0; k < kTerms; ++k) columns[k][n] = total[kTerms * n + k];
  for (int k = 0; k < kTerms; ++k) s[k] = load(columns[k]);
}

inline void logit_gradient(const float* logits, std::int64_t begin, std::int64_t end, const SelectionRule& rule,
                           const float* sums, std::int64_t parts, std::int64_t stride, float* gradient) {
  Block block;
  Floats w[kGates], s[kTerms], g[kGates];
  for (std::int64_t neuron = begin; neuron < end; neuron += kLanes) {
    const int count = static_cast<int>(end - neuron < kLanes ? end - neuron : kLanes);
    load_block(logits, neuron, count, rule, block);
    softmax(block.noisy, rule.tau, w);
    load_sums(sums + kTerms * neuron, parts, stride, count, s);
    gate_gradients(s, g);
    Floats mean = Floats{};
    for (int i = 0; i < kGates; ++i) mean += w[i] * g[i];
    const float scale = 1.0f / rule.tau;
    for (int i = 0; i < kGates; ++i) g[i] = w[i] * (g[i] - mean) * scale;
    transpose(g);
    for (int n = 0; n < count; ++n) store_unaligned(gradient + (neuron + n) * kGates, g[n]);
  }
}

}  // namespace
}  // namespace hardwire
