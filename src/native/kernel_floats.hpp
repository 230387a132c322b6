// The float path: 16 samples a row, every neuron four coefficients. A neuron writes the gradient of each of its two
// wires as a row of its own, so that whoever feeds it only adds rows up.
#pragma once
#include "gate_table.hpp"
#include "kernels.hpp"
#include "simd.hpp"

namespace hardwire {
namespace {

static_assert(kTileSamples == kLanes);

inline void forward_floats(const LayerView& layer, const float* coefficients, const float* in, float* out) {
  for (std::int64_t j = 0; j < layer.neurons; ++j) {
    const Floats a = load(in + layer.first[j] * kLanes), b = load(in + layer.second[j] * kLanes);
    const float* c = coefficients + kTerms * j;
    store(out + j * kLanes, (c[0] + c[1] * a) + (c[2] + c[3] * a) * b);
  }
}

// The sum of the edges that read node i.
inline Floats edge_sum(const LayerView& layer, const float* edges, std::int64_t i) {
  constexpr std::int64_t kAhead = 16;
  const std::int64_t edge_count = 2 * layer.neurons;
  Floats total = Floats{};
  for (std::int64_t e = layer.offsets[i]; e < layer.offsets[i + 1]; ++e) {
    if (e + kAhead < edge_count) __builtin_prefetch(edges + std::int64_t(layer.edges[e + kAhead]) * kLanes);
    total += load(edges + std::int64_t(layer.edges[e]) * kLanes);
  }
  return total;
}

inline void backward_floats(const LayerView& layer, const float* coefficients, const float* in,
                            const LayerView* consumers, const float* consumer_edges, const float* rows,
                            const std::int32_t* row_of, float* edges, float* sums) {
  for (std::int64_t j = 0; j < layer.neurons; ++j) {
    const Floats d = consumers ? edge_sum(*consumers, consumer_edges, j)
                               : load(rows + std::int64_t(row_of ? row_of[j] : j) * kLanes);
    const Floats a = load(in + layer.first[j] * kLanes), b = load(in + layer.second[j] * kLanes);
    const Floats da = d * a, db = d * b;
    add_lane_sums(d, da, db, da * b, sums + kTerms * j);
    if (edges) {
      const float* c = coefficients + kTerms * j;
      store(edges + 2 * j * kLanes, c[1] * d + c[3] * db);
      store(edges + (2 * j + 1) * kLanes, c[2] * d + c[3] * da);
    }
  }
}

inline void gather_edges(const LayerView& layer, const float* edges, float* in_rows) {
  for (std::int64_t i = 0; i < layer.inputs; ++i) store(in_rows + i * kLanes, edge_sum(layer, edges, i));
}

}  // namespace
}  // namespace hardwire
