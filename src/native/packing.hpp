// Packed Boolean matrices. A row of `features` bits takes word_count(features) 64-bit words; feature j is bit j % 64 of
// word j / 64; padding bits are zero, and every function here keeps them so.
#pragma once
#include <cstddef>
#include <cstdint>

#include "words.hpp"

namespace hardwire {

// x[rows][features], zero is 0 and anything else 1 -> words[rows][word_count(features)]
void pack(const std::uint8_t* x, std::size_t rows, std::size_t features, std::uint64_t* words);

// x[rows][features], 1 where it is above the threshold -> words; true if every value was exactly 0 or 1
bool pack_floats(const float* x, std::size_t rows, std::size_t features, float threshold, std::uint64_t* words);

// words[rows][word_count(features)] -> x[rows][features], each 0 or 1
void unpack(const std::uint64_t* words, std::size_t rows, std::size_t features, std::uint8_t* x);

// words[rows][word_count(features)] -> out[features][stride], of which the first word_count(rows) words are written
void transpose(const std::uint64_t* words, std::size_t rows, std::size_t features, std::uint64_t* out,
               std::size_t stride);

// Thermometer code: bit r * levels + l of a row says raw[r] > thresholds[r][l].
template <class Raw>
void encode(const Raw* raw, std::size_t rows, std::size_t raw_features, const float* thresholds, std::size_t levels,
            std::uint64_t* words);

}  // namespace hardwire
