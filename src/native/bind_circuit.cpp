#include "bindings.hpp"
#include "circuit.hpp"

using namespace hardwire;

namespace {

std::vector<Operation> operations_of(Matrix<const std::int32_t> rows) {
  std::vector<Operation> operations;
  for (std::size_t i = 0; i < rows.shape(0); ++i) operations.push_back({rows(i, 0), rows(i, 1), rows(i, 2)});
  return operations;
}

std::vector<Run> runs_of(Matrix<const std::int32_t> rows) {
  std::vector<Run> runs;
  for (std::size_t i = 0; i < rows.shape(0); ++i) runs.push_back({rows(i, 0), rows(i, 1)});
  return runs;
}

CircuitProgram make_program(std::size_t inputs, std::size_t slots, std::size_t classes,
                            Matrix<const std::int32_t> operations, Matrix<const std::int32_t> runs,
                            Vector<const std::int32_t> outputs, std::size_t single_slots,
                            Matrix<const std::int32_t> single_operations, Matrix<const std::int32_t> single_runs) {
  return {inputs,
          slots,
          classes,
          operations_of(operations),
          runs_of(runs),
          {outputs.data(), outputs.data() + outputs.shape(0)},
          single_program(single_slots, runs_of(single_runs), operations_of(single_operations))};
}

Thresholds make_thresholds(Matrix<const std::uint8_t> least, Matrix<const std::uint64_t> possible) {
  return {least.shape(1),
          least.shape(0),
          {least.data(), least.data() + least.size()},
          {possible.data(), possible.data() + possible.size()}};
}

template <class Rows>
CircuitInput input_of(const Rows& rows, const Thresholds* thresholds) {
  if constexpr (std::is_same_v<Rows, Matrix<const std::uint64_t>>)
    return {rows.data(), nullptr, nullptr, rows.shape(0)};
  else
    return {nullptr, rows.data(), thresholds, rows.shape(0)};
}

template <class Rows>
void scores(const CircuitProgram& program, Rows rows, Matrix<std::int32_t> out, std::size_t lanes, std::size_t threads,
            const Thresholds* thresholds) {
  nb::gil_scoped_release release;
  run_circuit(program, input_of(rows, thresholds), {out.data(), nullptr}, lanes, threads);
}

template <class Rows>
void predict(const CircuitProgram& program, Rows rows, Vector<std::int64_t> out, std::size_t lanes, std::size_t threads,
             const Thresholds* thresholds) {
  nb::gil_scoped_release release;
  run_circuit(program, input_of(rows, thresholds), {nullptr, out.data()}, lanes, threads);
}

template <class Rows>
void bind_rows(nb::class_<CircuitProgram>& program) {
  program
      .def("scores", &scores<Rows>, nb::arg("rows").noconvert(), nb::arg("out").noconvert(), nb::arg("lanes"),
           nb::arg("threads"), nb::arg("thresholds").none())
      .def("predict", &predict<Rows>, nb::arg("rows").noconvert(), nb::arg("out").noconvert(), nb::arg("lanes"),
           nb::arg("threads"), nb::arg("thresholds").none());
}

}  // namespace

void bind_circuit(nb::module_& m) {
  nb::class_<Thresholds>(m, "ByteThresholds");
  m.def("byte_thresholds", &make_thresholds, nb::arg("least").noconvert(), nb::arg("possible").noconvert());
  auto program = nb::class_<CircuitProgram>(m, "CircuitProgram");
  m.def("circuit_program", &make_program, nb::arg("inputs"), nb::arg("slots"), nb::arg("classes"),
        nb::arg("operations").noconvert(), nb::arg("runs").noconvert(), nb::arg("outputs").noconvert(),
        nb::arg("single_slots"), nb::arg("single_operations").noconvert(), nb::arg("single_runs").noconvert());
  bind_rows<Matrix<const std::uint64_t>>(program);
  bind_rows<Matrix<const std::uint8_t>>(program);
}
