// Trees of gates that are the same at many windows: a convolution, with its pooling, as one kernel. The kernel's gates
// are outside, so what they are is found out once; windows are inside, eight at a time. Nothing of a tree's inside is
// ever stored: leaves are gathered, gates run in registers, and on the way back rows of gradients live in the cache.
// Surprising: pooling makes the way back cheaper. A sample's gradient goes to one place of a window, and all places
// have the same gates; so the leaves of the place that won are picked bit by bit, and one tree carries the gradients of
// all.
#pragma once
#include "kernel_bits.hpp"
#include "kernels.hpp"
#include "simd.hpp"
#include "words.hpp"

namespace hardwire {
namespace {

typedef std::uint64_t Windows __attribute__((vector_size(kWindows * sizeof(std::uint64_t))));

constexpr int kMostNodes = 1 << (kMostDepth + 1);

// One kernel of the trees: what its gates are, and where the leaves of each place read.
struct Kernel {
  std::int64_t leaves, places, stride;
  const std::uint8_t* gates;
  const float* mixture;
  const std::int32_t* sources;
  GateMasks masks[kMostNodes / 2];

  Kernel(const TreesView& trees, std::int64_t number)
      : leaves(std::int64_t(1) << trees.depth),
        places(trees.places),
        stride(trees.stride),
        gates(trees.gates + number * leaves),
        mixture(trees.mixture ? trees.mixture + number * leaves * kTerms : nullptr),
        sources(trees.sources + number * trees.places * leaves * trees.stride) {
    for (std::int64_t node = 1; node < leaves; ++node) masks[node] = gate_masks(gates[node]);
  }

  const std::int32_t* source(std::int64_t place, std::int64_t leaf) const {
    return sources + (place * leaves + leaf) * stride;
  }

  // The coefficients by which a gradient passes a node.
  const float* passing(std::int64_t node) const {
    return mixture ? mixture + node * kTerms : kCoefficients[gates[node]];
  }

