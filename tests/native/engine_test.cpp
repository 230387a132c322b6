// Drives the training engine without Python, so that sanitizers see every read and write: random stacks of odd shapes
// with all that a level may have (candidates, shared rows, fixed gates, wires that read nothing), both paths, all
// methods, against naive loops; trees as one stage against their levels; and several callers at once. Run by
// sanitize.sh.
#include "engine.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <thread>
#include <vector>

#include "gate_table.hpp"
#include "naive.hpp"
#include "packing.hpp"

using namespace hardwire;

namespace {

constexpr double kTau = 0.8;
constexpr float kTemperature = 2.0f;
constexpr int kOr = 7;

struct TestLevel {
  std::int64_t inputs, neurons, rows, candidates = 0;
  std::vector<std::int32_t> wires, row_of;
  int gate = -1;
  bool maximum = false;
  std::vector<float> gate_logits, wire_logits;

  TestLevel(std::int64_t inputs, std::int64_t neurons, std::int64_t rows)
      : inputs(inputs), neurons(neurons), rows(rows) {}

  LevelData data() const {
    return {inputs, neurons, rows, candidates, wires.data(), row_of.empty() ? nullptr : row_of.data(), gate, maximum};
  }
  std::int64_t row(std::int64_t neuron) const { return row_of.empty() ? neuron : row_of[neuron]; }
  std::int64_t width() const { return std::max<std::int64_t>(candidates, 1); }

  void draw_logits(Random& random) {
    std::normal_distribution<float> normal;
    if (gate < 0) gate_logits.resize(rows * kGates);
    wire_logits.resize(2 * rows * candidates);
    for (auto* logits : {&gate_logits, &wire_logits})
      for (float& z : *logits) z = normal(random);
  }
};

TestLevel random_level(Random& random, std::int64_t inputs, std::int64_t neurons) {
  TestLevel level(inputs, neurons, neurons);
  if (random() % 3 == 0) {
    level.rows = 1 + random() % neurons;
    for (std::int64_t j = 0; j < neurons; ++j) level.row_of.push_back(j < level.rows ? j : random() % level.rows);
  }
  if (random() % 3 == 0 && inputs > 2) level.candidates = 2 + random() % std::min<std::int64_t>(inputs - 1, 20);
  if (random() % 5 == 0) {
    level.gate = random() % kGates;
    level.candidates = 0;
    level.row_of.clear();
    level.rows = neurons;
  }
  level.wires.resize(2 * neurons * level.width());
  for (auto& wire : level.wires) wire = level.candidates == 0 && random() % 10 == 0 ? -1 : random() % inputs;
  level.draw_logits(random);
  return level;
}

// A convolution of trees of this depth over `windows` windows, and OR-pooling of two windows above it.
std::vector<TestLevel> random_trees(Random& random, std::int64_t inputs, int depth) {
  const std::int64_t kernels = 1 + random() % 3, windows = 2 * (1 + random() % 9);
  std::vector<TestLevel> levels;
  for (int floor = 0; floor < depth; ++floor) {
    const std::int64_t rows = kernels << (depth - 1 - floor);
    TestLevel level(floor ? levels.back().neurons : inputs, rows * windows, rows);
    level.wires.resize(2 * level.neurons);
    for (int side = 0; side < 2; ++side)
      for (std::int64_t j = 0; j < level.neurons; ++j) {
        const std::int64_t row = j / windows, w = j % windows;
        if (side == 0) level.row_of.push_back(row);
        level.wires[side * level.neurons + j] = floor                ? (2 * row + side) * windows + w
                                                : random() % 12 == 0 ? -1
                                                                     : random() % inputs;
      }
    level.draw_logits(random);
    levels.push_back(level);
  }
  TestLevel pool(levels.back().neurons, kernels * windows / 2, kernels * windows / 2);
  pool.gate = kOr;
  pool.maximum = true;
  for (int side = 0; side < 2; ++side)
    for (std::int64_t j = 0; j < pool.neurons; ++j) pool.wires.push_back(2 * j + side);
  levels.push_back(pool);
  return levels;
}

struct Network {
  std::vector<TestLevel> levels;
  std::int64_t classes;

