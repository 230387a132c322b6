// Noise for each sample apart: lane n of every vector is sample n of a tile of 16, vector k is gate k, so the same
// arithmetic that serves 16 neurons of a pass serves 16 samples of a neuron. Noise is most of the time, and is made
// again on the way back.
#pragma once
#include "gate_table.hpp"
#include "kernel_floats.hpp"
#include "kernel_selection.hpp"
#include "kernels.hpp"
#include "simd.hpp"

namespace hardwire {
namespace {

// The logits of a row plus the noise of samples [sample, sample + 16); see hardwire/noise.py.
inline void sampled_logits(const float* z, std::int64_t row, const SelectionRule& rule, std::int64_t sample,
                           Floats noisy[kGates]) {
  for (int k = 0; k < kGates; k += kPhiloxWords) {
    const Words samples = lane_numbers() + static_cast<std::uint32_t>(sample);
    Words counter[kPhiloxWords] = {spread(static_cast<std::uint32_t>(row)),
                                   (samples << 16) + static_cast<std::uint32_t>(k / kPhiloxWords), spread(rule.step),
                                   spread(rule.place)};
    philox(counter, rule.seed_low, rule.seed_high);
    for (int word = 0; word < kPhiloxWords; ++word) noisy[k + word] = gumbel(counter[word]) + z[k + word];
  }
}

// The four coefficients of the picked gate, or of the mixture, of each sample; w: the weights of a softmax.
inline void sampled_coefficients(const Floats noisy[kGates], const Floats w[kGates], bool hard, Floats c[kTerms]) {
  if (!hard) return mixture(w, c);
  const Ints place = first_largest(noisy, kGates);
  Floats picked[kGates];
  for (int g = 0; g < kGates; ++g) picked[g] = only(place == g, spread(1.0f));
  mixture(picked, c);
}

inline std::int64_t row_of(const LevelView& level, std::int64_t neuron) {
  return level.row_of ? level.row_of[neuron] : neuron;
}

inline void forward_sampled(const LevelView& level, const float* logits, const SelectionRule& rule, std::int64_t sample,
                            const float* in, float* out) {
  Floats noisy[kGates], w[kGates], c[kTerms];
  for (std::int64_t j = 0; j < level.neurons; ++j) {
    const std::int64_t row = row_of(level, j);
    sampled_logits(logits + kGates * row, row, rule, sample, noisy);
    if (!rule.hard) softmax(noisy, kGates, rule.tau, w);
    sampled_coefficients(noisy, w, rule.hard, c);
    const Floats a = load_row(in, level.first[j]), b = load_row(in, level.second[j]);
    store(out + j * kLanes, (c[0] + c[1] * a) + (c[2] + c[3] * a) * b);
  }
}

inline void backward_sampled(const LevelView& level, const float* logits, const SelectionRule& rule,
                             std::int64_t sample, const float* in, const GradientRows& rows, float* edges,
                             float* sums) {
  Floats noisy[kGates], w[kGates], c[kTerms], g[kGates];
  for (std::int64_t j = 0; j < level.neurons; ++j) {
    const std::int64_t row = row_of(level, j);
    const Floats d = load_row(rows.rows, rows.row_of ? rows.row_of[j] : j);
    const Floats a = load_row(in, level.first[j]), b = load_row(in, level.second[j]);
    const Floats terms[kTerms] = {d, d * a, d * b, d * a * b};
    sampled_logits(logits + kGates * row, row, rule, sample, noisy);
    softmax(noisy, kGates, rule.tau, w);
    gate_gradients(terms, g);
    softmax_gradient(w, kGates, rule.tau, g);
    transpose(g);
    Floats total = load(sums + kGates * row);
    for (int n = 0; n < kLanes; ++n) total += g[n];
    store(sums + kGates * row, total);
    if (!edges) continue;
    sampled_coefficients(noisy, w, rule.hard, c);
    store(edges + 2 * j * kLanes, c[1] * terms[0] + c[3] * terms[2]);
    store(edges + (2 * j + 1) * kLanes, c[2] * terms[0] + c[3] * terms[1]);
  }
}

}  // namespace
}  // namespace hardwire
