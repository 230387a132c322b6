#include "circuit_tile.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "packing.hpp"

// The compiler makes one copy of a tile function for each instruction set, and the loader picks (GCC on glibc).
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
#define HARDWIRE_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define HARDWIRE_CLONES
#endif
#define HARDWIRE_INLINE inline __attribute__((always_inline))

namespace hardwire {

namespace {

typedef std::uint64_t Line __attribute__((vector_size(64)));  // eight lanes, one cache line

constexpr int max_planes = 32;  // bits of a class sum

// The 16 gates; a gate number is its truth table with f(1,1) as bit 0 and f(0,0) as bit 3.
template <int gate, class V>
HARDWIRE_INLINE void apply(V& out, const V& a, const V& b) {
  if constexpr (gate == 0) out = a ^ a;
  else if constexpr (gate == 1) out = a & b;
  else if constexpr (gate == 2) out = a & ~b;
  else if constexpr (gate == 3) out = a;
  else if constexpr (gate == 4) out = ~a & b;
  else if constexpr (gate == 5) out = b;
  else if constexpr (gate == 6) out = a ^ b;
  else if constexpr (gate == 7) out = a | b;
  else if constexpr (gate == 8) out = ~(a | b);
  else if constexpr (gate == 9) out = ~(a ^ b);
  else if constexpr (gate == 10) out = ~b;
  else if constexpr (gate == 11) out = a | ~b;
  else if constexpr (gate == 12) out = ~a;
  else if constexpr (gate == 13) out = ~a | b;
  else if constexpr (gate == 14) out = ~(a & b);
  else out = ~(a ^ a);
}

template <int gate, class V, int U>
HARDWIRE_INLINE void run_equal(const Operation* operation, std::size_t count, V* slots) {
  for (std::size_t i = 0; i < count; ++i) {
    V* target = slots + std::size_t(operation[i].target) * U;
    const V* first = slots + std::size_t(operation[i].first) * U;
    const V* second = slots + std::size_t(operation[i].second) * U;
    for (int u = 0; u < U; ++u) apply<gate>(target[u], first[u], second[u]);
  }
}

template <class V, int U>
HARDWIRE_INLINE void run_gates(const CircuitProgram& program, V* slots) {
  const Operation* operation = program.operations.data();
  for (const Run& run : program.runs) {
    const std::size_t count = std::size_t(run.count);
#define HARDWIRE_GATE(gate) \
  case gate: run_equal<gate, V, U>(operation, count, slots); break;
    switch (run.gate) {
      HARDWIRE_GATE(0) HARDWIRE_GATE(1) HARDWIRE_GATE(2) HARDWIRE_GATE(3)
      HARDWIRE_GATE(4) HARDWIRE_GATE(5) HARDWIRE_GATE(6) HARDWIRE_GATE(7)
      HARDWIRE_GATE(8) HARDWIRE_GATE(9) HARDWIRE_GATE(10) HARDWIRE_GATE(11)
      HARDWIRE_GATE(12) HARDWIRE_GATE(13) HARDWIRE_GATE(14) HARDWIRE_GATE(15)
    }
#undef HARDWIRE_GATE
    operation += count;
  }
}

// Full adder: sum += a + b, the carry goes to `carry`. All bitwise, so it adds 64 images a word at once.
template <class V>
HARDWIRE_INLINE void add(V& sum, const V& a, const V& b, V& carry) {
  const V half = sum ^ a;
  carry = (sum & a) | (half & b);
  sum = half ^ b;
}

// Adds one bit of weight 2^plane to the counter planes[0 .. count).
template <class V>
HARDWIRE_INLINE void ripple(V* planes, int plane, int count, V carry) {
  for (; plane < count; ++plane) {
    const V next = planes[plane] & carry;
    planes[plane] ^= carry;
    carry = next;
  }
}

// Vertical counter: planes[p] holds bit p of the number of true outputs, for every image of the tile column `u`.
// Eight outputs at a time go through a tree of full adders, so the higher planes are touched once in eight.
template <class V, int U>
HARDWIRE_INLINE void count_outputs(const std::int32_t* output, std::size_t group, const V* slots, int u, V* planes,
                                   int count) {
  const auto value = [&](std::size_t i) -> const V& { return slots[std::size_t(output[i]) * U + std::size_t(u)]; };
  for (int plane = 0; plane < count; ++plane) planes[plane] = V{};
  std::size_t i = 0;
  if (count >= 4) {
    V ones{}, twos{}, fours{}, two_a, two_b, four_a, four_b, eight;
    for (; i + 8 <= group; i += 8) {
      add(ones, value(i), value(i + 1), two_a);
      add(ones, value(i + 2), value(i + 3), two_b);
      add(twos, two_a, two_b, four_a);
      add(ones, value(i + 4), value(i + 5), two_a);
      add(ones, value(i + 6), value(i + 7), two_b);
      add(twos, two_a, two_b, four_b);
      add(fours, four_a, four_b, eight);
      ripple(planes, 3, count, eight);
    }
    planes[0] = ones, planes[1] = twos, planes[2] = fours;
  }
  for (; i < group; ++i) ripple(planes, 0, count, value(i));
}

// Where planes of `challenger` say more than those of `best`, takes the challenger and its class number.
template <class V>
HARDWIRE_INLINE void challenge(V* best, const V* challenger, int count, V* winner, int winner_planes, std::size_t number) {
  V more{};
  for (int plane = 0; plane < count; ++plane)
    more = (challenger[plane] & ~best[plane]) | (~(challenger[plane] ^ best[plane]) & more);
  for (int plane = 0; plane < count; ++plane) best[plane] ^= (best[plane] ^ challenger[plane]) & more;
  for (int plane = 0; plane < winner_planes; ++plane)
    winner[plane] = (number >> plane & 1) ? (winner[plane] | more) : (winner[plane] & ~more);
}

// Reads numbers out of planes: image (lane * 64 + bit) of the column gets values[image * stride].
template <class V, class Integer>
HARDWIRE_INLINE void read_planes(const V* planes, int count, std::size_t rows, Integer* values, std::size_t stride) {
  constexpr std::size_t lanes = sizeof(V) / sizeof(std::uint64_t);
  for (std::size_t bit = 0; bit < 64 && bit < rows; ++bit) {
    V number{};
    for (int plane = 0; plane < count; ++plane) number |= ((planes[plane] >> bit) & 1) << plane;
    std::uint64_t lane[lanes];
    std::memcpy(lane, &number, sizeof number);
    for (std::size_t l = 0; l < lanes && l * 64 + bit < rows; ++l)
      values[(l * 64 + bit) * stride] = static_cast<Integer>(lane[l]);
  }
}

template <class V, int U>
HARDWIRE_INLINE void decide(const CircuitProgram& program, const V* slots, std::size_t rows, std::int32_t* scores,
                            std::int64_t* winners) {
  const std::size_t group = program.outputs.size() / program.classes;
  const int count = std::bit_width(group), winner_planes = std::bit_width(program.classes - 1);
  constexpr std::size_t column = sizeof(V) * 8;  // images
  for (int u = 0; u < U && std::size_t(u) * column < rows; ++u) {
    const std::size_t begin = std::size_t(u) * column, images = std::min(column, rows - begin);
    V best[max_planes], planes[max_planes], winner[max_planes];
    for (int plane = 0; plane < winner_planes; ++plane) winner[plane] = V{};
    for (std::size_t c = 0; c < program.classes; ++c) {
      V* into = c == 0 ? best : planes;
      count_outputs<V, U>(program.outputs.data() + c * group, group, slots, u, into, count);
      if (scores) read_planes(into, count, images, scores + begin * program.classes + c, program.classes);
      else if (c) challenge(best, planes, count, winner, winner_planes, c);
    }
    if (winners) read_planes(winner, winner_planes, images, winners + begin, 1);
  }
}

// One image alone: its class sums need no counters of 64.
inline void decide_one(const CircuitProgram& program, const std::uint64_t* slots, std::int32_t* scores,
                       std::int64_t* winner) {
  const std::size_t group = program.outputs.size() / program.classes;
  const std::int32_t* output = program.outputs.data();
  std::int32_t most = -1;
  for (std::size_t c = 0; c < program.classes; ++c) {
    std::int32_t sum = 0;
    for (std::size_t i = 0; i < group; ++i) sum += static_cast<std::int32_t>(slots[*output++] & 1);
    if (scores) scores[c] = sum;
    else if (sum > most) most = sum, *winner = static_cast<std::int64_t>(c);
  }
}

// Transposes 64x64 bit blocks, one in each lane, by swapping ever smaller off-diagonal blocks.
template <class V>
HARDWIRE_INLINE void transpose_blocks(V* block) {
  std::uint64_t mask = 0x00000000FFFFFFFFULL;
  for (int width = 32; width != 0; width >>= 1, mask ^= mask << width)
    for (int row = 0; row < 64; row = (row + width + 1) & ~width) {
      const V swapped = ((block[row] >> width) ^ block[row + width]) & mask;
      block[row] ^= swapped << width;
      block[row + width] ^= swapped;
    }
}

template <class V, int U>
HARDWIRE_INLINE void load_inputs(const std::uint64_t* words, std::size_t rows, std::size_t inputs, V* slots) {
  constexpr std::size_t lanes = sizeof(V) / sizeof(std::uint64_t);
  const std::size_t row_words = word_count(inputs);
  V block[64];
  for (std::size_t w = 0; w < row_words; ++w) {
    const std::size_t columns = std::min<std::size_t>(64, inputs - w * 64);
    for (int u = 0; u < U; ++u) {
      const std::size_t begin = std::size_t(u) * lanes * 64;
      const auto word = [&](std::size_t row) { return row < rows ? words[row * row_words + w] : 0; };
      for (std::size_t i = 0; i < 64; ++i) {
        std::uint64_t lane[lanes];
        for (std::size_t l = 0; l < lanes; ++l) lane[l] = word(begin + l * 64 + i);
        std::memcpy(&block[i], lane, sizeof(V));
      }
      transpose_blocks(block);
      for (std::size_t j = 0; j < columns; ++j) slots[(w * 64 + j) * U + std::size_t(u)] = block[j];
    }
  }
}

// One image alone needs no transposing: its bits are the lowest of the slots.
inline void load_one(const std::uint64_t* words, std::size_t inputs, std::uint64_t* slots) {
  for (std::size_t i = 0; i < inputs; ++i) slots[i] = words[i / 64] >> (i % 64);
}

template <class V, int U>
HARDWIRE_INLINE void tile(const CircuitProgram& program, const std::uint64_t* words, std::size_t rows,
                          std::uint64_t* memory, std::int32_t* scores, std::int64_t* winners) {
  V* slots = reinterpret_cast<V*>(memory);
  const bool alone = rows == 1;  // always in a tile of one word
  if (alone) load_one(words, program.inputs, memory);
  else load_inputs<V, U>(words, rows, program.inputs, slots);
  run_gates<V, U>(program, slots);
  if (alone) decide_one(program, memory, scores, winners);
  else decide<V, U>(program, slots, rows, scores, winners);
}

#define HARDWIRE_TILE(name, V, U)                                                                          \
  HARDWIRE_CLONES void name(const CircuitProgram& program, const std::uint64_t* words, std::size_t rows,   \
                            std::uint64_t* slots, std::int32_t* scores, std::int64_t* winners) {           \
    tile<V, U>(program, words, rows, slots, scores, winners);                                              \
  }
HARDWIRE_TILE(tile_1, std::uint64_t, 1)
HARDWIRE_TILE(tile_8, Line, 1)
HARDWIRE_TILE(tile_16, Line, 2)
HARDWIRE_TILE(tile_32, Line, 4)
#undef HARDWIRE_TILE

}  // namespace

void run_tile(const CircuitProgram& program, const std::uint64_t* words, std::size_t rows, std::size_t lanes,
              std::uint64_t* slots, std::int32_t* scores, std::int64_t* winners) {
  const auto run = lanes == 1 ? tile_1 : lanes == 8 ? tile_8 : lanes == 16 ? tile_16 : tile_32;
  run(program, words, rows, slots, scores, winners);
}

}  // namespace hardwire
