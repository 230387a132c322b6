// A single image: its values are single bits that lie together, and 64 gates at a time, of any kind, fetch their
// operands from them: a line of 64 bytes in a register is a table to look a byte up in (AVX-512 VBMI), of which one bit
// is taken. Outputs of several classes lie among each other and are counted through a mask for each class. A machine
// without it takes a byte for every value, as kernel_circuit.hpp does. In a header, because the build lists its sources
// in a file that the digest of the training code covers.
#pragma once
#include <cstring>
#include <memory>
#include <string_view>

#include "circuit.hpp"
#include "packing.hpp"

#ifdef HARDWIRE_X86_64
#include <cpuid.h>
#include <immintrin.h>
#define HARDWIRE_VBMI __attribute__((target("avx512f,avx512bw,avx512vbmi,avx512vpopcntdq")))
#endif

namespace hardwire {
namespace {

constexpr std::size_t kLineWords = 8, kLineBits = kLineWords * kWordSamples;

// Whether this machine has what it takes and HARDWIRE_ISA lets it.
inline bool can_run_bit_image() {
#ifdef HARDWIRE_X86_64
  static const bool can = [] {
    unsigned a, b, c = 0, d;
    constexpr unsigned kVbmi = 1u << 1, kPopcount = 1u << 14, kBoth = kVbmi | kPopcount;
    const bool both = __get_cpuid_count(7, 0, &a, &b, &c, &d) && (c & kBoth) == kBoth;
    return both && std::string_view(kernels().name) == "avx512";
  }();
  return can;
#else
  return false;
#endif
}

// Where 64 operands are.
inline Operands operands_of(const std::int32_t* bits) {
  Operands operands;
  for (std::size_t i = 0; i < kWordSamples; ++i) {
    operands.byte[i] = static_cast<std::uint8_t>(bits[i] % kLineBits / 8);
    operands.mask[i] = static_cast<std::uint8_t>(1u << bits[i] % 8);
  }
  return operands;
}

// The lines that 64 operands are in.
inline std::vector<OperandLine> lines_of(const std::int32_t* bits) {
  std::vector<OperandLine> lines;
  for (std::size_t i = 0; i < kWordSamples; ++i) {
    const std::uint32_t line = static_cast<std::uint32_t>(bits[i] / kLineBits);
    std::size_t at = 0;
    while (at < lines.size() && lines[at].line != line) ++at;
    if (at == lines.size()) lines.push_back({line, 0});
    lines[at].operands |= std::uint64_t(1) << i;
  }
  return lines;
}

struct BitImageLines {
  std::vector<OperandLine> first, second;
};

// Where the outputs of each class lie: output i is bit first_output + i.
inline void mask_classes(std::size_t first_output, const std::vector<std::int32_t>& class_of, std::size_t classes,
                         BitImageProgram& program) {
  std::vector<std::vector<std::size_t>> bits_of(classes);
  for (std::size_t i = 0; i < class_of.size(); ++i)
    bits_of[static_cast<std::size_t>(class_of[i])].push_back(first_output + i);
  for (const std::vector<std::size_t>& bits : bits_of) {
    const std::size_t begin = bits.front() / kLineBits, count = bits.back() / kLineBits + 1 - begin;
    std::vector<Line512> masks(count, Line512{});
    for (const std::size_t bit : bits)
      masks[bit / kLineBits - begin].words[bit % kLineBits / kWordSamples] |= std::uint64_t(1) << bit % kWordSamples;
    program.classes.push_back({begin, count});
    program.masks.insert(program.masks.end(), masks.begin(), masks.end());
  }
}

#ifdef HARDWIRE_X86_64
HARDWIRE_VBMI inline std::uint64_t fetch(const Operands& operands, const OperandLine* line, std::size_t lines,
                                         const std::uint64_t* bits) {
  const __m512i place = _mm512_load_si512(operands.byte);
  __m512i bytes = _mm512_setzero_si512();
  for (std::size_t i = 0; i < lines; ++i) {
    const __m512i table = _mm512_load_si512(bits + line[i].line * kLineWords);
    bytes = _mm512_mask_permutexvar_epi8(bytes, line[i].operands, place, table);
  }
  return _mm512_test_epi8_mask(bytes, _mm512_load_si512(operands.mask));
}

HARDWIRE_VBMI inline void run_words(const BitImageProgram& program, std::uint64_t* bits) {
  const OperandLine* line = program.lines.data();
  for (const Gates64& gates : program.gates) {
    const std::uint64_t a = fetch(gates.first, line, gates.first_lines, bits);
    line += gates.first_lines;
    const std::uint64_t b = fetch(gates.second, line, gates.second_lines, bits);
    line += gates.second_lines;
    bits[gates.target] = gates.k0 ^ (gates.k1 & a) ^ (gates.k2 & b) ^ (gates.k3 & a & b);
  }
}

// Raw bytes against their thresholds, 64 bits at a time: bit i is of the byte i / levels.
HARDWIRE_VBMI inline void encode_bit_image(const Thresholds& thresholds, const std::uint8_t* raw, std::uint64_t* bits) {
  const std::size_t inputs = thresholds.columns * thresholds.levels;
  for (std::size_t begin = 0; begin < inputs; begin += kWordSamples) {
    const std::size_t column = begin / thresholds.levels, left = thresholds.columns - column, w = begin / kWordSamples;
    const __mmask64 there = left >= kWordSamples ? ~__mmask64(0) : (__mmask64(1) << left) - 1;
    const __m512i values = _mm512_maskz_loadu_epi8(there, raw + column);
    const __m512i spread =
        _mm512_maskz_permutexvar_epi8(~__mmask64(0), _mm512_loadu_si512(&thresholds.column[begin]), values);
    bits[w] = _mm512_cmpge_epu8_mask(spread, _mm512_loadu_si512(&thresholds.flat[begin])) & thresholds.flat_possible[w];
  }
}

HARDWIRE_VBMI inline std::int32_t count_class(const ClassLines& lines, const Line512* masks,
                                              const std::uint64_t* bits) {
  __m512i sums = _mm512_setzero_si512();
  for (std::size_t i = 0; i < lines.count; ++i) {
    const __m512i line = _mm512_load_si512(bits + (lines.begin + i) * kLineWords);
    sums = _mm512_add_epi64(sums, _mm512_popcnt_epi64(_mm512_and_si512(line, _mm512_load_si512(masks + i))));
  }
  return static_cast<std::int32_t>(_mm512_reduce_add_epi64(sums));
}

HARDWIRE_VBMI inline void run_bit_image(const CircuitProgram& program, const CircuitInput& input,
                                    const CircuitOutput& output) {
  const std::unique_ptr<Line512[]> memory = std::make_unique_for_overwrite<Line512[]>(program.bit_image.lines_of_bits);
  std::uint64_t* bits = memory[0].words;
  if (input.thresholds)
    encode_bit_image(*input.thresholds, input.bytes, bits);
  else if (input.bytes)
    pack(input.bytes, 1, program.inputs, bits);
  else
    std::memcpy(bits, input.words, word_count(program.inputs) * sizeof(std::uint64_t));
  run_words(program.bit_image, bits);
  const Line512* masks = program.bit_image.masks.data();
  std::int32_t most = -1;
  for (std::size_t c = 0; c < program.classes; ++c) {
    const ClassLines& lines = program.bit_image.classes[c];
    const std::int32_t sum = count_class(lines, masks, bits);
    masks += lines.count;
    if (output.scores)
      output.scores[c] = sum;
    else if (sum > most)
      most = sum, *output.winners = static_cast<std::int64_t>(c);
  }
}
#else
inline void run_bit_image(const CircuitProgram&, const CircuitInput&, const CircuitOutput&) {}
#endif

}  // namespace

}  // namespace hardwire
