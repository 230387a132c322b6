// The Python face of the native code: each room binds its own functions.
#include "bindings.hpp"
#include "error.hpp"

namespace {

// Our errors are the library's own in Python, looked up when one is raised.
void translate(const std::exception_ptr& raised, void*) {
  try {
    std::rethrow_exception(raised);
  } catch (const hardwire::Error& error) {
    PyErr_SetString(nb::module_::import_("hardwire.errors").attr("HardwireError").ptr(), error.what());
  }
}

}  // namespace

NB_MODULE(_native, m) {
  m.doc() = "C++ side of hardwire";
  nb::set_leak_warnings(false);  // networks that live until the interpreter ends are no leak
  m.attr("training_sources") = HARDWIRE_TRAINING_SOURCES;  // a digest, from the build
  nb::register_exception_translator(translate);
  bind_packing(m);
  bind_engine(m);
  bind_circuit(m);
}