  explicit Network(Random& random, bool trees) {
    std::int64_t below = 1 + random() % 150;
    if (trees) {
      levels = random_trees(random, below, 1 + random() % 3);
      below = levels.back().neurons;
    }
    for (int depth = random() % 4; depth > 0; --depth) {
      levels.push_back(random_level(random, below, 1 + random() % 90));
      below = levels.back().neurons;
    }
    classes = 2 + random() % 5;
    levels.push_back(random_level(random, below, classes * (1 + random() % 20)));
  }

  std::int64_t inputs() const { return levels[0].inputs; }
  std::vector<LevelData> data() const {
    std::vector<LevelData> all;
    for (const TestLevel& level : levels) all.push_back(level.data());
    return all;
  }
  Logits logits() const {
    Logits all;
    const auto given = [](const std::vector<float>& values) { return values.empty() ? nullptr : values.data(); };
    for (const TestLevel& level : levels) all.push_back({given(level.gate_logits), given(level.wire_logits)});
    return all;
  }
};

// One-hot at the first largest, or a softmax.
std::vector<double> weights(const float* z, std::int64_t count, bool hard) {
  const std::int64_t best = std::max_element(z, z + count) - z;
  std::vector<double> w(count, 0.0);
  if (hard) return w[best] = 1, w;
  double total = 0;
  for (std::int64_t k = 0; k < count; ++k) total += w[k] = std::exp((z[k] - z[best]) / kTau);
  for (double& x : w) x /= total;
  return w;
}

double input_of(const TestLevel& level, const std::vector<double>& h, std::int64_t neuron, int side, bool hard) {
  const std::int32_t* wires = level.wires.data() + (side * level.neurons + neuron) * level.width();
  const auto value = [&](std::int32_t wire) { return wire < 0 ? 0.0 : h[wire]; };
  if (level.candidates == 0) return value(wires[0]);
  const float* z = level.wire_logits.data() + (side * level.rows + level.row(neuron)) * level.candidates;
  const auto w = weights(z, level.candidates, hard);
  double sum = 0;
  for (std::int64_t k = 0; k < level.candidates; ++k) sum += w[k] * value(wires[k]);
  return sum;
}

// Class sums of one sample by plain loops.
std::vector<double> naive_scores(const Network& network, std::vector<double> h, bool hard) {
  for (const TestLevel& level : network.levels) {
    std::vector<double> out(level.neurons);
    for (std::int64_t j = 0; j < level.neurons; ++j) {
      const double a = input_of(level, h, j, 0, hard), b = input_of(level, h, j, 1, hard);
      if (level.gate >= 0) {
        out[j] = gate_soft(level.gate, a, b);
        continue;
      }
      const auto w = weights(level.gate_logits.data() + kGates * level.row(j), kGates, hard);
      for (int g = 0; g < kGates; ++g) out[j] += w[g] * gate_soft(g, a, b);
    }
    h = out;
  }
  std::vector<double> sums(network.classes);
  for (std::size_t j = 0; j < h.size(); ++j) sums[j * network.classes / h.size()] += h[j];
  return sums;
}

struct Batch {
  std::int64_t rows, inputs;
  std::vector<float> x;
  std::vector<std::uint64_t> words;
  bool packed;

