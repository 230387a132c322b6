// A circuit on one tile of images: the inputs are transposed into slots, the gates run in order, the class sums are
// taken with counters of bits.
#pragma once
#include "kernels.hpp"
#include "words.hpp"

namespace hardwire {
namespace {

typedef std::uint64_t Line __attribute__((vector_size(64)));  // eight words, one cache line

template <int gate, class V, int U>
inline void run_equal(const Operation* operation, std::int64_t count, V* slots) {
  for (std::int64_t i = 0; i < count; ++i) {
    V* target = slots + std::size_t(operation[i].target) * U;
    const V* first = slots + std::size_t(operation[i].first) * U;
    const V* second = slots + std::size_t(operation[i].second) * U;
    for (int u = 0; u < U; ++u) apply_gate<gate>(target[u], first[u], second[u]);
  }
}

// The function for a run of equal gates, by the gate's number.
template <class V, int U, int gate = 0>
inline void run_gate(const Run& run, const Operation* operation, V* slots) {
  if constexpr (gate < kGates) {
    if (run.gate == gate) return run_equal<gate, V, U>(operation, run.count, slots);
    run_gate<V, U, gate + 1>(run, operation, slots);
  }
}

template <class V, int U>
inline void run_gates(const CircuitView& circuit, V* slots) {
  const Operation* operation = circuit.operations;
  for (std::size_t r = 0; r < circuit.run_count; ++r) {
    run_gate<V, U>(circuit.runs[r], operation, slots);
    operation += circuit.runs[r].count;
  }
}

// Where planes of `challenger` say more than those of `best`, takes the challenger and its class number.
template <class V>
inline void challenge(V* best, const V* challenger, int count, V* winner, int winner_planes, std::size_t number) {
  V more{};
  for (int plane = 0; plane < count; ++plane)
    more = (challenger[plane] & ~best[plane]) | (~(challenger[plane] ^ best[plane]) & more);
  for (int plane = 0; plane < count; ++plane) best[plane] ^= (best[plane] ^ challenger[plane]) & more;
  for (int plane = 0; plane < winner_planes; ++plane)
    winner[plane] = (number >> plane & 1) ? (winner[plane] | more) : (winner[plane] & ~more);
}

template <class V, int U>
inline void decide(const CircuitView& circuit, const V* slots, std::size_t rows, std::int32_t* scores,
                   std::int64_t* winners) {
  const std::size_t group = circuit.output_count / circuit.classes, classes = circuit.classes;
  const int count = bit_width(group), winner_planes = bit_width(classes - 1);
  constexpr std::size_t kColumn = sizeof(V) * 8;  // images
  for (std::size_t u = 0; u < U && u * kColumn < rows; ++u) {
    const std::size_t begin = u * kColumn, images = least(kColumn, rows - begin);
    V best[kMostPlanes], planes[kMostPlanes], winner[kMostPlanes];
    for (int plane = 0; plane < winner_planes; ++plane) winner[plane] = V{};
    for (std::size_t c = 0; c < classes; ++c) {
      V* into = c == 0 ? best : planes;
      const std::int32_t* output = circuit.outputs + c * group;
      count_words(
          group, [&](std::size_t i) -> const V& { return slots[std::size_t(output[i]) * U + u]; }, into);
      if (scores)
        read_planes(into, count, images, [&](std::size_t image, std::uint64_t number) {
          scores[(begin + image) * classes + c] = static_cast<std::int32_t>(number);
        });
      else if (c)
        challenge(best, planes, count, winner, winner_planes, c);
    }
    if (winners)
      read_planes(winner, winner_planes, images, [&](std::size_t image, std::uint64_t number) {
        winners[begin + image] = static_cast<std::int64_t>(number);
      });
  }
}

// One image alone: its class sums need no counters of 64.
inline void decide_one(const CircuitView& circuit, const std::uint64_t* slots, std::int32_t* scores,
                       std::int64_t* winner) {
  const std::size_t group = circuit.output_count / circuit.classes;
  const std::int32_t* output = circuit.outputs;
  std::int32_t most = -1;
  for (std::size_t c = 0; c < circuit.classes; ++c) {
    std::int32_t sum = 0;
    for (std::size_t i = 0; i < group; ++i) sum += static_cast<std::int32_t>(slots[*output++] & 1);
    if (scores)
      scores[c] = sum;
    else if (sum > most)
      most = sum, *winner = static_cast<std::int64_t>(c);
  }
}

template <class V, int U>
inline void load_inputs(const std::uint64_t* words, std::size_t rows, std::size_t inputs, V* slots) {
  constexpr std::size_t kVectorWords = sizeof(V) / sizeof(std::uint64_t);
  const std::size_t row_words = word_count(inputs);
  V block[kWordSamples];
  for (std::size_t w = 0; w < row_words; ++w) {
    const std::size_t columns = least<std::size_t>(kWordSamples, inputs - w * kWordSamples);
    for (std::size_t u = 0; u < U; ++u) {
      const std::size_t begin = u * kVectorWords * kWordSamples;
      const auto word = [&](std::size_t row) { return row < rows ? words[row * row_words + w] : 0; };
      for (std::size_t i = 0; i < kWordSamples; ++i) {
        std::uint64_t lane[kVectorWords];
        for (std::size_t l = 0; l < kVectorWords; ++l) lane[l] = word(begin + l * kWordSamples + i);
        __builtin_memcpy(&block[i], lane, sizeof(V));
      }
      transpose_block(block);
      for (std::size_t j = 0; j < columns; ++j) slots[(w * kWordSamples + j) * U + u] = block[j];
    }
  }
}

// One image alone needs no transposing: its bits are the lowest of the slots.
inline void load_one(const std::uint64_t* words, std::size_t inputs, std::uint64_t* slots) {
  for (std::size_t i = 0; i < inputs; ++i) slots[i] = words[i / kWordSamples] >> (i % kWordSamples);
}

template <class V, int U>
void tile(const CircuitView& circuit, const std::uint64_t* words, std::size_t rows, std::uint64_t* memory,
          std::int32_t* scores, std::int64_t* winners) {
  V* slots = reinterpret_cast<V*>(memory);
  const bool alone = rows == 1;  // always in a tile of one word
  if (alone)
    load_one(words, circuit.inputs, memory);
  else
    load_inputs<V, U>(words, rows, circuit.inputs, slots);
  run_gates<V, U>(circuit, slots);
  if (alone)
    decide_one(circuit, memory, scores, winners);
  else
    decide<V, U>(circuit, slots, rows, scores, winners);
}

inline void run_tile(const CircuitView& circuit, const std::uint64_t* words, std::size_t rows, std::size_t lanes,
                     std::uint64_t* slots, std::int32_t* scores, std::int64_t* winners) {
  const auto run = lanes == 1    ? tile<std::uint64_t, 1>
                   : lanes == 8  ? tile<Line, 1>
                   : lanes == 16 ? tile<Line, 2>
                                 : tile<Line, 4>;
  run(circuit, words, rows, slots, scores, winners);
}

}  // namespace
}  // namespace hardwire
