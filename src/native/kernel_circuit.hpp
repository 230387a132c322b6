// A circuit on one tile of images: the inputs are transposed into slots, the gates run in order, the class sums are
// taken with counters of bits. Raw bytes are compared with their thresholds on the way in. A single image has slots of
// a byte, eight times as many in the nearest cache.
#pragma once
#include "kernel_circuit_tables.hpp"
#include "kernels.hpp"
#include "words.hpp"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace hardwire {
namespace {

typedef std::uint64_t Line __attribute__((vector_size(64)));  // eight words, one cache line

template <int gate, class V, int U, class Index>
inline void run_equal(const OperationOf<Index>* operation, std::int64_t count, V* slots) {
  for (std::int64_t i = 0; i < count; ++i) {
    V* target = slots + std::size_t(operation[i].target) * U;
    const V* first = slots + std::size_t(operation[i].first) * U;
    const V* second = slots + std::size_t(operation[i].second) * U;
    for (int u = 0; u < U; ++u) apply_gate<gate>(target[u], first[u], second[u]);
  }
}

// The function for a run of equal gates, by the gate's number.
template <class V, int U, class Index, int gate = 0>
inline void run_gate(const Run& run, const OperationOf<Index>* operation, V* slots) {
  if constexpr (gate < kGates) {
    if (run.gate == gate) return run_equal<gate, V, U>(operation, run.count, slots);
    run_gate<V, U, Index, gate + 1>(run, operation, slots);
  }
}

template <class V, int U, class Index>
inline void run_gates(const Run* runs, std::size_t count, const OperationOf<Index>* operation, V* slots) {
  for (std::size_t r = 0; r < count; ++r) {
    run_gate<V, U>(runs[r], operation, slots);
    operation += runs[r].count;
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

// The number of odd bytes.
inline std::int32_t count_odd(const std::uint8_t* bytes, std::size_t count) {
  std::uint64_t sum = 0;
  std::size_t i = 0;
  while (i + 8 <= count) {
    std::uint64_t eight = 0;  // up to 255 in each byte
    for (int part = 0; part < 255 && i + 8 <= count; ++part, i += 8) {
      std::uint64_t word;
      __builtin_memcpy(&word, bytes + i, 8);
      eight += word & 0x0101010101010101;
    }
    sum += (eight & 0x00FF00FF00FF00FF) * 0x0001000100010001 >> 48;
    sum += (eight >> 8 & 0x00FF00FF00FF00FF) * 0x0001000100010001 >> 48;
  }
  for (; i < count; ++i) sum += bytes[i] & 1;
  return static_cast<std::int32_t>(sum);
}

// A single image: its outputs lie together.
inline void decide_one(const CircuitView& circuit, const std::uint8_t* output, std::int32_t* scores,
                       std::int64_t* winner) {
  const std::size_t group = circuit.output_count / circuit.classes;
  std::int32_t most = -1;
  for (std::size_t c = 0; c < circuit.classes; ++c, output += group) {
    const std::int32_t sum = count_odd(output, group);
    if (scores)
      scores[c] = sum;
    else if (sum > most)
      most = sum, *winner = static_cast<std::int64_t>(c);
  }
}

// 64 bytes, each at least the other, as the bits of a word.
inline std::uint64_t at_least(const std::uint8_t* x, const std::uint8_t* least) {
#if defined(__AVX512BW__)
  return _mm512_cmpge_epu8_mask(_mm512_loadu_si512(x), _mm512_loadu_si512(least));
#else
  std::uint64_t word = 0;
#if defined(__AVX2__)
  for (int part = 0; part < 64; part += 32) {
    const __m256i value = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x + part));
    const __m256i limit = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(least + part));
    const int mask = _mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_max_epu8(value, limit), value));
    word |= std::uint64_t(static_cast<std::uint32_t>(mask)) << part;
  }
#elif defined(__SSE2__)
  for (int part = 0; part < 64; part += 16) {
    const __m128i value = _mm_loadu_si128(reinterpret_cast<const __m128i*>(x + part));
    const __m128i limit = _mm_loadu_si128(reinterpret_cast<const __m128i*>(least + part));
    word |= std::uint64_t(_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_max_epu8(value, limit), value))) << part;
  }
#else
  for (int part = 0; part < 64; ++part) word |= std::uint64_t(x[part] >= least[part]) << part;
#endif
  return word;
#endif
}

// The bits of one level for columns 64 w and following, of one image. The last columns are read as the end of the 64
// before the end, so that nothing past the row is read.
inline std::uint64_t level_word(const ThresholdsView& thresholds, const std::uint8_t* row, std::size_t level,
                                std::size_t w) {
  const std::size_t begin = w * kWordSamples, left = thresholds.columns - begin;
  const std::uint8_t* least = thresholds.least + level * thresholds.columns;
  const std::uint64_t possible = thresholds.possible[level * word_count(thresholds.columns) + w];
  if (left >= kWordSamples) return at_least(row + begin, least + begin) & possible;
  if (thresholds.columns >= kWordSamples) {
    const std::size_t end = thresholds.columns - kWordSamples;
    return (at_least(row + end, least + end) >> (kWordSamples - left)) & possible;
  }
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < left; ++i) word |= std::uint64_t(row[begin + i] >= least[begin + i]) << i;
  return word & possible;
}