  Batch(Random& random, std::int64_t inputs, bool binary, bool hard)
      : rows(1 + random() % 150), inputs(inputs), x(rows * inputs), words(rows * word_count(inputs)) {
    for (float& value : x) value = binary ? float(random() % 2) : float(random() % 1000) / 999;
    pack_floats(x.data(), rows, inputs, 0.5f, words.data());
    packed = binary && hard;
  }
  Samples samples() const { return {rows, packed ? words.data() : nullptr, packed ? nullptr : x.data()}; }
};

// Scores and the gradients of everything that learns, in a row.
struct Result {
  std::vector<float> scores, gradients;
};

// surrogate: bit 0 wires learn through the mixture of gates, bit 1 all inputs do, bit 2 its weights are without noise.
Result run_engine(const Network& network, const Batch& batch, bool hard, bool noisy, int surrogate, bool fuse,
                  int threads, bool per_sample, bool keeps = false) {
  const Engine engine(network.data(), fuse);
  std::vector<LevelRule> rules;
  for (std::uint32_t l = 0; l < network.levels.size(); ++l) {
    SelectionRule rule{};
    rule.hard = hard, rule.noisy = noisy, rule.tau = kTau, rule.seed_low = 1, rule.step = 7, rule.noise_stream = l;
    rule.per_sample = per_sample, rule.clean_surrogate = hard && (surrogate & 4);
    rules.push_back({rule, rule, hard && (surrogate & 1), hard && (surrogate & 2)});
  }
  Choice choice;
  for (const Confidences& level : select(engine.stack(), network.logits(), rules, batch.packed, 0, threads, choice))
    require(level.finite, "finite logits");
  const Head head = {network.classes, kTemperature};
  Result result;
  result.scores.assign(batch.rows * network.classes, NAN);
  std::vector<std::uint16_t> kept(keeps ? engine.made_size(batch.rows) : 0);
  std::uint16_t* const made = keeps ? kept.data() : nullptr;
  engine.forward(choice, batch.samples(), head, threads, result.scores.data(), made);
  std::vector<std::vector<float>> gradients;
  for (const TestLevel& level : network.levels)
    for (const auto* logits : {&level.gate_logits, &level.wire_logits}) gradients.emplace_back(logits->size(), NAN);
  LogitGradients pointers;
  const auto given = [](std::vector<float>& values) { return values.empty() ? nullptr : values.data(); };
  for (std::size_t l = 0; l < network.levels.size(); ++l)
    pointers.push_back({given(gradients[2 * l]), given(gradients[2 * l + 1])});
  gradients.emplace_back(batch.rows * batch.inputs, NAN);
  engine.backward(choice, batch.samples(), head, result.scores.data(), network.logits(), rules, threads, pointers,
                  gradients.back().data(), made);
  for (const auto& some : gradients) result.gradients.insert(result.gradients.end(), some.begin(), some.end());
  for (float value : result.gradients) require(std::isfinite(value), "a gradient for everything");
  return result;
}

bool near(const std::vector<float>& one, const std::vector<float>& other) {
  const auto close = [](float a, float b) { return std::abs(a - b) <= 1e-3f * (1 + std::abs(a)); };
  return std::equal(one.begin(), one.end(), other.begin(), other.end(), close);
}

void check(Random& random, bool binary, bool hard, bool noisy, bool trees) {
  const Network network(random, trees);
  Batch batch(random, network.inputs(), binary, hard);
  const int threads = 1 + random() % 4;
  const int surrogate = random() % 8;
  const auto chooses_wires = [](const TestLevel& level) { return level.candidates > 0; };
  const bool per_sample =
      noisy && random() % 2 && std::none_of(network.levels.begin(), network.levels.end(), chooses_wires);
  if (per_sample) batch.packed = false;
  const Result result = run_engine(network, batch, hard, noisy, surrogate, true, threads, per_sample);
  if (trees)
    require(near(result.gradients, run_engine(network, batch, hard, noisy, surrogate, false, 1, per_sample).gradients),
            "trees as one stage learn as their levels do");
  if (per_sample && binary && hard)
    require(
        result.gradients == run_engine(network, batch, hard, noisy, surrogate, true, threads, per_sample, true).gradients,
        "bits that are kept are those that the way back would make");
  if (noisy) return;
  for (std::int64_t s = 0; s < batch.rows; ++s) {
    const auto row = batch.x.begin() + s * batch.inputs;
    const auto expected = naive_scores(network, std::vector<double>(row, row + batch.inputs), hard);
    for (std::int64_t c = 0; c < network.classes; ++c)
      require(std::abs(result.scores[s * network.classes + c] * kTemperature - expected[c]) < 1e-3,
              "scores of the plain loops");
  }
}

void run(unsigned seed, int rounds) {
  Random random(seed);
  for (int round = 0; round < rounds; ++round)
    for (int kind = 0; kind < 16; ++kind) check(random, kind & 1, kind & 2, kind & 4, kind & 8);
}

}  // namespace

void test_engine() {
  run(1, 12);
  std::vector<std::thread> threads;  // several callers share the pool
  for (unsigned t = 0; t < 3; ++t) threads.emplace_back(run, 2 + t, 4);
  for (auto& thread : threads) thread.join();
}
