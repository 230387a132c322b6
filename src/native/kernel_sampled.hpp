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

// Gives use(k, e) the exponential draws e of gate k of a row for samples [sample, sample + 16); see hardwire/noise.py.
// Gumbel noise is -ln e.
template <class Use>
inline void draw_samples(std::int64_t row, const SelectionRule& rule, std::int64_t sample, Use use) {
  const Words samples = lane_numbers() + static_cast<std::uint32_t>(sample);
  for (int k = 0; k < kGates; k += kPhiloxWords) {
    Words counter[kPhiloxWords] = {spread(static_cast<std::uint32_t>(row)),
                                   (samples << 16) + static_cast<std::uint32_t>(k / kPhiloxWords), spread(rule.step),
                                   spread(rule.place)};
    philox(counter, rule.seed_low, rule.seed_high);
    for (int word = 0; word < kPhiloxWords; ++word) use(k + word, exponential_draw(counter[word]));
  }
}

// What each gate's exponential draw is multiplied by in a race: z - ln e is largest where e * exp(-z) is smallest,
// which takes no second logarithm of the noise. Gates whose logit is 32 below the largest are out (infinity), as in a
// softmax: noise of 23 bits spans 20.
inline void race_handicaps(const float* logits, std::int64_t begin, std::int64_t end, float* handicaps) {
  for (std::int64_t row = begin; row < end; ++row) {
    const float* z = logits + kGates * row;
    float top = z[0];
    for (int k = 1; k < kGates; ++k) top = z[k] > top ? z[k] : top;
    store_unaligned(handicaps + kGates * row, 1.0f / exponential(load_unaligned(z) - top));
  }
}

// The gate with the largest noisy logit of each sample: the first to arrive.
struct Race {
  Floats first = spread(__builtin_inff());
  Ints winner = Ints{};

  void enter(int k, const Floats& arrival) {  // in the order of gates, so that ties go to the lowest
    const Ints earlier = arrival < first;
    first = choose(earlier, arrival, first);
    winner = (earlier & k) | (~earlier & winner);
  }
};

struct Columns {
  alignas(64) float of[kTerms][kGates];
};
constexpr Columns make_columns() {
  Columns columns{};
  for (int gate = 0; gate < kGates; ++gate)
    for (int term = 0; term < kTerms; ++term) columns.of[term][gate] = kCoefficients[gate][term];
  return columns;
}
constexpr Columns kColumns = make_columns();

// The four coefficients of the gate that each sample picked.
inline void picked_coefficients(const Ints& gate, Floats c[kTerms]) {
  for (int term = 0; term < kTerms; ++term) c[term] = look_up(load(kColumns.of[term]), as_words(gate));
}

inline std::int64_t row_of(const LevelView& level, std::int64_t neuron) {
  return level.row_of ? level.row_of[neuron] : neuron;
}

inline void forward_sampled(const LevelView& level, const SampledGates& gates, const SelectionRule& rule,
                            std::int64_t sample, const float* in, float* out) {
  Floats noisy[kGates], w[kGates], c[kTerms];
  for (std::int64_t j = 0; j < level.neurons; ++j) {
    const std::int64_t row = row_of(level, j);
    if (rule.hard) {
      const float* handicap = gates.handicaps + kGates * row;
      Race race;
      draw_samples(row, rule, sample, [&](int k, const Floats& e) { race.enter(k, e * handicap[k]); });
      picked_coefficients(race.winner, c);
    } else {
      const float* z = gates.logits + kGates * row;
      draw_samples(row, rule, sample, [&](int k, const Floats& e) { noisy[k] = z[k] - logarithm(e); });
      softmax(noisy, kGates, rule.tau, w);
      mixture(w, c);
    }
    const Floats a = load_row(in, level.first[j]), b = load_row(in, level.second[j]);
    store(out + j * kLanes, (c[0] + c[1] * a) + (c[2] + c[3] * a) * b);
  }
}

// The weights of a row's gates, softmax((z + noise) / tau), and the gate that wins. At tau 1 a weight is one over the
// time of arrival, but for a common factor: no logarithm, no exponential.
inline Ints sampled_weights(const SampledGates& gates, std::int64_t row, const SelectionRule& rule, std::int64_t sample,
                            Floats w[kGates]) {
  const float *z = gates.logits + kGates * row, *handicap = gates.handicaps + kGates * row;
  const bool plain = rule.tau == 1.0f;
  Race race;
  draw_samples(row, rule, sample, [&](int k, const Floats& e) {
    const Floats arrival = e * handicap[k];
    race.enter(k, arrival);
    w[k] = plain ? 1.0f / arrival : z[k] - logarithm(e);
  });
  if (plain)
    to_shares(w, kGates);
  else
    softmax(w, kGates, rule.tau, w);
  return race.winner;
}

inline void backward_sampled(const LevelView& level, const SampledGates& gates, const SelectionRule& rule,
                             std::int64_t sample, const float* in, const GradientRows& rows, float* below,
                             float* sums) {
  Floats w[kGates], c[kTerms], g[kGates];
  for (std::int64_t j = 0; j < level.neurons; ++j) {
    const std::int64_t row = row_of(level, j);
    const Floats d = load_row(rows.rows, rows.row_of ? rows.row_of[j] : j);
    const Floats a = load_row(in, level.first[j]), b = load_row(in, level.second[j]);
    const Floats terms[kTerms] = {d, d * a, d * b, d * a * b};
    const Ints winner = sampled_weights(gates, row, rule, sample, w);
    gate_gradients(terms, g);
    softmax_gradient(w, kGates, rule.tau, g);
    for (int k = 0; k < kGates; k += 4) add_lane_sums(g[k], g[k + 1], g[k + 2], g[k + 3], sums + kGates * row + k);
    if (!below) continue;
    if (rule.hard)
      picked_coefficients(winner, c);
    else
      mixture(w, c);
    add_to_row(below, level.first[j], c[1] * terms[0] + c[3] * terms[2]);
    add_to_row(below, level.second[j], c[2] * terms[0] + c[3] * terms[1]);
  }
}

}  // namespace
}  // namespace hardwire
