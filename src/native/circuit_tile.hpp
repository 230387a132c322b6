// The hot part of the circuit engine, compiled for several instruction sets where the compiler can choose at load time.
#pragma once
#include "circuit.hpp"

namespace hardwire {

// One tile of rows <= lanes * 64 images, lanes 1, 8, 16 or 32: words [rows][word_count(inputs)] are transposed into the
// input slots, the gates run, the class sums are taken. slots: [program.slots][lanes], aligned to 64 bytes.
void run_tile(const CircuitProgram& program, const std::uint64_t* words, std::size_t rows, std::size_t lanes,
              std::uint64_t* slots, std::int32_t* scores, std::int64_t* winners);

}  // namespace hardwire
