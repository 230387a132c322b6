// Compiled once for each instruction set: CMake gives HARDWIRE_ISA (a name) and the compiler's flags.
#include "kernels.hpp"

#include "kernel_bits.hpp"
#include "kernel_circuit.hpp"
#include "kernel_floats.hpp"
#include "kernel_sampled.hpp"
#include "kernel_selection.hpp"
#include "kernel_tables.hpp"
#include "kernel_trees.hpp"
#include "kernel_wires.hpp"

#define HARDWIRE_STRING(x) #x
#define HARDWIRE_NAME(x) HARDWIRE_STRING(x)
#define HARDWIRE_JOIN(a, b) a##b
#define HARDWIRE_TABLE(isa) HARDWIRE_JOIN(kernels_, isa)

namespace hardwire {

const Kernels& HARDWIRE_TABLE(HARDWIRE_ISA)() {
  static constexpr Kernels table = {
      .name = HARDWIRE_NAME(HARDWIRE_ISA),
      .select_gates = select_gates,
      .gate_gradient = gate_gradient,
      .select_wires = select_wires,
      .wire_gradient = wire_gradient,
      .forward_bits = forward_bits,
      .forward_rows = forward_rows,
      .group_scores = group_scores,
      .backward_bits = backward_bits,
      .sums_bits = sums_bits,
      .wire_sums_bits = wire_sums_bits,
      .select_tables = select_tables,
      .table_gradient = table_gradient,
      .forward_tables = forward_tables,
      .backward_tables = backward_tables,
      .forward_trees = forward_trees,
      .backward_trees = backward_trees,
      .forward_floats = forward_floats,
      .sum_rows = sum_rows,
      .pack_rows = pack_rows,
      .unpack_rows = unpack_rows,
      .mix_wires = mix_wires,
      .unmix_wires = unmix_wires,
      .backward_floats = backward_floats,
      .forward_sampled = forward_sampled,
      .backward_sampled = backward_sampled,
      .race_odds = race_odds,
      .wire_sums_floats = wire_sums_floats,
      .run_tile = run_tile,
  };
  return table;
}

}  // namespace hardwire
