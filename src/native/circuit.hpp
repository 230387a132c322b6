// Runs a scheduled circuit bit-parallel: 64 images in a word, `lanes` words in a slot, all gates on one tile of images
// before the next tile. The schedule (order, slots, runs of equal gates) comes from Python, checked.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels.hpp"

namespace hardwire {

// For one image alone, as `SingleView` says; one of `narrow` and `wide` is empty.
struct SingleProgram {
  std::size_t slots = 0;
  std::vector<Run> runs;
  std::vector<NarrowOperation> narrow;
  std::vector<Operation> wide;

  SingleView view() const { return {runs.size(), runs.data(), wide.empty() ? narrow.data() : nullptr, wide.data()}; }
};

struct CircuitProgram {
  std::size_t inputs, slots, classes;
  std::vector<Operation> operations;
  std::vector<Run> runs;
  std::vector<std::int32_t> outputs;
  SingleProgram single;

  CircuitView view() const {
    return {inputs,      slots,          classes,      runs.size(), outputs.size(), operations.data(),
            runs.data(), outputs.data(), single.view()};
  }
};

// Slots, runs and operations of an image alone.
SingleProgram single_program(std::size_t slots, std::vector<Run> runs, const std::vector<Operation>& operations);

// What raw bytes are compared with, as `ThresholdsView` says.
struct Thresholds {
  std::size_t columns, levels;
  std::vector<std::uint8_t> least;
  std::vector<std::uint64_t> possible;

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
