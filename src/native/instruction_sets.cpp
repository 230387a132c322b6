#include <cstdlib>
#include <string>
#include <vector>

#include "error.hpp"
#include "kernels.hpp"

namespace hardwire {

namespace {

struct InstructionSet {
  std::string name;
  bool runs;
  const Kernels& (*kernels)();
};

// Best first.
std::vector<InstructionSet> instruction_sets() {
  return {
#ifdef HARDWIRE_X86_64
      {"avx512",
       __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl"),
       kernels_avx512},
      {"avx2", __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"), kernels_avx2},
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

const Kernels& kernels() {
  static const Kernels& best = [&]() -> const Kernels& {
    const char* wanted = std::getenv("HARDWIRE_ISA");
    return choose(wanted ? wanted : "");
  }();
  return best;
}

}  // namespace hardwire
