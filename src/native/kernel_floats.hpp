// The float path: 16 samples a row, every neuron four coefficients. A neuron writes the gradient of each of its two
// wires as a row of its own, so that whoever feeds it only adds rows up.
#pragma once
#include "gate_table.hpp"
#include "kernels.hpp"
#include "simd.hpp"

namespace hardwire {
namespace {

inline Floats load_row(const float* rows, std::int64_t row) { return load(rows + row * kLanes); }

inline void forward_floats(const LevelView& level, const float* coefficients, const float* in, float* out) {
  for (std::int64_t j = 0; j < level.neurons; ++j) {
    const Floats a = load_row(in, level.first[j]), b = load_row(in, level.second[j]);
    const float* c = coefficients + kTerms * j;
    store(out + j * kLanes, (c[0] + c[1] * a) + (c[2] + c[3] * a) * b);
  }
}

// The sum of the edges that read node i.
inline Floats edge_sum(const LevelView& level, const float* edges, std::int64_t i) {
  constexpr std::int64_t kAhead = 16;
  const std::int64_t edge_count = level.offsets[level.inputs];
  Floats total = Floats{};
  for (std::int64_t e = level.offsets[i]; e < level.offsets[i + 1]; ++e) {
    if (e + kAhead < edge_count) __builtin_prefetch(edges + std::int64_t(level.edges[e + kAhead]) * kLanes);
    total += load_row(edges, level.edges[e]);
  }
  return total;
}

// The choice of a wire, 2 * neuron + side, among the parameters of its level.
inline std::int64_t choice_of(std::int64_t wire, std::int64_t rows, const std::int32_t* row_of) {
  const std::int64_t neuron = wire / 2;
  return wire % 2 * rows + (row_of ? row_of[neuron] : neuron);
}

// The same where a node feeds mixtures: each edge counts by its weight.
inline Floats mixed_edge_sum(const LevelView& level, const float* edges, std::int64_t i) {
  const std::uint32_t candidates = static_cast<std::uint32_t>(level.candidates);
  Floats total = Floats{};
  for (std::int64_t e = level.offsets[i]; e < level.offsets[i + 1]; ++e) {
    const std::uint32_t wire = level.edges[e] / candidates, candidate = level.edges[e] % candidates;
    const std::int64_t choice = choice_of(wire, level.rows, level.row_of);
    total += level.weights[choice * level.candidates + candidate] * load_row(edges, wire);
  }
  return total;
}

inline Floats node_gradient(const LevelView& consumers, const float* edges, std::int64_t i) {
  return consumers.weights ? mixed_edge_sum(consumers, edges, i) : edge_sum(consumers, edges, i);
}

// One level on the way back; gradient_of(j) is that of neuron j's output. The view comes by value, or every store could
// change it in the compiler's eyes.
template <bool maximum, class Gradient>
inline void backward_level(const LevelView level, const float* coefficients, const float* in, Gradient gradient_of,
                           float* edges, float* sums) {
  for (std::int64_t j = 0; j < level.neurons; ++j) {
    const Floats d = gradient_of(j);
    const Floats a = load_row(in, level.first[j]), b = load_row(in, level.second[j]);
    const Floats da = d * a, db = d * b;
    if (sums) add_lane_sums(d, da, db, da * b, sums + kTerms * (level.row_of ? level.row_of[j] : j));
    if (!edges) continue;
    Floats to_first, to_second;
    if (maximum) {
      to_second = only(b > a, d);
      to_first = d - to_second;
    } else {
      const float* c = coefficients + kTerms * j;
      to_first = c[1] * d + c[3] * db;
      to_second = c[2] * d + c[3] * da;
    }
    store(edges + 2 * j * kLanes, to_first);
    store(edges + (2 * j + 1) * kLanes, to_second);
  }
}

inline void backward_floats(const LevelView& level, const float* coefficients, const float* in,
                            const LevelView* consumers, const float* consumer_edges, const GradientRows& rows,
                            float* edges, float* sums) {
  const auto with = [&](auto gradient_of) {
    (level.maximum ? backward_level<true, decltype(gradient_of)>
                   : backward_level<false, decltype(gradient_of)>)(level, coefficients, in, gradient_of, edges, sums);
  };
  if (!consumers)
    with([rows](std::int64_t j) { return load_row(rows.rows, rows.row_of ? rows.row_of[j] : j); });
  else if (consumers->weights)
    with([above = *consumers, consumer_edges](std::int64_t j) { return mixed_edge_sum(above, consumer_edges, j); });
  else
    with([above = *consumers, consumer_edges](std::int64_t j) { return edge_sum(above, consumer_edges, j); });
}

inline void gather_edges(const LevelView& level, const float* edges, float* in_rows) {
  for (std::int64_t i = 0; i < level.inputs; ++i) store(in_rows + i * kLanes, node_gradient(level, edges, i));
}

inline const std::int32_t* candidates_of(const WireView& wires, std::int64_t wire) {
  return wires.wires + (wire % 2 * wires.neurons + wire / 2) * wires.stride;
}

inline void mix_wires(const WireView& wires, const float* weights, const float* in, float* mixed) {
  for (std::int64_t wire = 0; wire < 2 * wires.neurons; ++wire) {
    const std::int32_t* candidate = candidates_of(wires, wire);
    const float* weight = weights + choice_of(wire, wires.rows, wires.row_of) * wires.candidates;
    Floats total = Floats{};
    for (std::int64_t k = 0; k < wires.candidates; ++k) total += weight[k] * load_row(in, candidate[k]);
    store(mixed + wire * kLanes, total);
  }
}

inline void wire_sums_floats(const WireView& wires, const float* in, const float* edges, float* sums) {
  for (std::int64_t wire = 0; wire < 2 * wires.neurons; ++wire) {
    const std::int32_t* candidate = candidates_of(wires, wire);
    const Floats e = load_row(edges, wire);
    float* out = sums + choice_of(wire, wires.rows, wires.row_of) * wires.stride;
    for (std::int64_t k = 0; k < wires.candidates; k += 4) {  // the stride is padded, so four are always there
      const auto product = [&](int i) { return e * load_row(in, candidate[k + i]); };
      add_lane_sums(product(0), product(1), product(2), product(3), out + k);
    }
  }
}

}  // namespace
}  // namespace hardwire
