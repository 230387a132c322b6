// Noise for each sample apart: lane n of every vector is sample n of a tile of 16, vector k is gate k, so the same
// arithmetic that serves 16 neurons of a pass serves 16 samples of a neuron. Noisy logits are a race of the gates, as
// hardwire/noise.py has it: who wins takes one draw, so a pass that picks is nearly as fast as one without noise. When
// all of them arrive takes sixteen, on the way back or where gates are mixed, and these draws are most of the time.
#pragma once
#include "gate_table.hpp"
#include "kernel_floats.hpp"
#include "kernel_selection.hpp"
#include "kernels.hpp"
#include "simd.hpp"

namespace hardwire {
namespace {

// Four random words for each of samples [sample, sample + 16), by a number (of a row, or of four) and a part; see
// hardwire/noise.py.
inline void draw_words(std::int64_t number, int part, const SelectionRule& rule, std::int64_t sample,
                       Words words[kPhiloxWords]) {
  const Words samples = lane_numbers() + static_cast<std::uint32_t>(sample);
  words[0] = spread(static_cast<std::uint32_t>(number));
  words[1] = (samples << 16) + static_cast<std::uint32_t>(part);
  words[2] = spread(rule.step);
  words[3] = spread(rule.noise_stream);
  philox(words, rule.seed_low, rule.seed_high);
}

constexpr float kFarthest = -60.0f;  // of a logit below the largest, that one over its share is a float

// What a race of the gates of rows [begin, end) needs to know; see RaceView.
inline void race_odds(const float* logits, std::int64_t begin, std::int64_t end, const RaceOdds& odds) {
  for (std::int64_t row = begin; row < end; ++row) {
    const std::int64_t at = kGates * row;
    const float* z = logits + at;
    float top = z[0];
    for (int k = 1; k < kGates; ++k) top = z[k] > top ? z[k] : top;
    const Floats below = load_unaligned(z) - top, near = larger(below, spread(kFarthest));
    const Floats root = exponential(near * 0.5f);
    store_unaligned(odds.upto + at, exponential(below));
    float total = 0;
    for (int k = 0; k < kGates; ++k) odds.upto[at + k] = total += odds.upto[at + k];
    for (int k = 0; k < kGates; ++k) odds.upto[at + k] /= total;  // from the last gate with a chance on exactly 1
    store_unaligned(odds.waits + at, total / (root * root));
    store_unaligned(odds.rest + at, below - near);
  }
}

// Who wins, for samples [sample, sample + 16): a uniform draw against what the gates have up to each. A counter gives
// the draws of four rows, one behind another.
struct RaceWinners {
  const RaceView& race;
  const SelectionRule& rule;
  std::int64_t sample, four = -1;  // rows, by the number of these
  Words words[kPhiloxWords] = {};