  // From the leaves, nodes[leaves ..], to the root, nodes[1].
  template <class V>
  void grow(V* nodes) const {
    for (std::int64_t node = leaves - 1; node > 0; --node)
      nodes[node] = apply_masks(masks[node], nodes[2 * node], nodes[2 * node + 1]);
  }
};

inline Windows gather_windows(const std::uint64_t* in, const std::int32_t* source) {
#ifdef __AVX512F__
  return (Windows)_mm512_i32gather_epi64(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(source)), in, 8);
#else
  std::uint64_t words[kWindows];
  for (int w = 0; w < kWindows; ++w) words[w] = in[source[w]];
  Windows result;
  __builtin_memcpy(&result, words, sizeof result);
  return result;
#endif
}

inline void forward_words(const TreesView& trees, const std::uint64_t* in, std::uint64_t* out) {
  Windows nodes[kMostNodes];
  for (std::int64_t number = 0; number < trees.kernels; ++number) {
    const Kernel kernel(trees, number);
    for (std::int64_t begin = 0; begin < trees.windows; begin += kWindows) {
      Windows any = Windows{};
      for (std::int64_t place = 0; place < trees.places; ++place) {
        for (std::int64_t leaf = 0; leaf < kernel.leaves; ++leaf)
          nodes[kernel.leaves + leaf] = gather_windows(in, kernel.source(place, leaf) + begin);
        kernel.grow(nodes);
        any |= nodes[1];
      }
      const std::int64_t count = least<std::int64_t>(kWindows, trees.windows - begin);
      __builtin_memcpy(out + number * trees.windows + begin, &any, sizeof(std::uint64_t) * count);
    }
  }
}

// Rows of four words: a window is a vector of its own.
inline void forward_word_rows(const TreesView& trees, const std::uint64_t* in, std::uint64_t* out) {
  Row nodes[kMostNodes];
  for (std::int64_t number = 0; number < trees.kernels; ++number) {
    const Kernel kernel(trees, number);
    for (std::int64_t window = 0; window < trees.windows; ++window) {
      Row any = Row{};
      for (std::int64_t place = 0; place < trees.places; ++place) {
        for (std::int64_t leaf = 0; leaf < kernel.leaves; ++leaf)
          __builtin_memcpy(&nodes[kernel.leaves + leaf],
                           in + std::int64_t(kernel.source(place, leaf)[window]) * kRowWords, sizeof(Row));
        kernel.grow(nodes);
        any |= nodes[1];
      }
      __builtin_memcpy(out + (number * trees.windows + window) * kRowWords, &any, sizeof any);
    }
  }
}

inline void forward_trees(int words, const TreesView& trees, const std::uint64_t* in, std::uint64_t* out) {
  if (words == 1)
    forward_words(trees, in, out);
  else
    forward_word_rows(trees, in, out);
}

// Eight windows of a kernel on the way back: the nodes as the winning places have them, and who won.
struct Winners {
  alignas(64) std::uint64_t nodes[kMostNodes][kWindows];
  alignas(64) std::uint64_t won[kMostPlaces][kWindows];
};

inline void find_winners(const Kernel& kernel, const std::uint64_t* in, std::int64_t begin, Winners& winners) {
  Windows nodes[kMostNodes], taken = Windows{}, picked[kMostNodes / 2], first[kMostNodes / 2];
  for (std::int64_t place = 0; place < kernel.places; ++place) {
    for (std::int64_t leaf = 0; leaf < kernel.leaves; ++leaf)
      nodes[kernel.leaves + leaf] = gather_windows(in, kernel.source(place, leaf) + begin);
    kernel.grow(nodes);
    const Windows won = nodes[1] & ~taken;
    taken |= nodes[1];
    __builtin_memcpy(winners.won[place], &won, sizeof won);
    for (std::int64_t leaf = 0; leaf < kernel.leaves; ++leaf) {
      const Windows value = nodes[kernel.leaves + leaf];
      if (place == 0) first[leaf] = value;
      picked[leaf] = place == 0 ? value & won : picked[leaf] | (value & won);
    }
  }
  if (kernel.places > 1) {  // where none is 1, the first place wins
    Windows won;
    __builtin_memcpy(&won, winners.won[0], sizeof won);
    won |= ~taken;
    __builtin_memcpy(winners.won[0], &won, sizeof won);
    for (std::int64_t leaf = 0; leaf < kernel.leaves; ++leaf)
      nodes[kernel.leaves + leaf] = picked[leaf] | (first[leaf] & ~taken);
    kernel.grow(nodes);
  }
  __builtin_memcpy(winners.nodes[1], &nodes[1], sizeof(Windows) * (2 * kernel.leaves - 1));
}

// How a gradient passes a gate to one of its inputs: times at_one where the other input is 1, at_zero elsewhere.
struct Passage {
  Floats at_zero, at_one;
  bool alive;

