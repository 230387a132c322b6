#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "engine.hpp"
#include "error.hpp"
#include "gate_table.hpp"

using namespace hardwire;
using FloatMatrix = Matrix<float>;
using ConstFloatMatrix = Matrix<const float>;
using Words = std::optional<Matrix<const std::uint64_t>>;
using Floats = std::optional<ConstFloatMatrix>;
using Made = std::optional<Vector<std::uint16_t>>;

namespace {

// A level as Python describes it, with the arrays that it points to.
struct GivenLevel {
  std::int64_t inputs, neurons, rows, candidates;
  Vector<const std::int32_t> wires;
  std::optional<Vector<const std::int32_t>> row_of;
  int gate;
  bool maximum;
  int arity;
  bool entries;
  std::optional<std::uint64_t> table;

  LevelData data() const {
    const Function function = entries ? Function::kEntries : table ? Function::kFixedTable : Function::kGates;
    return {inputs, neurons, rows,    candidates, wires.data(), row_of ? row_of->data() : nullptr,
            gate,   maximum, arity,   function,   table.value_or(0)};
  }
};

// The levels in the order of a pass, where it is another, each with what it reads: (step, begin, end).
using GivenSteps =
    std::vector<std::pair<std::int64_t, std::vector<std::tuple<std::int64_t, std::int64_t, std::int64_t>>>>;

// The logits of a level: of gates [rows][16] or entries [rows][2^arity], and of wires [arity * rows][candidates]; None
// where there are none.
using GivenLogits = std::vector<std::pair<Floats, Floats>>;
using GivenGradients = std::vector<std::pair<std::optional<FloatMatrix>, std::optional<FloatMatrix>>>;

template <class Float, class Given>
std::vector<LevelLogits<Float>> pointers(const Given& given) {
  std::vector<LevelLogits<Float>> result;
  for (const auto& [functions, wires] : given)
    result.push_back({functions ? functions->data() : nullptr, wires ? wires->data() : nullptr});
  return result;
}

// Either packed words or floats; None for the other.
Samples samples(const Words& words, const Floats& floats) {
  return {static_cast<std::int64_t>(words ? words->shape(0) : floats->shape(0)), words ? words->data() : nullptr,
          floats ? floats->data() : nullptr};
}

SelectionRule make_rule(bool hard, bool noisy, float tau, std::uint64_t seed, std::uint32_t step, std::uint32_t draw,
                        std::uint32_t noise_stream, bool confidence, bool per_sample, bool clean_surrogate) {
  const auto low = static_cast<std::uint32_t>(seed), high = static_cast<std::uint32_t>(seed >> 32);
  return {hard, noisy, tau, low, high, draw, step, noise_stream, confidence, per_sample, clean_surrogate};
}

void check_shapes(const Stack& stack, const GivenLogits& logits) {
  const auto fits = [](const Floats& given, bool wanted, std::int64_t rows, std::int64_t columns) {
    if (!given || !wanted) return bool(given) == wanted;
    return std::int64_t(given->shape(0)) == rows && std::int64_t(given->shape(1)) == columns;
  };
  for (std::size_t l = 0; l < stack.levels.size(); ++l) {
    const Level& level = stack.levels[l];
    const bool chooses = level.chooses_gates() || level.chooses_entries();
    const std::int64_t columns = level.chooses_entries() ? level.entries() : kGates;
    if (l >= logits.size() || !fits(logits[l].first, chooses, level.rows, columns) ||
        !fits(logits[l].second, level.chooses_wires(), level.wire_choices(), level.candidates))
      throw Error("the logits of level " + std::to_string(l) + " do not have the shape that it was made for");
  }
}

nb::tuple select_choices(const Engine& engine, const GivenLogits& logits, const std::vector<LevelRule>& rules,
                         bool packed, std::int64_t readers_from, int threads, Choice& choice) {
  check_shapes(engine.stack(), logits);
  std::vector<Confidences> confidences;
  {
    nb::gil_scoped_release release;
    confidences = select(engine.stack(), pointers<const float>(logits), rules, packed, readers_from, threads, choice);
  }
  std::vector<double> functions, wires;
  bool finite = true;
  for (const Confidences& level : confidences) {
    functions.push_back(level.functions);
    wires.push_back(level.wires);
    finite &= level.finite;
  }
  return nb::make_tuple(functions, wires, finite);
}

void forward(const Engine& engine, const Choice& choice, const Words& words, const Floats& floats, std::int64_t classes,
             float temperature, int threads, FloatMatrix out, Made made) {
  nb::gil_scoped_release release;
  engine.forward(choice, samples(words, floats), {classes, temperature}, threads, out.data(),
                 made ? made->data() : nullptr);
}

void backward(const Engine& engine, const Choice& choice, const Words& words, const Floats& floats,
              std::int64_t classes, float temperature, int threads, ConstFloatMatrix out_gradient,
              const GivenLogits& logits, const std::vector<LevelRule>& rules, const GivenGradients& gradients,
              std::optional<FloatMatrix> in_gradient, Made made) {
  nb::gil_scoped_release release;
  engine.backward(choice, samples(words, floats), {classes, temperature}, out_gradient.data(),
                  pointers<const float>(logits), rules, threads, pointers<float>(gradients),
                  in_gradient ? in_gradient->data() : nullptr, made ? made->data() : nullptr);
}

}  // namespace

