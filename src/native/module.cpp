// The Python face of the native code: each room binds its own functions.
#include "bindings.hpp"

NB_MODULE(_native, m) {
  m.doc() = "C++ side of hardwire";
  nb::set_leak_warnings(false);  // networks that live until the interpreter ends are no leak
  m.attr("training_sources") = HARDWIRE_TRAINING_SOURCES;  // a digest, from the build
  bind_packing(m);
  bind_engine(m);
  bind_circuit(m);
}
