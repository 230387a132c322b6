#include <string>

#include "bindings.hpp"
#include "circuit.hpp"
#include "error.hpp"
#include "words.hpp"

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

BitImageProgram bit_image_of(std::size_t bits, std::size_t first_output, Vector<const std::int32_t> class_of,
                      std::size_t classes, Matrix<const std::int32_t> targets, Matrix<const std::int32_t> rows) {
  std::vector<BitImageGate> gates;
  for (std::size_t i = 0; i < rows.shape(0); ++i) gates.push_back({rows(i, 0), rows(i, 1), rows(i, 2)});
  std::vector<BitImageWord> words;
  for (std::size_t i = 0; i < targets.shape(0); ++i) words.push_back({targets(i, 0), targets(i, 1)});
  return bit_image_program(bits, first_output, {class_of.data(), class_of.data() + class_of.shape(0)}, classes, words,
                       gates);
}

CircuitProgram make_program(std::size_t inputs, std::size_t slots, std::size_t classes,
                            Matrix<const std::int32_t> operations, Matrix<const std::int32_t> runs,
                            Vector<const std::int32_t> outputs, std::size_t byte_slots,
                            Matrix<const std::int32_t> byte_operations, Matrix<const std::int32_t> byte_runs,
                            std::size_t bit_count, std::size_t bit_first_output,
                            Vector<const std::int32_t> bit_class_of, Matrix<const std::int32_t> bit_words,
                            Matrix<const std::int32_t> bit_gates) {
  return {inputs,
          slots,
          classes,
          operations_of(operations),
          runs_of(runs),
          {outputs.data(), outputs.data() + outputs.shape(0)},
          byte_image_program(byte_slots, runs_of(byte_runs), operations_of(byte_operations)),
          bit_image_of(bit_count, bit_first_output, bit_class_of, classes, bit_words, bit_gates),
          {}};
}

// rows: the target and the inputs of each table.
std::vector<TableOperation> tables_of(Matrix<const std::int32_t> rows, Vector<const std::uint64_t> entries) {
  std::vector<TableOperation> tables;
  for (std::size_t i = 0; i < rows.shape(0); ++i) {
    TableOperation table{rows(i, 0), {}, entries(i)};
    for (std::size_t j = 0; j < kMostArity; ++j) table.wires[j] = rows(i, j + 1);
    tables.push_back(table);
  }
  return tables;
}

CircuitProgram make_table_program(std::size_t inputs, std::size_t slots, std::size_t classes,
                                  Matrix<const std::int32_t> rows, Vector<const std::uint64_t> entries,
                                  Matrix<const std::int32_t> runs, Vector<const std::int32_t> outputs,
                                  std::size_t byte_slots, Matrix<const std::int32_t> byte_rows,
                                  Vector<const std::uint64_t> byte_entries,
                                  Matrix<const std::int32_t> byte_runs) {
  ByteImageProgram byte_image{byte_slots, runs_of(byte_runs), {}, {}, tables_of(byte_rows, byte_entries)};
  return {inputs,
          slots,
          classes,
          {},
          runs_of(runs),
          {outputs.data(), outputs.data() + outputs.shape(0)},
          std::move(byte_image),
          {},
          tables_of(rows, entries)};
}

Thresholds make_thresholds(Matrix<const std::uint8_t> least, Matrix<const std::uint64_t> possible) {
  return {least.shape(1),
          least.shape(0),
          {least.data(), least.data() + least.size()},
          {possible.data(), possible.data() + possible.size()}};
}

// Whether a bit past the last feature is set.
bool has_padding(const std::uint64_t* words, std::size_t rows, std::size_t features) {
  const std::size_t used = features % kWordSamples, row_words = word_count(features);
  std::uint64_t padding = 0;
  for (std::size_t row = 1; used && row <= rows; ++row) padding |= words[row * row_words - 1] >> used;
  return padding;
}

Error padding_error(std::size_t features) {
  return Error("the padding bits past feature " + std::to_string(features) + " must be zero");
}

template <class Rows>
CircuitInput input_of(const CircuitProgram& program, const Rows& rows, const Thresholds* thresholds) {
  if constexpr (std::is_same_v<Rows, Matrix<const std::uint64_t>>) {
    if (has_padding(rows.data(), rows.shape(0), program.inputs)) throw padding_error(program.inputs);
    return {rows.data(), nullptr, nullptr, rows.shape(0)};
  } else
    return {nullptr, reinterpret_cast<const std::uint8_t*>(rows.data()), thresholds, rows.shape(0)};
}

// The class of one image, packed words or bytes: a buffer is taken quicker than an array.
std::int64_t predict_one(const CircuitProgram& program, nb::handle row) {
  Py_buffer buffer;
  if (PyObject_GetBuffer(row.ptr(), &buffer, PyBUF_SIMPLE)) throw nb::python_error();
  const bool packed = buffer.itemsize == sizeof(std::uint64_t);
  const CircuitInput input{packed ? static_cast<const std::uint64_t*>(buffer.buf) : nullptr,
                           packed ? nullptr : static_cast<const std::uint8_t*>(buffer.buf), nullptr, 1};
  const bool padded = packed && has_padding(input.words, 1, program.inputs);
  std::int64_t winner = 0;
  if (!padded) run_circuit(program, input, {nullptr, &winner}, 8, 1);
  PyBuffer_Release(&buffer);
  if (padded) throw padding_error(program.inputs);
  return winner;
}

template <class Rows>
void scores(const CircuitProgram& program, Rows rows, Matrix<std::int32_t> out, std::size_t lanes, std::size_t threads,
            const Thresholds* thresholds) {
  nb::gil_scoped_release release;
  run_circuit(program, input_of(program, rows, thresholds), {out.data(), nullptr}, lanes, threads);
}

template <class Rows>
void predict(const CircuitProgram& program, Rows rows, Vector<std::int64_t> out, std::size_t lanes, std::size_t threads,
             const Thresholds* thresholds) {
  nb::gil_scoped_release release;
  run_circuit(program, input_of(program, rows, thresholds), {nullptr, out.data()}, lanes, threads);
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
        nb::arg("byte_slots"), nb::arg("byte_operations").noconvert(), nb::arg("byte_runs").noconvert(),
        nb::arg("bit_count"), nb::arg("bit_first_output"), nb::arg("bit_class_of").noconvert(),
        nb::arg("bit_words").noconvert(), nb::arg("bit_gates").noconvert());
  m.def("table_program", &make_table_program, nb::arg("inputs"), nb::arg("slots"), nb::arg("classes"),
        nb::arg("rows").noconvert(), nb::arg("entries").noconvert(), nb::arg("runs").noconvert(),
        nb::arg("outputs").noconvert(), nb::arg("byte_slots"), nb::arg("byte_rows").noconvert(),
        nb::arg("byte_entries").noconvert(), nb::arg("byte_runs").noconvert());
  bind_rows<Matrix<const std::uint64_t>>(program);
  bind_rows<Matrix<const std::uint8_t>>(program);
  bind_rows<Matrix<const bool>>(program);
  program.def("predict_one", &predict_one, nb::arg("row"));
}
