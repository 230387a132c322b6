#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#ifdef HARDWIRE_X86_64
#include <cpuid.h>
#endif

#include "error.hpp"
#include "kernels.hpp"

namespace hardwire {

namespace {

// By the processor's own words: __builtin_cpu_supports needs a library that clang on Windows does not link.
Processor read_processor() {
  Processor processor;
#ifdef HARDWIRE_X86_64
  unsigned a, b, c, d;
  if (!__get_cpuid(0, &a, &b, &c, &d)) return processor;
  processor.fast_gather = b != signature_AMD_ebx;
  if (!__get_cpuid(1, &a, &b, &c, &d)) return processor;
  const bool fma = c >> 12 & 1, osxsave = c >> 27 & 1, avx = c >> 28 & 1;
  if (!osxsave || !__get_cpuid_count(7, 0, &a, &b, &c, &d)) return processor;
  std::uint32_t saved, high;  // the registers that the system saves: xmm 1, ymm 2, masks and zmm 5 to 7
  __asm__("xgetbv" : "=a"(saved), "=d"(high) : "c"(0));
  const auto has = [&](std::uint32_t bits, std::uint32_t of) { return (of & bits) == bits; };
  processor.avx2 = avx && fma && has(1u << 5, b) && has(0x06, saved);
  processor.avx512 = processor.avx2 && has(1u << 16 | 1u << 17 | 1u << 30 | 1u << 31, b) && has(0xe6, saved);  // f dq bw vl
  processor.bit_shuffle = processor.avx512 && has(1u << 12, c);
#endif
  return processor;
}

struct InstructionSet {
  std::string name;
  bool runs;
  const Kernels& (*kernels)();
};

// Best first.
std::vector<InstructionSet> instruction_sets() {
  return {
#ifdef HARDWIRE_X86_64
      {"avx512", processor().avx512, kernels_avx512},
      {"avx2", processor().avx2, kernels_avx2},
#endif
      {"baseline", true, kernels_baseline},
  };
}

const Kernels& choose(const std::string& wanted) {
  std::string known, usable;
  bool exists = false;
  for (const InstructionSet& set : instruction_sets()) {
    if (set.runs && (wanted.empty() || wanted == set.name)) return set.kernels();
    exists |= wanted == set.name;
    known += (known.empty() ? "" : ", ") + set.name;
    if (set.runs) usable += (usable.empty() ? "" : ", ") + set.name;
  }
  const std::string given = "HARDWIRE_ISA is '" + wanted + "', ";
  if (exists) throw Error(given + "which this processor lacks; use one of: " + usable + "; or unset it");
  throw Error(given + "which is no instruction set of ours; use one of: " + known + "; or unset it for the best");
}

}  // namespace

const Processor& processor() {
  static const Processor known = read_processor();
  return known;
}

const Kernels& kernels() {
  static const Kernels& best = [&]() -> const Kernels& {
    const char* wanted = std::getenv("HARDWIRE_ISA");
    return choose(wanted ? wanted : "");
  }();
  return best;
}

}  // namespace hardwire