// Bits that lie in rows of words, to slots that lie `step` apart from column to column. word(row, w): of the rows.
template <class V, int U, class Word>
inline void load_columns(std::size_t rows, std::size_t columns, std::size_t step, const Word& word, V* slots) {
  constexpr std::size_t kVectorWords = sizeof(V) / sizeof(std::uint64_t);
  V block[kWordSamples];
  for (std::size_t w = 0; w < word_count(columns); ++w) {
    const std::size_t here = least<std::size_t>(kWordSamples, columns - w * kWordSamples);
    for (std::size_t u = 0; u < U; ++u) {
      const std::size_t begin = u * kVectorWords * kWordSamples;
      for (std::size_t i = 0; i < kWordSamples; ++i) {
        std::uint64_t lane[kVectorWords];
        for (std::size_t l = 0; l < kVectorWords; ++l) {
          const std::size_t row = begin + l * kWordSamples + i;
          lane[l] = row < rows ? word(row, w) : 0;
        }
        __builtin_memcpy(&block[i], lane, sizeof(V));
      }
      transpose_block(block);
      for (std::size_t j = 0; j < here; ++j) slots[(w * kWordSamples + j) * step * U + u] = block[j];
    }
  }
}

template <class V, int U>
inline void load_inputs(const ImagesView& images, std::size_t inputs, V* slots) {
  if (!images.thresholds) {
    const std::size_t row_words = word_count(inputs);
    const auto word = [&](std::size_t row, std::size_t w) { return images.words[row * row_words + w]; };
    return load_columns<V, U>(images.rows, inputs, 1, word, slots);
  }
  const ThresholdsView& thresholds = *images.thresholds;
  for (std::size_t level = 0; level < thresholds.levels; ++level) {
    const auto word = [&](std::size_t row, std::size_t w) {
      return level_word(thresholds, images.bytes + row * thresholds.columns, level, w);
    };
    load_columns<V, U>(images.rows, thresholds.columns, thresholds.levels, word, slots + level * U);
  }
}

// The bits of a word to slots of a byte, `step` apart.
inline void spread(std::uint64_t word, std::size_t count, std::size_t step, std::uint8_t* slots) {
#if defined(__AVX512BW__)
  if (step == 1 && count == kWordSamples) {
    _mm512_storeu_si512(slots, _mm512_maskz_set1_epi8(word, 1));
    return;
  }
#endif
  for (std::size_t i = 0; i < count; ++i) slots[i * step] = static_cast<std::uint8_t>(word >> i);
}

// A single image needs no transposing: its bits are the lowest of the slots.
inline void load_one(const ImagesView& images, std::size_t inputs, std::uint8_t* slots) {
  if (images.bytes && !images.thresholds) {
    for (std::size_t i = 0; i < inputs; ++i) slots[i] = images.bytes[i] != 0;
    return;
  }
  const std::size_t levels = images.thresholds ? images.thresholds->levels : 1, columns = inputs / levels;
  for (std::size_t level = 0; level < levels; ++level)
    for (std::size_t w = 0; w < word_count(columns); ++w) {
      const std::uint64_t word =
          images.thresholds ? level_word(*images.thresholds, images.bytes, level, w) : images.words[w];
      const std::size_t count = least<std::size_t>(kWordSamples, columns - w * kWordSamples);
      spread(word, count, levels, slots + w * kWordSamples * levels + level);
    }
}

inline void tile_of_one(const CircuitView& circuit, const ImagesView& images, std::uint64_t* memory,
                        std::int32_t* scores, std::int64_t* winners) {
  std::uint8_t* slots = reinterpret_cast<std::uint8_t*>(memory);
  load_one(images, circuit.inputs, slots);
  const ByteImageView& byte_image = circuit.byte_image;
  if (byte_image.tables)
    run_tables<std::uint8_t, 1>(byte_image.runs, byte_image.run_count, byte_image.tables, slots);
  else if (byte_image.narrow)
    run_gates<std::uint8_t, 1>(byte_image.runs, byte_image.run_count, byte_image.narrow, slots);
  else
    run_gates<std::uint8_t, 1>(byte_image.runs, byte_image.run_count, byte_image.wide, slots);
  decide_one(circuit, slots + circuit.inputs, scores, winners);
}

template <class V, int U>
void tile(const CircuitView& circuit, const ImagesView& images, std::uint64_t* memory, std::int32_t* scores,
          std::int64_t* winners) {
  V* slots = reinterpret_cast<V*>(memory);
  load_inputs<V, U>(images, circuit.inputs, slots);
  if (circuit.tables)
    run_tables<V, U>(circuit.runs, circuit.run_count, circuit.tables, slots);
  else
    run_gates<V, U>(circuit.runs, circuit.run_count, circuit.operations, slots);
  decide<V, U>(circuit, slots, images.rows, scores, winners);
}

inline void run_tile(const CircuitView& circuit, const ImagesView& images, std::size_t lanes, std::uint64_t* slots,
                     std::int32_t* scores, std::int64_t* winners) {
  const auto run = images.rows == 1 ? tile_of_one
                   : lanes == 1     ? tile<std::uint64_t, 1>
                   : lanes == 8     ? tile<Line, 1>
                   : lanes == 16    ? tile<Line, 2>
                                    : tile<Line, 4>;
  run(circuit, images, slots, scores, winners);
}

}  // namespace
}  // namespace hardwire
