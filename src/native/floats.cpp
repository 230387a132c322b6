// The float path: 16 samples a row, every neuron four coefficients; level by level.
#include "gate_table.hpp"
#include "tiles.hpp"

namespace hardwire {

namespace {

// The samples of a tile as rows; zero past the end of the batch.
float* load_input(const Pass& pass, std::int64_t tile, Scratch& scratch) {
  const std::int64_t inputs = pass.stack.inputs, begin = tile * kTileSamples;
  const std::int64_t count = std::min<std::int64_t>(kTileSamples, pass.samples.batch - begin);
  float* in = behind_zeros<float>(scratch.input, inputs * kTileSamples);
  if (count < kTileSamples) std::memset(in, 0, inputs * kTileSamples * sizeof(float));
  for (std::int64_t s = 0; s < count; ++s) {
    if (pass.samples.floats) {
      const float* x = pass.samples.floats + (begin + s) * inputs;
      for (std::int64_t i = 0; i < inputs; ++i) in[i * kTileSamples + s] = x[i];
    } else {
      const std::uint64_t* x = pass.samples.words + (begin + s) * word_count(inputs);
      for (std::int64_t i = 0; i < inputs; ++i)
        in[i * kTileSamples + s] = static_cast<float>((x[i / kWordSamples] >> (i % kWordSamples)) & 1);
    }
  }
  return in;
}

// What the levels of a tile read and made.
struct Activations {
  std::vector<const float*> below;  // by level: the outputs of the level below,
  std::vector<const float*> in;     // and what its neurons read: the same, or mixtures of candidates
  const float* out;                 // of the last level
};

// keep: for the way back; otherwise two buffers take turns.
Activations forward(const Pass& pass, std::int64_t tile, bool keep, Scratch& scratch) {
  Activations all;
  const float* in = load_input(pass, tile, scratch);
  const std::size_t count = pass.stack.levels.size();
  if (scratch.values.size() < 2 * count + 2) scratch.values.resize(2 * count + 2);
  for (std::size_t l = 0; l < count; ++l) {
    const Level& level = pass.stack.levels[l];
    const LevelChoice& choice = pass.choice.levels[l];
    const std::size_t place = keep ? 2 * l : l % 2;
    all.below.push_back(in);
    if (!choice.weights.empty()) {
      float* mixed = scratch.values[keep ? place + 1 : 2 + place].get<float>(2 * level.neurons * kTileSamples);
      kernels().mix_wires(level.wire_view(), choice.weights.data(), in, mixed);
      in = mixed;
    }
    all.in.push_back(in);
    float* out = behind_zeros<float>(scratch.values[place], level.neurons * kTileSamples);
    kernels().forward_floats(view_of(level, choice, false), choice.coefficients.data(), in, out);
    in = out;
  }
  all.out = in;
  return all;
}

}  // namespace

void floats_forward(const Pass& pass, const Head& head, std::int64_t tile, Scratch& scratch, float* out) {
  const std::int64_t outputs = pass.stack.outputs, columns = head.columns(pass.stack), group = outputs / columns;
  const float* last = forward(pass, tile, false, scratch).out;
  float* sums = scratch.top.get<float>(columns * kTileSamples);
  std::memset(sums, 0, columns * kTileSamples * sizeof(float));
  for (std::int64_t j = 0; j < outputs; ++j)
    for (int s = 0; s < kTileSamples; ++s) sums[j / group * kTileSamples + s] += last[j * kTileSamples + s];
  const std::int64_t begin = tile * kTileSamples;
  const std::int64_t count = std::min<std::int64_t>(kTileSamples, pass.samples.batch - begin);
  for (std::int64_t s = 0; s < count; ++s)
    for (std::int64_t c = 0; c < columns; ++c)
      out[(begin + s) * columns + c] = sums[c * kTileSamples + s] / head.temperature;
}

void floats_backward(const Pass& pass, const Top& top, std::int64_t tile, Scratch& scratch, const Sums& to,
                     float* in_gradient) {
  float* sums = to.sums;
  const Activations all = forward(pass, tile, true, scratch);
  const GradientRows rows = top.fill(tile * kTileSamples, kTileSamples, scratch);
  const auto& levels = pass.stack.levels;
  LevelView consumers{};
  const float* consumer_edges = nullptr;
  for (std::size_t l = levels.size(); l-- > 0;) {
    const Level& level = levels[l];
    const LevelChoice& choice = pass.choice.levels[l];
    const bool last = l + 1 == levels.size(), below = l > 0 || in_gradient;
    const LevelView view = view_of(level, choice, below);
    float* edges = nullptr;
    if (below || level.chooses_wires()) edges = scratch.rows[l % 2].get<float>(2 * level.neurons * kTileSamples);
    kernels().backward_floats(view, choice.coefficients.data(), all.in[l], last ? nullptr : &consumers, consumer_edges,
                              rows, edges, level.chooses_gates() ? sums + kTerms * level.sum_start : nullptr);
    if (level.chooses_wires()) {
      const float* learned_from = edges;
      if (!choice.mixture.empty()) {
        float* through_mixture = scratch.pairs.get<float>(2 * level.neurons * kTileSamples);
        kernels().backward_floats(view, choice.mixture.data(), all.in[l], last ? nullptr : &consumers, consumer_edges,
                                  rows, through_mixture, nullptr);
        learned_from = through_mixture;
      }
      kernels().wire_sums_floats(level.wire_view(), all.below[l], learned_from, sums + level.wire_sum_start);
    }
    consumers = view;
    consumer_edges = edges;
  }
  if (!in_gradient) return;
  float* in_rows = scratch.rows[1].get<float>(pass.stack.inputs * kTileSamples);
  kernels().gather_edges(consumers, consumer_edges, in_rows);
  store_in_gradient(pass, in_rows, tile * kTileSamples, kTileSamples, in_gradient);
}

}  // namespace hardwire
