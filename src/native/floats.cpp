// The float path: 16 samples a row, every neuron four coefficients; level by level.
#include "gate_table.hpp"
#include "tiles.hpp"

namespace hardwire {

namespace {

// words[count][word_count(inputs)] -> rows[inputs][kTileSamples], word by word, so that rows are written in order.
void unpack_rows(const std::uint64_t* words, std::int64_t inputs, std::int64_t count, float* rows) {
  const std::int64_t columns = word_count(inputs);
  for (std::int64_t column = 0; column < columns; ++column) {
    std::uint64_t word[kTileSamples] = {};
    for (std::int64_t s = 0; s < count; ++s) word[s] = words[s * columns + column];
    const std::int64_t first = column * kWordSamples, end = std::min<std::int64_t>(first + kWordSamples, inputs);
    for (std::int64_t i = first; i < end; ++i)
      for (int s = 0; s < kTileSamples; ++s)
        rows[i * kTileSamples + s] = static_cast<float>(static_cast<std::int32_t>(word[s] >> (i - first) & 1));
  }
}

// The samples of a tile as rows; zero past the end of the batch.
float* load_input(const Pass& pass, std::int64_t tile, Scratch& scratch) {
  const std::int64_t inputs = pass.stack.inputs, begin = tile * kTileSamples;
  const std::int64_t count = std::min<std::int64_t>(kTileSamples, pass.samples.batch - begin);
  float* in = behind_zeros<float>(scratch.input, inputs * kTileSamples);
  if (count < kTileSamples) std::memset(in, 0, inputs * kTileSamples * sizeof(float));
  if (pass.samples.floats)
    for (std::int64_t s = 0; s < count; ++s) {
      const float* x = pass.samples.floats + (begin + s) * inputs;
      for (std::int64_t i = 0; i < inputs; ++i) in[i * kTileSamples + s] = x[i];
    }
  else
    unpack_rows(pass.samples.words + begin * word_count(inputs), inputs, count, in);
  return in;
}

// What the levels of a tile read and made.
struct Activations {
  std::vector<const float*> below;  // by level: the outputs of the level below,
  std::vector<const float*> in;     // and what its neurons read: the same, or mixtures of candidates
  const float* out;                 // of the last level
};

// Floats of the outputs of a level behind their line of zeros, and of the mixtures that its neurons read.
std::int64_t out_size(const Level& level) { return (level.neurons + 1) * kTileSamples; }
std::int64_t mixed_size(const LevelChoice& choice, const Level& level) {
  return choice.weights.empty() ? 0 : 2 * level.neurons * kTileSamples;
}

// The memory of all levels in one piece, so that it lies on large pages. keep: for the way back; otherwise two halves
// take turns.
float* level_memory(const Pass& pass, bool keep, Scratch& scratch, std::int64_t& half) {
  std::int64_t total = 0;
  half = 0;
  for (std::size_t l = 0; l < pass.stack.levels.size(); ++l) {
    const Level& level = pass.stack.levels[l];
    const std::int64_t size = out_size(level) + mixed_size(pass.choice.levels[l], level);
    total += size;
    half = std::max(half, size);
  }
  if (scratch.values.empty()) scratch.values.resize(1);
  return scratch.values[0].get<float>(keep ? total : 2 * half);
}

Activations forward(const Pass& pass, std::int64_t tile, bool keep, Scratch& scratch) {
  Activations all;
  const float* in = load_input(pass, tile, scratch);
  std::int64_t half;
  float* const memory = level_memory(pass, keep, scratch, half);
  float* next = memory;
  for (std::size_t l = 0; l < pass.stack.levels.size(); ++l) {
    const Level& level = pass.stack.levels[l];
    const LevelChoice& choice = pass.choice.levels[l];
    if (!keep) next = memory + l % 2 * half;
    float* out = next + kTileSamples;
    std::memset(next, 0, kTileSamples * sizeof(float));
    next += out_size(level);
    all.below.push_back(in);
    if (!choice.weights.empty()) {
      kernels().mix_wires(level.wire_view(), choice.weights.data(), in, next);
      in = next;
      next += mixed_size(choice, level);
    }
    all.in.push_back(in);
    const LevelView view = view_of(level, choice, false);
    if (choice.sampled)
      kernels().forward_sampled(view, choice.sampled, choice.rule, tile * kTileSamples, in, out);
    else
      kernels().forward_floats(view, choice.coefficients.data(), in, out);
    in = out;
  }
  all.out = in;
  return all;
}

}  // namespace

void floats_forward(const Pass& pass, const Head& head, std::int64_t tile, Scratch& scratch, float* out) {
  const std::int64_t outputs = pass.stack.outputs, columns = head.columns(pass.stack), group = outputs / columns;
  const float* last = forward(pass, tile, false, scratch).out;
  const std::int64_t begin = tile * kTileSamples;
  const std::int64_t count = std::min<std::int64_t>(kTileSamples, pass.samples.batch - begin);
  for (std::int64_t c = 0; c < columns; ++c) {
    float sums[kTileSamples] = {};
    for (std::int64_t j = c * group; j < (c + 1) * group; ++j)
      for (int s = 0; s < kTileSamples; ++s) sums[s] += last[j * kTileSamples + s];
    for (std::int64_t s = 0; s < count; ++s) out[(begin + s) * columns + c] = sums[s] / head.temperature;
  }
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
    if (choice.sampled) {
      GradientRows own = rows;
      if (!last) {
        float* gathered = scratch.pairs.get<float>(level.neurons * kTileSamples);
        kernels().gather_edges(consumers, consumer_edges, gathered);
        own = {gathered, nullptr};
      }
      kernels().backward_sampled(view, choice.sampled, (*pass.rules)[l].gates, tile * kTileSamples, all.in[l], own,
                                 edges, sums + pass.stack.sums + choice.sampled_sums);
    } else {
      kernels().backward_floats(view, choice.coefficients.data(), all.in[l], last ? nullptr : &consumers,
                                consumer_edges, rows, edges,
                                level.chooses_gates() ? sums + kTerms * level.sum_start : nullptr);
    }
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
