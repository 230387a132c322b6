// Words of bits: a word holds one value for 64 samples, and every operation here works on all of them, or on several
// words at once where V is a vector of them. Training and circuits both run on these. In an unnamed namespace, and free
// of std:: templates, because every instruction set needs a copy of its own.
#pragma once
#include <cstddef>
#include <cstdint>

#include "gate_table.hpp"

namespace hardwire {
namespace {

constexpr int kWordSamples = 64;
constexpr int kMostPlanes = 32;  // of a counter

constexpr std::size_t word_count(std::size_t bits) { return (bits + kWordSamples - 1) / kWordSamples; }

template <class T>
constexpr T least(T a, T b) {
  return b < a ? b : a;
}

// The bits that a number takes.
constexpr int bit_width(std::uint64_t number) {
  int width = 0;
  for (; number; number >>= 1) ++width;
  return width;
}

inline std::uint64_t ones_if(std::uint64_t bit) { return 0 - (bit & 1); }

// A gate that is known only when it runs: k0 ^ (k1 & a) ^ (k2 & b) ^ (k3 & a & b), each k all ones or zero.
struct GateMasks {
  std::uint64_t k0, k1, k2, k3;
};
struct GateCodes {
  std::uint8_t code[kGates];  // bits 0 to 3 say which k are all ones
};
constexpr GateCodes make_codes() {
  GateCodes codes{};
  for (int gate = 0; gate < kGates; ++gate) {
    const bool* f = kTruth[gate];
    const int k0 = f[0], k1 = f[2] ^ k0, k2 = f[1] ^ k0, k3 = f[3] ^ k0 ^ k1 ^ k2;
    codes.code[gate] = static_cast<std::uint8_t>(k0 | k1 << 1 | k2 << 2 | k3 << 3);
  }
  return codes;
}
constexpr GateCodes kCodes = make_codes();

inline GateMasks gate_masks(int gate) {
  const std::uint64_t code = kCodes.code[gate];
  return {ones_if(code), ones_if(code >> 1), ones_if(code >> 2), ones_if(code >> 3)};
}

template <class V>
inline V apply_masks(const GateMasks& gate, const V& a, const V& b) {
  return gate.k0 ^ (gate.k1 & a) ^ (gate.k2 & b) ^ (gate.k3 & a & b);
}

// Full adder: sum += a + b, the carry goes to `carry`.
template <class V>
inline void add(V& sum, const V& a, const V& b, V& carry) {
  const V half = sum ^ a;
  carry = (sum & a) | (half & b);
  sum = half ^ b;
}

// Adds one bit of weight 2^plane to the counter planes[0 .. count).
template <class V>
inline void ripple(V* planes, int plane, int count, V carry) {
  for (; plane < count; ++plane) {
    const V next = planes[plane] & carry;
    planes[plane] ^= carry;
    carry = next;
  }
}

// Vertical counter: planes[p] becomes bit p of the number of true values, for every sample; value(i) is the i-th of
// `values` words, and bit_width(values) planes hold their number. Eight at a time go through a tree of full adders, so
// the higher planes are touched once in eight.
template <class V, class Value>
inline void count_words(std::size_t values, const Value& value, V* planes) {
  const int count = bit_width(values);
  for (int plane = 0; plane < count; ++plane) planes[plane] = V{};
  std::size_t i = 0;
  if (values >= 8) {
    V ones{}, twos{}, fours{}, two_a, two_b, four_a, four_b, eight;
    for (; i + 8 <= values; i += 8) {
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
  for (; i < values; ++i) ripple(planes, 0, count, V(value(i)));
}

// Reads the numbers out of planes: store(sample, number) for the first `samples` samples.
template <class V, class Store>
inline void read_planes(const V* planes, int count, std::size_t samples, const Store& store) {
  constexpr std::size_t kVectorWords = sizeof(V) / sizeof(std::uint64_t);
  for (std::size_t bit = 0; bit < kWordSamples && bit < samples; ++bit) {
    V number{};
    for (int plane = 0; plane < count; ++plane) number |= ((planes[plane] >> bit) & 1) << plane;
    std::uint64_t lane[kVectorWords];
    __builtin_memcpy(lane, &number, sizeof number);
    for (std::size_t l = 0; l < kVectorWords && l * kWordSamples + bit < samples; ++l)
      store(l * kWordSamples + bit, lane[l]);
  }
}

// Transposes a square block of bits, 64x64 or 64 / kRows smaller ones side by side (in each lane of V), by swapping
// ever smaller off-diagonal blocks.
template <int kRows = kWordSamples, class V>
inline void transpose_block(V* block) {
  constexpr int kHalf = kRows / 2;
  std::uint64_t mask = ~0ULL / ((1ULL << kHalf) + 1);  // the lower halves of the blocks
  for (int width = kHalf; width != 0; width >>= 1, mask ^= mask << width)
    for (int row = 0; row < kRows; row = (row + width + 1) & ~width) {
      const V swapped = ((block[row] >> width) ^ block[row + width]) & mask;
      block[row] ^= swapped << width;
      block[row + width] ^= swapped;
    }
}

}  // namespace
}  // namespace hardwire
