// A mistake that the person at the keyboard can mend: Python sees it as a HardwireError.
#pragma once
#include <stdexcept>

namespace hardwire {

struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace hardwire
