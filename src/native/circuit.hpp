// Runs a scheduled circuit bit-parallel: 64 images in a word, `lanes` words in a slot, all gates on one tile of images
// before the next tile. The schedule (order, slots, runs of equal gates) comes from Python, checked.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels.hpp"

namespace hardwire {

struct CircuitProgram {
  std::size_t inputs, slots, classes;
  std::vector<Operation> operations;
  std::vector<Run> runs;
  std::vector<std::int32_t> outputs;

  CircuitView view() const {
    return {inputs, slots, classes, runs.size(), outputs.size(), operations.data(), runs.data(), outputs.data()};
  }
};

// Rows of packed bits [rows][word_count(inputs)], or of bytes [rows][inputs] where zero is 0 and anything else 1.
struct CircuitInput {
  const std::uint64_t* words;  // null where bytes are given
  const std::uint8_t* bytes;
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
