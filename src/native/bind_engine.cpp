#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "engine.hpp"

using hardwire::Choice;
using hardwire::Stack;
using FloatMatrix = Matrix<float>;
using ConstFloatMatrix = Matrix<const float>;

namespace {

std::vector<const float*> pointers(const std::vector<ConstFloatMatrix>& arrays) {
  std::vector<const float*> result;
  for (const auto& array : arrays) result.push_back(array.data());
  return result;
}

// Either packed words or floats; None for the other.
hardwire::Samples samples(const std::optional<Matrix<const std::uint64_t>>& words,
                          const std::optional<ConstFloatMatrix>& floats) {
  return {static_cast<std::int64_t>(words ? words->shape(0) : floats->shape(0)), words ? words->data() : nullptr,
          floats ? floats->data() : nullptr};
}

hardwire::SelectionRule make_rule(bool hard, bool noisy, float tau, std::uint64_t seed, std::uint32_t step,
                                  std::uint32_t draw, std::uint32_t place) {
  return {hard, noisy, tau,  static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32),
          draw, step,  place};
}

}  // namespace

void bind_engine(nb::module_& m) {
  m.def("instruction_set", [] { return std::string(hardwire::kernels().name); });

  nb::class_<Choice>(m, "Choice").def(nb::init<>());
  nb::class_<hardwire::SelectionRule>(m, "SelectionRule")
      .def(
          "__init__",
          [](hardwire::SelectionRule* self, bool hard, bool noisy, float tau, std::uint64_t seed, std::uint32_t step,
             std::uint32_t draw, std::uint32_t place) {
            new (self) hardwire::SelectionRule(make_rule(hard, noisy, tau, seed, step, draw, place));
          },
          nb::arg("hard"), nb::arg("noisy"), nb::arg("tau"), nb::arg("seed"), nb::arg("step"), nb::arg("draw"),
          nb::arg("place"))
      .def_rw("tau", &hardwire::SelectionRule::tau);

  nb::class_<Stack>(m, "Stack")
      .def("__init__",
           [](Stack* self, std::int64_t inputs, const std::vector<Matrix<const std::int32_t>>& wirings) {
             std::vector<Stack::Wiring> layers;
             for (const auto& w : wirings) layers.push_back({static_cast<std::int64_t>(w.shape(1)), w.data()});
             new (self) Stack(inputs, layers);
           })
      .def("select",
           [](const Stack& self, const std::vector<ConstFloatMatrix>& logits,
              const std::vector<hardwire::SelectionRule>& rules, bool gates, bool coefficients, int threads,
              Choice& choice) {
             std::vector<hardwire::SelectionResult> results;
             {
               nb::gil_scoped_release release;
               results = self.select(pointers(logits), rules, gates, coefficients, threads, choice);
             }
             std::vector<double> confidences;
             bool finite = true;
             for (const auto& result : results) {
               confidences.push_back(result.confidence);
               finite &= result.finite;
             }
             return nb::make_tuple(confidences, finite);
           })
      .def(
          "forward",
          [](const Stack& self, const Choice& choice, std::optional<Matrix<const std::uint64_t>> words,
             std::optional<ConstFloatMatrix> floats, std::int64_t classes, float temperature, int threads,
             FloatMatrix out) {
            nb::gil_scoped_release release;
            self.forward(choice, samples(words, floats), {classes, temperature}, threads, out.data());
          },
          nb::arg("choice"), nb::arg("words").none(), nb::arg("floats").none(), nb::arg("classes"),
          nb::arg("temperature"), nb::arg("threads"), nb::arg("out"))
      .def(
          "backward",
          [](const Stack& self, const Choice& choice, std::optional<Matrix<const std::uint64_t>> words,
             std::optional<ConstFloatMatrix> floats, std::int64_t classes, float temperature, int threads,
             ConstFloatMatrix out_gradient, const std::vector<ConstFloatMatrix>& logits,
             const std::vector<hardwire::SelectionRule>& rules, const std::vector<FloatMatrix>& logit_gradients,
             std::optional<FloatMatrix> in_gradient) {
            std::vector<float*> gradients;
            for (const auto& array : logit_gradients) gradients.push_back(array.data());
            nb::gil_scoped_release release;
            self.backward(choice, samples(words, floats), {classes, temperature}, out_gradient.data(), pointers(logits),
                          rules, threads, gradients, in_gradient ? in_gradient->data() : nullptr);
          },
          nb::arg("choice"), nb::arg("words").none(), nb::arg("floats").none(), nb::arg("classes"),
          nb::arg("temperature"), nb::arg("threads"), nb::arg("out_gradient"), nb::arg("logits"), nb::arg("rules"),
          nb::arg("logit_gradients"), nb::arg("in_gradient").none());
}