  Ints of(std::int64_t row) {
    if (row / kPhiloxWords != four) draw_words(four = row / kPhiloxWords, kGates / kPhiloxWords, rule, sample, words);
    const Floats uniform = uniform_draw(words[row % kPhiloxWords]);
    const Floats upto = load_unaligned(race.upto + kGates * row);
    Ints gate = Ints{};
    for (int step = kGates / 2; step > 0; step /= 2)  // by halves
      gate = gate | (~(uniform < look_up(upto, as_words(gate + (step - 1)))) & step);
    return gate;
  }
};

constexpr float kNever = 1e13f;  // a time so late that the weight is nothing, as in `exponential`

// The noisy logits of a row, but for what they have in common; in_times: e to them, one over the times of arrival. The
// winner arrives after its own draw, each other one later than that by its draw times its wait.
template <bool in_times>
inline void race_logits(const RaceView& race, std::int64_t row, const SelectionRule& rule, std::int64_t sample,
                        const Ints& winner, Floats v[kGates]) {
  const float *wait = race.waits + kGates * row, *rest = race.rest + kGates * row;
  Floats first = Floats{};
  Words words[kPhiloxWords];
  for (int k = 0; k < kGates; ++k) {
    if (k % kPhiloxWords == 0) draw_words(row, k / kPhiloxWords, rule, sample, words);
    v[k] = exponential_draw(words[k % kPhiloxWords]);
    first = choose(winner == k, v[k], first);
  }
  for (int k = 0; k < kGates; ++k) {
    const Floats time = choose(winner == k, first, first + v[k] * wait[k]);
    v[k] = in_times ? only(time < spread(kNever), 1.0f / time) : rest[k] - logarithm(time);
  }
}

// softmax((z + noise) / tau); at tau 1 without a logarithm or an exponential of each.
inline void race_weights(const RaceView& race, std::int64_t row, const SelectionRule& rule, std::int64_t sample,
                         const Ints& winner, Floats w[kGates]) {
  if (rule.tau == 1.0f) {
    race_logits<true>(race, row, rule, sample, winner, w);
    to_shares(w, kGates);
  } else {
    race_logits<false>(race, row, rule, sample, winner, w);
    softmax(w, kGates, rule.tau, w);
  }
}

// softmax(z / tau), the same for all samples: the surrogate without noise.
inline void clean_weights(const RaceView& race, std::int64_t row, float tau, Floats w[kGates]) {
  const Floats logits = load_unaligned(race.rest + kGates * row) - logarithm(load_unaligned(race.waits + kGates * row));
  alignas(64) float z[kGates];
  store(z, logits);
  float top = z[0], total = 0;
  for (int k = 1; k < kGates; ++k) top = z[k] > top ? z[k] : top;
  store(z, exponential((logits - top) * (1.0f / tau)));
  for (int k = 0; k < kGates; ++k) total += z[k];
  for (int k = 0; k < kGates; ++k) w[k] = spread(z[k] / total);
}

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

// The coefficients by which a neuron maps its inputs: of the gate that was picked, or mixed by the weights w.
inline void sampled_coefficients(bool hard, const Ints& winner, const Floats w[kGates], Floats c[kTerms]) {
  if (hard)
    picked_coefficients(winner, c);
  else
    mixture(w, c);
}

inline void forward_sampled(const LevelView& level, const RaceView& race, const SelectionRule& rule,
                            std::int64_t sample, const float* in, float* out) {
  Floats w[kGates], c[kTerms];
  RaceWinners winners{race, rule, sample};
  for (std::int64_t j = 0; j < level.neurons; ++j) {
    const std::int64_t row = row_of(level, j);
    const Ints winner = winners.of(row);
    if (!rule.hard) race_weights(race, row, rule, sample, winner, w);
    sampled_coefficients(rule.hard, winner, w, c);
    const Floats a = load_row(in, level.first[j]), b = load_row(in, level.second[j]);
    store(out + j * kLanes, within_unit((c[0] + c[1] * a) + (c[2] + c[3] * a) * b));
  }
}

inline void backward_sampled(const LevelView& level, const RaceView& race, const SelectionRule& rule,
                             std::int64_t sample, const float* in, const GradientRows& rows, bool by_mixture,
                             float* below, float* sums) {
  Floats w[kGates], c[kTerms], g[kGates];
  RaceWinners winners{race, rule, sample};
  for (std::int64_t j = 0; j < level.neurons; ++j) {
    const std::int64_t row = row_of(level, j);
    const Floats d = load_row(rows.rows, rows.row_of ? rows.row_of[j] : j);
    const Floats a = load_row(in, level.first[j]), b = load_row(in, level.second[j]);
    const Floats terms[kTerms] = {d, d * a, d * b, d * a * b};
    const Ints winner = rule.clean_surrogate && by_mixture ? Ints{} : winners.of(row);  // one that nobody asks for
    if (rule.clean_surrogate)
      clean_weights(race, row, rule.tau, w);
    else
      race_weights(race, row, rule, sample, winner, w);
    gate_gradients(terms, g);
    softmax_gradient(w, kGates, rule.tau, g);
    for (int k = 0; k < kGates; k += 4) add_lane_sums(g[k], g[k + 1], g[k + 2], g[k + 3], sums + kGates * row + k);
    if (!below) continue;
    sampled_coefficients(rule.hard && !by_mixture, winner, w, c);
    add_to_row(below, level.first[j], c[1] * terms[0] + c[3] * terms[2]);
    add_to_row(below, level.second[j], c[2] * terms[0] + c[3] * terms[1]);
  }
}

}  // namespace
}  // namespace hardwire
