// A circuit of look-up tables on the slots of a tile. Four entries of a table are a function of its first two inputs, one
// of 16, which are all made once; the other inputs choose among those as a tree of multiplexers. So a table of six
// inputs costs some forty operations for a vector of images, whatever it computes. A single image looks its address up.
#pragma once
#include "kernels.hpp"
#include "words.hpp"

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace hardwire {
namespace {

template <class V>
inline V multiplex(V condition, V yes, V no) {
#if defined(__AVX512F__)
  if constexpr (sizeof(V) == 64)
    return (V)_mm512_ternarylogic_epi64((__m512i)condition, (__m512i)yes, (__m512i)no, 0xCA);
#endif
  return no ^ (condition & (yes ^ no));
}

// Every function of two inputs: bit a + 2 b of a position in `of` is the function's value.
template <class V>
struct TwoInputFunctions {
  V of[16];

  TwoInputFunctions(V a, V b) {
    const V both = a & b, either = a | b, differ = a ^ b, more = a & ~b, less = b & ~a;
    of[0] = V{}, of[15] = ~V{};
    of[1] = ~either, of[2] = more, of[4] = less, of[8] = both;
    of[3] = ~b, of[12] = b, of[5] = ~a, of[10] = a;
    of[6] = differ, of[9] = ~differ, of[7] = ~both, of[14] = either, of[11] = ~less, of[13] = ~more;
  }
};

// The part of a table that starts at entry `begin`, of its first kArity inputs.
template <int kArity, class V>
inline V part_of_table(std::uint64_t table, int begin, const TwoInputFunctions<V>& functions, const V* inputs) {
  if constexpr (kArity == 2)
    return functions.of[table >> begin & 15];
  else
    return multiplex(inputs[kArity - 1],
                     part_of_table<kArity - 1>(table, begin + (1 << (kArity - 1)), functions, inputs),
                     part_of_table<kArity - 1>(table, begin, functions, inputs));
}

template <int kArity, class V>
inline V table_output(std::uint64_t table, const V* inputs) {
  if constexpr (sizeof(V) == 1) {  // one image, in the lowest bit; the others are anything
    int address = 0;
    for (int j = 0; j < kArity; ++j) address |= (inputs[j] & 1) << j;
    return static_cast<V>(table >> address & 1);
  } else if constexpr (kArity == 0) {
    return table & 1 ? ~V{} : V{};
  } else if constexpr (kArity == 1) {
    return (table & 1 ? ~V{} : V{}) ^ ((table ^ table >> 1) & 1 ? inputs[0] : V{});
  } else {
    return part_of_table<kArity>(table, 0, TwoInputFunctions<V>(inputs[0], inputs[1]), inputs);
  }
}

template <int kArity, class V, int U>
void run_equal_tables(const TableOperation* operation, std::int64_t count, V* slots) {
  for (std::int64_t i = 0; i < count; ++i) {
    const TableOperation& table = operation[i];
    for (int u = 0; u < U; ++u) {
      V inputs[kArity ? kArity : 1];
      for (int j = 0; j < kArity; ++j) inputs[j] = slots[std::size_t(table.wires[j]) * U + u];
      slots[std::size_t(table.target) * U + u] = table_output<kArity>(table.entries, inputs);
    }
  }
}

// Runs of tables with equally many inputs, which a run's number says.
template <class V, int U>
inline void run_tables(const Run* runs, std::size_t count, const TableOperation* operation, V* slots) {
  constexpr void (*kByArity[])(const TableOperation*, std::int64_t, V*) = {
      run_equal_tables<0, V, U>, run_equal_tables<1, V, U>, run_equal_tables<2, V, U>, run_equal_tables<3, V, U>,
      run_equal_tables<4, V, U>, run_equal_tables<5, V, U>, run_equal_tables<6, V, U>};
  for (std::size_t r = 0; r < count; ++r) {
    kByArity[runs[r].gate](operation, runs[r].count, slots);
    operation += runs[r].count;
  }
}

}  // namespace
}  // namespace hardwire