  Passage(const float* coefficients, int side, bool wanted) {
    const float zero = coefficients[1 + side], one = zero + coefficients[3];
    at_zero = spread(zero);
    at_one = spread(one);
    alive = wanted && (zero != 0.0f || one != 0.0f);
  }
  Floats through(Mask other, Floats d) const { return choose(other, at_one * d, at_zero * d); }
};

// One gate at `count` windows: rows d of its output -> its four sums, and rows of its two inputs, unless null.
template <class RowOf>
inline void pass_gate(const RowOf& row_of, int count, const std::uint64_t* a, const std::uint64_t* b,
                      Floats sums[kTerms], const Passage& first, const Passage& second, float* to_first,
                      float* to_second) {
  Floats all = sums[0], with_a = sums[1], with_b = sums[2], with_both = sums[3];
  for (int w = 0; w < count; ++w) {
    const float* row = row_of(w);
    for (int v = 0; v < kVectors; ++v) {
      const Floats d = load(row + v * kLanes);
      const Mask a_bits = mask_at(a + w, v), b_bits = mask_at(b + w, v);
      const Floats d_b = only(b_bits, d);
      all += d;
      with_a += only(a_bits, d);
      with_b += d_b;
      with_both += only(a_bits, d_b);
      if (first.alive) store(to_first + w * kWordSamples + v * kLanes, first.through(b_bits, d));
      if (second.alive) store(to_second + w * kWordSamples + v * kLanes, second.through(a_bits, d));
    }
  }
  sums[0] = all, sums[1] = with_a, sums[2] = with_b, sums[3] = with_both;
}

// The rows of a leaf at `count` windows, each to the input that the winning place reads.
inline void scatter_leaf(const Kernel& kernel, std::int64_t leaf, std::int64_t begin, int count, const Winners& winners,
                         const float* rows, float* in_rows) {
  for (std::int64_t place = 0; place < kernel.places; ++place) {
    const std::int32_t* source = kernel.source(place, leaf) + begin;
    for (int w = 0; w < count; ++w) {
      float* to = in_rows + std::int64_t(source[w]) * kWordSamples;
      const std::uint64_t won = kernel.places == 1 ? ~0ULL : winners.won[place][w];
      for (int v = 0; v < kVectors; ++v)
        store(to + v * kLanes,
              add_where(load(to + v * kLanes), mask_of(won >> (v * kLanes)), load(rows + w * kWordSamples + v * kLanes)));
    }
  }
}

// scratch: [2^(depth + 1)][8 windows][64], the gradient rows of all nodes but the root.
inline void backward_trees(const TreesView& trees, const std::uint64_t* in, const GradientRows& rows, float* in_rows,
                           float* scratch, float* sums) {
  constexpr std::int64_t kNodeRows = std::int64_t(kWindows) * kWordSamples;
  Winners winners;
  Floats totals[kMostNodes / 2][kTerms];
  for (std::int64_t number = 0; number < trees.kernels; ++number) {
    const Kernel kernel(trees, number);
    const std::int64_t leaves = kernel.leaves;
    bool alive[kMostNodes];  // whether a gradient reaches a node: behind a gate that ignores an input there is none
    alive[1] = true;
    for (std::int64_t node = 1; node < leaves; ++node) {
      for (int side = 0; side < 2; ++side) {
        const bool wanted = alive[node] && (2 * node < leaves || in_rows);
        alive[2 * node + side] = Passage(kernel.passing(node), side, wanted).alive;
      }
      for (int k = 0; k < kTerms; ++k) totals[node][k] = Floats{};
    }
    for (std::int64_t begin = 0; begin < trees.windows; begin += kWindows) {
      const int count = static_cast<int>(least<std::int64_t>(kWindows, trees.windows - begin));
      find_winners(kernel, in, begin, winners);
      const auto root_row = [&](int w) {
        const std::int64_t neuron = number * trees.windows + begin + w;
        return rows.rows + (rows.row_of ? rows.row_of[neuron] : neuron) * kWordSamples;
      };
      for (std::int64_t node = 1; node < leaves; ++node) {
        if (!alive[node]) continue;
        const float* passing = kernel.passing(node);
        const Passage first(passing, 0, alive[2 * node]), second(passing, 1, alive[2 * node + 1]);
        const std::uint64_t *a = winners.nodes[2 * node], *b = winners.nodes[2 * node + 1];
        float *to_first = scratch + 2 * node * kNodeRows, *to_second = to_first + kNodeRows;
        if (node == 1)
          pass_gate(root_row, count, a, b, totals[node], first, second, to_first, to_second);
        else
          pass_gate([&](int w) { return scratch + node * kNodeRows + w * kWordSamples; }, count, a, b, totals[node],
                    first, second, to_first, to_second);
      }
      for (std::int64_t leaf = 0; leaf < leaves; ++leaf)
        if (alive[leaves + leaf])
          scatter_leaf(kernel, leaf, begin, count, winners, scratch + (leaves + leaf) * kNodeRows, in_rows);
    }
    for (int floor = 0; floor < trees.depth; ++floor) {  // from the root on
      const std::int64_t nodes = std::int64_t(1) << floor;
      for (std::int64_t node = 0; node < nodes; ++node) {
        const Floats* total = totals[nodes + node];
        const std::int64_t row = trees.sum_starts[floor] + number * nodes + node;
        add_lane_sums(total[0], total[1], total[2], total[3], sums + kTerms * row);
      }
    }
  }
}

}  // namespace
}  // namespace hardwire
