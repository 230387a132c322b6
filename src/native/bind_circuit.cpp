#include "bindings.hpp"
#include "circuit.hpp"

using namespace hardwire;

namespace {

CircuitProgram make_program(std::size_t inputs, std::size_t slots, std::size_t classes,
                            Matrix<const std::int32_t> operations, Matrix<const std::int32_t> runs,
                            Vector<const std::int32_t> outputs) {
  CircuitProgram program{inputs, slots, classes, {}, {}, {}};
  for (std::size_t i = 0; i < operations.shape(0); ++i)
    program.operations.push_back({operations(i, 0), operations(i, 1), operations(i, 2)});
  for (std::size_t i = 0; i < runs.shape(0); ++i) program.runs.push_back({runs(i, 0), runs(i, 1)});
  program.outputs.assign(outputs.data(), outputs.data() + outputs.shape(0));
  return program;
}

template <class Rows>
CircuitInput input_of(const Rows& rows) {
  if constexpr (std::is_same_v<Rows, Matrix<const std::uint64_t>>)
    return {rows.data(), nullptr, rows.shape(0)};
  else
    return {nullptr, rows.data(), rows.shape(0)};
}

template <class Rows>
void scores(const CircuitProgram& program, Rows rows, Matrix<std::int32_t> out, std::size_t lanes,
            std::size_t threads) {
  nb::gil_scoped_release release;
  run_circuit(program, input_of(rows), {out.data(), nullptr}, lanes, threads);
}

template <class Rows>
void predict(const CircuitProgram& program, Rows rows, Vector<std::int64_t> out, std::size_t lanes,
             std::size_t threads) {
  nb::gil_scoped_release release;
  run_circuit(program, input_of(rows), {nullptr, out.data()}, lanes, threads);
}

template <class Rows>
void bind_rows(nb::class_<CircuitProgram>& program) {
  program
      .def("scores", &scores<Rows>, nb::arg("rows").noconvert(), nb::arg("out").noconvert(), nb::arg("lanes"),
           nb::arg("threads"))
      .def("predict", &predict<Rows>, nb::arg("rows").noconvert(), nb::arg("out").noconvert(), nb::arg("lanes"),
           nb::arg("threads"));
}

}  // namespace

void bind_circuit(nb::module_& m) {
  auto program = nb::class_<CircuitProgram>(m, "CircuitProgram");
  m.def("circuit_program", &make_program, nb::arg("inputs"), nb::arg("slots"), nb::arg("classes"),
        nb::arg("operations").noconvert(), nb::arg("runs").noconvert(), nb::arg("outputs").noconvert());
  bind_rows<Matrix<const std::uint64_t>>(program);
  bind_rows<Matrix<const std::uint8_t>>(program);
}
