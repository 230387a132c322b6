// Compiled once for each instruction set: CMake gives HARDWIRE_ISA (a name) and the compiler's flags.
#include "kernels.hpp"

#if defined(__AVX512F__) || defined(__AVX2__)
#include <immintrin.h>
#endif

namespace hardwire {
namespace HARDWIRE_ISA {
namespace {
#include "simd.hpp"
#include "kernel_selection.hpp"
#include "kernel_bits.hpp"
#include "kernel_floats.hpp"
}  // namespace
}  // namespace HARDWIRE_ISA

#define HARDWIRE_STRING(x) #x
#define HARDWIRE_NAME(x) HARDWIRE_STRING(x)
#define HARDWIRE_JOIN(a, b) a##b
#define HARDWIRE_TABLE(isa) HARDWIRE_JOIN(kernels_, isa)

const Kernels& HARDWIRE_TABLE(HARDWIRE_ISA)() {
  using namespace HARDWIRE_ISA;
  static constexpr Kernels table = {HARDWIRE_NAME(HARDWIRE_ISA),
                                    select,
                                    logit_gradient,
                                    forward_bits,
                                    forward_rows,
                                    group_counts,
                                    backward_bits,
                                    top_sums_bits,
                                    forward_floats,
                                    backward_floats,
                                    gather_edges};
  return table;
}

}  // namespace hardwire