void bind_engine(nb::module_& m) {
  m.def("instruction_set", [] { return std::string(kernels().name); });

  nb::class_<Choice>(m, "Choice").def(nb::init<>());
  nb::class_<SelectionRule>(m, "SelectionRule");
  m.def("selection_rule", &make_rule, nb::arg("hard"), nb::arg("noisy"), nb::arg("tau"), nb::arg("seed"),
        nb::arg("step"), nb::arg("draw"), nb::arg("noise_stream"), nb::arg("confidence"), nb::arg("per_sample"),
        nb::arg("clean_surrogate") = false);
  nb::class_<LevelRule>(m, "LevelRule");
  m.def(
      "level_rule",
      [](SelectionRule gates, SelectionRule wires, bool wires_by_mixture, bool inputs_by_mixture) {
        return LevelRule{gates, wires, wires_by_mixture, inputs_by_mixture};
      },
      nb::arg("gates"), nb::arg("wires"), nb::arg("wires_by_mixture"), nb::arg("inputs_by_mixture"));
  nb::class_<GivenLevel>(m, "Level");
  m.def(
      "level",
      [](std::int64_t inputs, std::int64_t neurons, std::int64_t rows, std::int64_t candidates,
         Vector<const std::int32_t> wires, std::optional<Vector<const std::int32_t>> row_of, int gate,
         bool maximum, int arity, bool entries, std::optional<std::uint64_t> table) {
        return GivenLevel{inputs, neurons, rows, candidates, wires, row_of, gate, maximum, arity, entries, table};
      },
      nb::arg("inputs"), nb::arg("neurons"), nb::arg("rows"), nb::arg("candidates"), nb::arg("wires").noconvert(),
      nb::arg("row_of").none(), nb::arg("gate"), nb::arg("maximum"), nb::arg("arity") = 2, nb::arg("entries") = false,
      nb::arg("table").none() = nb::none());

  nb::class_<Engine>(m, "Engine")
      .def(
          "__init__",
          [](Engine* self, const std::vector<GivenLevel>& levels, bool fuse, const GivenSteps& given) {
            std::vector<Step> steps;
            for (const auto& [level, sources] : given) {
              steps.push_back({level, {}});
              for (const auto& [step, begin, end] : sources) steps.back().sources.push_back({step, begin, end});
            }
            std::vector<LevelData> data;
            for (const GivenLevel& level : levels) data.push_back(level.data());
            nb::gil_scoped_release release;
            new (self) Engine(data, fuse, std::move(steps));
          },
          nb::arg("levels"), nb::arg("fuse"), nb::arg("steps") = GivenSteps())
      .def_prop_ro("stages", [](const Engine& self) { return self.stack().stages.size(); })
      .def("select", &select_choices, nb::arg("logits"), nb::arg("rules"), nb::arg("packed"), nb::arg("readers_from"),
           nb::arg("threads"), nb::arg("choice"))
      .def("forward", &forward, nb::arg("choice"), nb::arg("words").none(), nb::arg("floats").none(),
           nb::arg("classes"), nb::arg("temperature"), nb::arg("threads"), nb::arg("out"), nb::arg("made").none())
      .def("made_size", &Engine::made_size, nb::arg("batch"))
      .def("backward", &backward, nb::arg("choice"), nb::arg("words").none(), nb::arg("floats").none(),
           nb::arg("classes"), nb::arg("temperature"), nb::arg("threads"), nb::arg("out_gradient"), nb::arg("logits"),
           nb::arg("rules"), nb::arg("gradients"), nb::arg("in_gradient").none(), nb::arg("made").none());
}
