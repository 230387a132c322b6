#include "packing.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace hardwire {

namespace {

// Writes the low `count` bits of `value` (count <= 64, higher bits zero) at bit offset `at` of a zeroed row.
inline void append_bits(std::uint64_t* row, std::size_t at, std::uint64_t value, std::size_t count) {
  const std::size_t shift = at % kWordSamples;
  row[at / kWordSamples] |= value << shift;
  if (shift + count > kWordSamples) row[at / kWordSamples + 1] |= value >> (kWordSamples - shift);
}

// kWordSamples bytes, zero or not, as the bits of a word.
inline std::uint64_t pack_word(const std::uint8_t* bytes) {
  std::uint64_t word = 0;
#if defined(__SSE2__)
  for (int part = 0; part < 4; ++part) {
    const __m128i values = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes + part * 16));
    const int zeros = _mm_movemask_epi8(_mm_cmpeq_epi8(values, _mm_setzero_si128()));
    word |= std::uint64_t(~zeros & 0xFFFF) << (part * 16);
  }
#else
  for (int bit = 0; bit < kWordSamples; ++bit) word |= std::uint64_t(bytes[bit] != 0) << bit;
#endif
  return word;
}

template <class Raw>
std::uint64_t thermometer(Raw value, const float* thresholds, std::size_t levels) {
  std::uint64_t code = 0;
  for (std::size_t level = 0; level < levels; ++level)
    code |= std::uint64_t(static_cast<float>(value) > thresholds[level]) << level;
  return code;
}

}  // namespace

void pack(const std::uint8_t* x, std::size_t rows, std::size_t features, std::uint64_t* words) {
  const std::size_t row_words = word_count(features), whole = features / kWordSamples;
  for (std::size_t row = 0; row < rows; ++row, x += features, words += row_words) {
    for (std::size_t w = 0; w < whole; ++w) words[w] = pack_word(x + w * kWordSamples);
    if (whole == row_words) continue;
    std::uint8_t rest[kWordSamples] = {};
    std::memcpy(rest, x + whole * kWordSamples, features - whole * kWordSamples);
    words[whole] = pack_word(rest);
  }
}

bool pack_floats(const float* x, std::size_t rows, std::size_t features, float threshold, std::uint64_t* words) {
  const std::size_t row_words = word_count(features);
  bool binary = true;
  for (std::size_t row = 0; row < rows; ++row) {
    const float* values = x + row * features;
    for (std::size_t w = 0; w < row_words; ++w) {
      const std::size_t count = std::min<std::size_t>(kWordSamples, features - w * kWordSamples);
      std::uint64_t word = 0;
      bool others = false;
      for (std::size_t bit = 0; bit < count; ++bit) {
        const float value = values[w * kWordSamples + bit];
        word |= std::uint64_t(value > threshold) << bit;
        others |= value != 0.0f && value != 1.0f;
      }
      words[row * row_words + w] = word;
      binary &= !others;
    }
  }
  return binary;
}

void unpack(const std::uint64_t* words, std::size_t rows, std::size_t features, std::uint8_t* x) {
  const std::size_t row_words = word_count(features);
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t j = 0; j < features; ++j)
      x[row * features + j] = (words[row * row_words + j / kWordSamples] >> (j % kWordSamples)) & 1;
}

void transpose(const std::uint64_t* words, std::size_t rows, std::size_t features, std::uint64_t* out,
               std::size_t stride) {
  const std::size_t row_words = word_count(features), out_words = word_count(rows);
  std::uint64_t block[kWordSamples];
  for (std::size_t w = 0; w < row_words; ++w) {
    const std::size_t columns = std::min<std::size_t>(kWordSamples, features - w * kWordSamples);
    for (std::size_t r = 0; r < out_words; ++r) {
      const std::size_t count = std::min<std::size_t>(kWordSamples, rows - r * kWordSamples);
      for (std::size_t i = 0; i < count; ++i) block[i] = words[(r * kWordSamples + i) * row_words + w];
      std::memset(block + count, 0, (kWordSamples - count) * sizeof(std::uint64_t));
      transpose_block(block);
      for (std::size_t j = 0; j < columns; ++j) out[(w * kWordSamples + j) * stride + r] = block[j];
    }
  }
}

template <class Raw>
void encode(const Raw* raw, std::size_t rows, std::size_t raw_features, const float* thresholds, std::size_t levels,
            std::uint64_t* words) {
  const std::size_t row_words = word_count(raw_features * levels);
  std::memset(words, 0, rows * row_words * sizeof(std::uint64_t));
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t r = 0; r < raw_features; ++r)
      for (std::size_t level = 0; level < levels; level += kWordSamples) {  // a code longer than a word goes in pieces
        const std::size_t count = std::min<std::size_t>(kWordSamples, levels - level);
        const std::uint64_t code = thermometer(raw[row * raw_features + r], thresholds + r * levels + level, count);
        append_bits(words + row * row_words, r * levels + level, code, count);
      }
}

// Bytes have 256 values: where all features share their thresholds, which images do, the code is a table look-up.
template <>
void encode<std::uint8_t>(const std::uint8_t* raw, std::size_t rows, std::size_t raw_features, const float* thresholds,
                          std::size_t levels, std::uint64_t* words) {
  bool shared = levels <= kWordSamples;
  for (std::size_t r = 1; shared && r < raw_features; ++r)
    shared = std::equal(thresholds, thresholds + levels, thresholds + r * levels);
  if (!shared) {
    const std::vector<float> values(raw, raw + rows * raw_features);
    encode<float>(values.data(), rows, raw_features, thresholds, levels, words);
    return;
  }
  std::uint64_t table[256];
  for (int value = 0; value < 256; ++value) table[value] = thermometer(value, thresholds, levels);
  const std::size_t row_words = word_count(raw_features * levels);
  std::memset(words, 0, rows * row_words * sizeof(std::uint64_t));
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t r = 0; r < raw_features; ++r)
      append_bits(words + row * row_words, r * levels, table[raw[row * raw_features + r]], levels);
}

template void encode<float>(const float*, std::size_t, std::size_t, const float*, std::size_t, std::uint64_t*);

}  // namespace hardwire
