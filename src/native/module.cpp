// The Python face of the native code: each room binds its own functions.
#include "bindings.hpp"

NB_MODULE(_native, m) {
  m.doc() = "C++ side of hardwire";
  bind_packing(m);
  bind_circuit(m);
}
