// The float path: 16 samples a row, every neuron four coefficients. On the way back a neuron adds the gradients of its
// two wires to the rows of what feeds it.
#pragma once
#include "gate_table.hpp"
#include "kernels.hpp"
#include "simd.hpp"

namespace hardwire {
namespace {

inline Floats load_row(const float* rows, std::int64_t row) { return load(rows + row * kLanes); }

// Rows are read in random order, and are fetched so many neurons before they are needed. Inlined by
// force: to GCC a function that only fetches does nothing, and its calls are dropped.
constexpr std::int64_t kAhead = 16;

__attribute__((always_inline)) inline void fetch_rows(const LevelView& level, std::int64_t j, const float* rows) {
  if (j + kAhead >= level.neurons) return;
  __builtin_prefetch(rows + std::int64_t(level.first[j + kAhead]) * kLanes);
  __builtin_prefetch(rows + std::int64_t(level.second[j + kAhead]) * kLanes);
}

inline void forward_floats(const LevelView& level, const float* coefficients, const float* in, float* out) {
  for (std::int64_t j = 0; j < level.neurons; ++j) {
    fetch_rows(level, j, in);
    const Floats a = load_row(in, level.first[j]), b = load_row(in, level.second[j]);
    const float* c = coefficients + kTerms * j;
    // through many levels an error below 0 can double in each, as in OR(x, x) = 2x - x * x; in [0, 1] it cannot
    store(out + j * kLanes, within_unit((c[0] + c[1] * a) + (c[2] + c[3] * a) * b));
  }
}

inline void sum_rows(const float* rows, std::int64_t count, float* sums) {
  Floats total = Floats{};
  for (std::int64_t i = 0; i < count; ++i) total += load_row(rows, i);
  store(sums, total);
}

// Rows of zeros and ones as bits, sample n of a tile in bit n, and back, all of them or those that are listed.
inline void pack_rows(const float* rows, std::int64_t count, std::uint16_t* bits) {
  for (std::int64_t i = 0; i < count; ++i)
    bits[i] = static_cast<std::uint16_t>(lane_bits(load_row(rows, i) > spread(0.5f)));
}
inline void unpack_rows(const std::uint16_t* bits, const std::int32_t* listed, std::int64_t count, float* rows) {
  const Floats one = spread(1.0f);
  for (std::int64_t n = 0; n < count; ++n) {
    const std::int64_t i = listed ? listed[n] : n;
    store(rows + i * kLanes, only(mask_of(bits[i]), one));
  }
}

// The choice of a wire, 2 * neuron + side, among the parameters of its level.
inline std::int64_t choice_of(std::int64_t wire, std::int64_t rows, const std::int32_t* row_of) {
  const std::int64_t neuron = wire / 2;
  return wire % 2 * rows + (row_of ? row_of[neuron] : neuron);
}

inline void add_to_row(float* rows, std::int64_t row, const Floats& x) {
  store(rows + row * kLanes, load_row(rows, row) + x);
}

// Where the gradients of a neuron's two wires go.
struct WireGradients {
  float *edges, *below;

  void pass_on(const LevelView& level, std::int64_t j, const Floats& to_first, const Floats& to_second) const {
    if (edges) {
      store(edges + 2 * j * kLanes, to_first);
      store(edges + (2 * j + 1) * kLanes, to_second);
    }
    if (below) {
      add_to_row(below, level.first[j], to_first);
      add_to_row(below, level.second[j], to_second);
    }
  }
};

// The view comes by value, or every store could change it in the compiler's eyes.
template <bool maximum>
inline void backward_level(const LevelView level, const float* coefficients, const float* in, const GradientRows rows,
                           const WireGradients to, float* sums) {
  for (std::int64_t j = 0; j < level.neurons; ++j) {
    fetch_rows(level, j, in);
    if (to.below) fetch_rows(level, j, to.below);
    const Floats d = load_row(rows.rows, rows.row_of ? rows.row_of[j] : j);
    const Floats a = load_row(in, level.first[j]), b = load_row(in, level.second[j]);
    const Floats da = d * a, db = d * b;
    if (sums) add_lane_sums(d, da, db, da * b, sums + kTerms * (level.row_of ? level.row_of[j] : j));
    if (maximum) {
      const Floats to_second = only(b > a, d);
      to.pass_on(level, j, d - to_second, to_second);
    } else {
      const float* c = coefficients + kTerms * j;
      to.pass_on(level, j, c[1] * d + c[3] * db, c[2] * d + c[3] * da);
    }
  }
}

inline void backward_floats(const LevelView& level, const float* coefficients, const float* in,
                            const GradientRows& rows, float* edges, float* below, float* sums) {
  (level.maximum ? backward_level<true> : backward_level<false>)(level, coefficients, in, rows, {edges, below}, sums);
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

inline void unmix_wires(const WireView& wires, const float* weights, const float* edges, float* below) {
  for (std::int64_t wire = 0; wire < 2 * wires.neurons; ++wire) {
    const std::int32_t* candidate = candidates_of(wires, wire);
    const float* weight = weights + choice_of(wire, wires.rows, wires.row_of) * wires.candidates;
    const Floats e = load_row(edges, wire);
    for (std::int64_t k = 0; k < wires.candidates; ++k) add_to_row(below, candidate[k], weight[k] * e);
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
