// Runs a scheduled circuit bit-parallel: 64 images in a word, `lanes` words in a slot, all gates on one tile of images
// before the next tile. The schedule (order, slots, runs of equal gates) comes from Python, checked.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels.hpp"

namespace hardwire {

// For a single image, as `ByteImageView` says; one of `narrow` and `wide` is empty.
struct ByteImageProgram {
  std::size_t slots = 0;
  std::vector<Run> runs;
  std::vector<NarrowOperation> narrow;
  std::vector<Operation> wide;
  std::vector<TableOperation> tables = {};  // in place of both

  ByteImageView view() const {
    return {runs.size(), runs.data(), wide.empty() ? narrow.data() : nullptr, wide.data(),
            tables.empty() ? nullptr : tables.data()};
  }
};

// A single image as bits; see circuit_bit_image.hpp. Where 64 operands are: the byte in its line and the bit of that byte,
// as a mask.
struct Operands {
  alignas(64) std::uint8_t byte[64], mask[64];
};
struct OperandLine {
  std::uint32_t line;
  std::uint64_t operands;  // those that are in it
};
// Bit i of k0 ^ (k1 & a) ^ (k2 & b) ^ (k3 & a & b) is gate i of 64, which go to the word `target`.
struct Gates64 {
  Operands first, second;
  std::uint64_t k0, k1, k2, k3;
  std::uint32_t target, first_lines, second_lines;
};
struct alignas(64) Line512 {
  std::uint64_t words[8];
};
// The lines that outputs of a class lie in.
struct ClassLines {
  std::size_t begin, count;
};
struct BitImageProgram {
  std::vector<Gates64> gates;      // empty where the machine cannot run it
  std::vector<OperandLine> lines;  // of the first, then of the second operands of each 64 gates
  std::vector<ClassLines> classes;
  std::vector<Line512> masks;  // of the outputs of a class in its lines, class by class
  std::size_t lines_of_bits = 0;
};

struct CircuitProgram {
  std::size_t inputs, slots, classes;
  std::vector<Operation> operations;
  std::vector<Run> runs;
  std::vector<std::int32_t> outputs;
  ByteImageProgram byte_image;
  BitImageProgram bit_image;
  std::vector<TableOperation> tables = {};  // in place of operations

  CircuitView view() const {
    return {inputs,      slots,          classes,       runs.size(), outputs.size(), operations.data(),
            runs.data(), outputs.data(), byte_image.view(), tables.empty() ? nullptr : tables.data()};
  }
};

// Slots, runs and operations of a single image.
ByteImageProgram byte_image_program(std::size_t slots, std::vector<Run> runs, const std::vector<Operation>& operations);

// bits: how many there are; words: the targets of 64 gates each in turn, and the level that they are of; class_of: of
// the outputs, which lie together from first_output on.
struct BitImageGate {
  std::int32_t gate, first, second;
};
struct BitImageWord {
  std::int32_t target, level;
};
BitImageProgram bit_image_program(std::size_t bits, std::size_t first_output, const std::vector<std::int32_t>& class_of,
                           std::size_t classes, const std::vector<BitImageWord>& words,
                           const std::vector<BitImageGate>& gates);

// What raw bytes are compared with, as `ThresholdsView` says; and the same bit by bit, for 64 bits at a time: the bits'
// columns, counted from that of the first of the 64.
struct Thresholds {
  std::size_t columns, levels;
  std::vector<std::uint8_t> least;
  std::vector<std::uint64_t> possible;
  std::vector<std::uint8_t> column, flat;
  std::vector<std::uint64_t> flat_possible;

  Thresholds(std::size_t columns, std::size_t levels, std::vector<std::uint8_t> least,
             std::vector<std::uint64_t> possible);

  ThresholdsView view() const { return {columns, levels, least.data(), possible.data()}; }
};

// Rows of packed bits [rows][word_count(inputs)], of bytes [rows][inputs] where zero is 0 and anything else 1, or of
// raw bytes [rows][columns] where there are thresholds.
struct CircuitInput {
  const std::uint64_t* words;  // null where bytes are given
  const std::uint8_t* bytes;
  const Thresholds* thresholds;  // null where bytes are bits
  std::size_t rows;
};

// Where the answers go: scores [rows][classes] or winners [rows] (ties to the lowest class); the other is null.
struct CircuitOutput {
  std::int32_t* scores;
  std::int64_t* winners;
};

// lanes: words in a slot for full tiles (8, 16 or 32); a rest of few images runs one word at a time.
void run_circuit(const CircuitProgram& program, const CircuitInput& input, const CircuitOutput& output,
                 std::size_t lanes, std::size_t threads);

}  // namespace hardwire
