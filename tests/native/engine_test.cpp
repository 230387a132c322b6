// Drives the training engine without Python, so that sanitizers see every read and write: random stacks of odd shapes,
// both paths, all methods, against naive loops; and several threads on several stacks at once. Run by sanitize.sh.
#include "engine.hpp"

#include <cmath>
#include <random>
#include <thread>
#include <vector>

#include "naive.hpp"
#include "packing.hpp"

using namespace hardwire;

namespace {

struct Network {
  std::int64_t inputs, classes;
  std::vector<std::int64_t> widths;
  std::vector<std::vector<std::int32_t>> wirings;
  std::vector<std::vector<float>> logits;

  Network(Random& random) {
    inputs = 1 + random() % 150;
    classes = 2 + random() % 5;
    for (int depth = random() % 4; depth > 0; --depth) widths.push_back(1 + random() % 90);
    widths.push_back(classes * (1 + random() % 20));
    std::int64_t below = inputs;
    std::normal_distribution<float> normal;
    for (std::int64_t width : widths) {
      wirings.emplace_back(2 * width);
      for (auto& input : wirings.back()) input = random() % below;
      logits.emplace_back(16 * width);
      for (auto& z : logits.back()) z = normal(random);
      below = width;
    }
  }

  Stack stack() const {
    std::vector<Stack::Wiring> layers;
    for (std::size_t l = 0; l < widths.size(); ++l) layers.push_back({widths[l], wirings[l].data()});
    return Stack(inputs, layers);
  }

  std::vector<const float*> logit_pointers() const {
    std::vector<const float*> pointers;
    for (const auto& z : logits) pointers.push_back(z.data());
    return pointers;
  }

  // The weights of a neuron's gates: one-hot, or a softmax at tau.
  std::vector<double> weights(std::size_t layer, std::int64_t j, bool hard, double tau) const {
    const float* z = logits[layer].data() + 16 * j;
    int best = 0;
    for (int g = 1; g < 16; ++g)
      if (z[g] > z[best]) best = g;
    std::vector<double> w(16, 0.0);
    if (hard) {
      w[best] = 1;
      return w;
    }
    double total = 0;
    for (int g = 0; g < 16; ++g) total += w[g] = std::exp((z[g] - z[best]) / tau);
    for (double& x : w) x /= total;
    return w;
  }

  // Class sums of one sample by plain loops.
  std::vector<double> scores(std::vector<double> h, bool hard, double tau) const {
    for (std::size_t l = 0; l < widths.size(); ++l) {
      std::vector<double> out(widths[l]);
      for (std::int64_t j = 0; j < widths[l]; ++j) {
        const auto w = weights(l, j, hard, tau);
        const double a = h[wirings[l][j]], b = h[wirings[l][widths[l] + j]];
        for (int g = 0; g < 16; ++g) out[j] += w[g] * gate_soft(g, a, b);
      }
      h = out;
    }
    std::vector<double> sums(classes);
    for (std::size_t j = 0; j < h.size(); ++j) sums[j * classes / h.size()] += h[j];
    return sums;
  }
};

void check(Random& random, bool binary, bool hard, bool noisy) {
  const Network network(random);
  const Stack stack = network.stack();
  const std::int64_t batch = 1 + random() % 150, words = word_count(network.inputs);
  const int threads = 1 + random() % 4;
  std::vector<float> x(batch * network.inputs);
  for (float& value : x) value = binary ? float(random() % 2) : float(random() % 1000) / 999;
  std::vector<std::uint64_t> packed(batch * words);
  pack_floats(x.data(), batch, network.inputs, 0.5f, packed.data());
  const bool bits = binary && hard;
  const Samples samples = {batch, bits ? packed.data() : nullptr, bits ? nullptr : x.data()};
  const Head head = {network.classes, 2.0f};
  std::vector<SelectionRule> rules;
  for (std::int64_t l = 0; l < stack.layers(); ++l)
    rules.push_back({hard, noisy, 0.8f, 1, 2, 0, 7, static_cast<std::uint32_t>(l)});
  Choice choice;
  for (const SelectionResult& result : stack.select(network.logit_pointers(), rules, bits, !bits, threads, choice))
    require(result.finite, "finite logits");
  std::vector<float> scores(batch * network.classes);
  stack.forward(choice, samples, head, threads, scores.data());
  if (!noisy)
    for (std::int64_t s = 0; s < batch; ++s) {
      const auto row = x.begin() + s * network.inputs;
      const auto expected = network.scores(std::vector<double>(row, row + network.inputs), hard, 0.8);
      for (std::int64_t c = 0; c < network.classes; ++c)
        require(std::abs(scores[s * network.classes + c] * 2 - expected[c]) < 1e-3, "scores of the plain loops");
    }
  std::vector<std::vector<float>> gradients;
  std::vector<float*> pointers;
  for (const auto& z : network.logits) gradients.emplace_back(z.size(), NAN);
  for (auto& gradient : gradients) pointers.push_back(gradient.data());
  std::vector<float> in_gradient(batch * network.inputs, NAN);
  stack.backward(choice, samples, head, scores.data(), network.logit_pointers(), rules, threads, pointers,
                 in_gradient.data());
  for (const auto& gradient : gradients)
    for (float value : gradient) require(std::isfinite(value), "a gradient for every logit");
  for (float value : in_gradient) require(std::isfinite(value), "a gradient for every input");
}

void run(unsigned seed, int rounds) {
  Random random(seed);
  for (int round = 0; round < rounds; ++round)
    for (int kind = 0; kind < 8; ++kind) check(random, kind & 1, kind & 2, kind & 4);
}

}  // namespace

void test_engine() {
  run(1, 12);
  std::vector<std::thread> threads;  // several callers share the pool
  for (unsigned t = 0; t < 3; ++t) threads.emplace_back(run, 2 + t, 4);
  for (auto& thread : threads) thread.join();
}
