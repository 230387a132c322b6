// The float path: 16 samples a row, every neuron four coefficients; level by level.
#include "gate_table.hpp"
#include "tiles.hpp"

namespace hardwire {

namespace {

// words[count][word_count(inputs)] -> bits[inputs], rounded up to whole words, sample n in bit n.
void transpose_tile(const std::uint64_t* words, std::int64_t inputs, std::int64_t count, std::uint16_t* bits) {
  const std::int64_t columns = word_count(inputs);
  for (std::int64_t column = 0; column < columns; ++column, bits += kWordSamples) {
    std::uint64_t block[kTileSamples] = {};
    for (std::int64_t s = 0; s < count; ++s) block[s] = words[s * columns + column];
    transpose_block<kTileSamples>(block);
    for (int i = 0; i < kWordSamples; ++i)
      bits[i] = static_cast<std::uint16_t>(block[i % kTileSamples] >> (i / kTileSamples * kTileSamples));
  }
}

// The packed samples of a tile -> rows[inputs][kTileSamples], of which only those are written that somebody reads:
// images of many thresholds have more inputs than the first level has wires.
void unpack_input(const Pass& pass, std::int64_t begin, std::int64_t count, Scratch& scratch, float* rows) {
  const std::int64_t columns = word_count(pass.stack.inputs);
  std::uint16_t* bits = scratch.bits.get<std::uint16_t>(columns * kWordSamples);
  transpose_tile(pass.samples.words + begin * columns, pass.stack.inputs, count, bits);
  kernels().unpack_rows(bits, pass.stack.inputs_read.data(), pass.stack.inputs_read.size(), rows);
}

// The samples of a tile as rows; zero past the end of the batch.
float* load_input(const Pass& pass, std::int64_t tile, Scratch& scratch) {
  const std::int64_t inputs = pass.stack.inputs, begin = tile * kTileSamples;
  const std::int64_t count = std::min<std::int64_t>(kTileSamples, pass.samples.batch - begin);
  float* in = behind_zeros<float>(scratch.input, inputs * kTileSamples);
  if (!pass.samples.floats) {
    unpack_input(pass, begin, count, scratch, in);
    return in;
  }
  if (count < kTileSamples) std::memset(in, 0, inputs * kTileSamples * sizeof(float));
  for (std::int64_t s = 0; s < count; ++s) {
    const float* x = pass.samples.floats + (begin + s) * inputs;
    for (std::int64_t i = 0; i < inputs; ++i) in[i * kTileSamples + s] = x[i];
  }
  return in;
}

// What the levels of a tile read and made, by level.
struct Activations {
  std::vector<const float*> below;  // the outputs of the level below,
  std::vector<const float*> in;     // and what its neurons read: the same, or mixtures of candidates
  std::vector<float*> out;
};

// Rows of a level's outputs behind their line of zeros. keep: on the way back, when they are no longer needed, the
// gradients of the level's inputs take their place, so that less memory is in use than a cache holds.
std::int64_t out_size(const Level& level, bool keep) {
  return (1 + (keep ? std::max(level.neurons, level.inputs) : level.neurons)) * kTileSamples;
}
std::int64_t gathered_size(const Level& level) { return (1 + level.inputs) * kTileSamples; }
std::int64_t mixed_size(const LevelChoice& choice, const Level& level) {
  return choice.weights.empty() ? 0 : 2 * level.neurons * kTileSamples;
}

// The memory of all steps in one piece, so that it lies on large pages. keep: all of it, for the way back or for steps
// that read earlier ones; otherwise two halves take turns.
float* level_memory(const Pass& pass, bool keep, Scratch& scratch, std::int64_t& half) {
  std::int64_t total = 0;
  half = 0;
  for (const Step& step : pass.stack.steps) {
    const Level& level = pass.stack.levels[step.number];
    const std::int64_t size = out_size(level, keep) + mixed_size(pass.choice.levels[step.number], level) +
                              (step.sources.empty() ? 0 : gathered_size(level));
    total += size;
    half = std::max(half, size);
  }
  if (scratch.values.empty()) scratch.values.resize(1);
  return scratch.values[0].get<float>(keep ? total : 2 * half);
}

void forward_level(const Level& level, const LevelChoice& choice, std::int64_t tile, const float* in, float* out) {
  const LevelView view = view_of(level, choice, false);
  if (choice.sampled)
    kernels().forward_sampled(view, choice.race(), choice.rule, tile * kTileSamples, in, out);
  else
    kernels().forward_floats(view, choice.coefficients.data(), in, out);
}

// keep: for the way back, which does not ask what the last level made.
Activations forward(const Pass& pass, std::int64_t tile, bool keep, Scratch& scratch) {
  Activations all;
  const float* in = load_input(pass, tile, scratch);
  std::int64_t half;
  const std::vector<Step>& steps = pass.stack.steps;
  const bool whole = keep || std::any_of(steps.begin(), steps.end(), [](const Step& step) { return step.kept; });
  float* const memory = level_memory(pass, whole, scratch, half);
  const float* const input = in;
  float* next = memory;
  std::uint16_t* made = pass.made ? pass.made + tile * pass.stack.neurons : nullptr;
  for (std::size_t s = 0; s < steps.size(); ++s) {
    const Level& level = pass.stack.levels[steps[s].number];
    const LevelChoice& choice = pass.choice.levels[steps[s].number];
    if (!whole) next = memory + s % 2 * half;
    float* out = next + kTileSamples;
    std::memset(next, 0, kTileSamples * sizeof(float));
    next += out_size(level, whole);
    if (!steps[s].sources.empty()) {
      std::memset(next, 0, kTileSamples * sizeof(float));
      gather_sources(steps[s].sources, kTileSamples,
                     [&](std::int64_t step) { return step < 0 ? input : all.out[step]; }, next + kTileSamples);
      in = next + kTileSamples;
      next += gathered_size(level);
    }
    all.below.push_back(in);
    if (!choice.weights.empty()) {
      kernels().mix_wires(level.wire_view(), choice.weights.data(), in, next);
      in = next;
      next += mixed_size(choice, level);
    }
    all.in.push_back(in);
    all.out.push_back(out);
    if (keep && s + 1 == steps.size()) break;
    if (made && keep)
      kernels().unpack_rows(made, nullptr, level.neurons, out);
    else
      forward_level(level, choice, tile, in, out);
    if (made && !keep) kernels().pack_rows(out, level.neurons, made);
    if (made) made += level.neurons;
    in = out;
  }
  return all;
}

// One level on the way back, from the gradient rows of its neurons to the sums of its choices and, unless null, the
// gradient rows of its inputs.
void backward_step(const Pass& pass, std::size_t s, std::int64_t tile, const Activations& all,
                   const GradientRows& rows, Scratch& scratch, float* sums, float* below) {
  const std::size_t l = pass.stack.steps[s].number;
  const Level& level = pass.stack.levels[l];
  const LevelChoice& choice = pass.choice.levels[l];
  const LevelView view = view_of(level, choice, false);
  if (below) std::memset(below - kTileSamples, 0, (level.inputs + 1) * kTileSamples * sizeof(float));
  if (choice.sampled)
    return kernels().backward_sampled(view, choice.race(), (*pass.rules)[l].gates, tile * kTileSamples, all.in[s], rows,
                                      (*pass.rules)[l].inputs_by_mixture, below,
                                      sums + pass.stack.sums + choice.sampled_sums);
  const bool mixed = !choice.weights.empty();
  float* edges = level.chooses_wires() ? scratch.rows[0].get<float>(2 * level.neurons * kTileSamples) : nullptr;
  const float *mixture = pass.mixtures->of_level(l), *down = pass.mixture_below(l);
  if (!down) down = choice.coefficients.data();
  kernels().backward_floats(view, down, all.in[s], rows, edges, mixed ? nullptr : below,
                            level.chooses_gates() ? sums + kTerms * level.sum_start : nullptr);
  if (mixed && below) kernels().unmix_wires(level.wire_view(), choice.weights.data(), edges, below);
  if (!edges) return;
  if (mixture && mixture != down)  // nobody needs the edges of the picked gates any more
    kernels().backward_floats(view, mixture, all.in[s], rows, edges, nullptr, nullptr);
  kernels().wire_sums_floats(level.wire_view(), all.below[s], edges, sums + level.wire_sum_start);
}

}  // namespace

void floats_forward(const Pass& pass, const Head& head, std::int64_t tile, Scratch& scratch, float* out) {
  const std::int64_t outputs = pass.stack.outputs, columns = head.columns(pass.stack), group = outputs / columns;
  const float* last = forward(pass, tile, false, scratch).out.back();
  const std::int64_t begin = tile * kTileSamples;
  const std::int64_t count = std::min<std::int64_t>(kTileSamples, pass.samples.batch - begin);
  for (std::int64_t c = 0; c < columns; ++c) {
    alignas(64) float sums[kTileSamples];
    kernels().sum_rows(last + c * group * kTileSamples, group, sums);
    for (std::int64_t s = 0; s < count; ++s) out[(begin + s) * columns + c] = sums[s] / head.temperature;
  }
}

void floats_backward(const Pass& pass, const Top& top, std::int64_t tile, Scratch& scratch, const Sums& to,
                     float* in_gradient) {
  const Activations all = forward(pass, tile, true, scratch);
  GradientRows rows = top.fill(tile * kTileSamples, kTileSamples, scratch);
  const std::vector<Step>& steps = pass.stack.steps;
  const auto outputs = [&](std::int64_t step) {
    return step < 0 ? pass.stack.inputs : pass.stack.levels[steps[step].number].neurons;
  };
  GradientPool pool(scratch.gradients, steps.size(), kTileSamples);
  std::size_t lowest = 0;  // the first step that learns anything: below it a gradient is wanted for the input alone
  while (lowest + 1 < steps.size() && !pass.learns(steps[lowest].number)) ++lowest;
  const std::size_t end = in_gradient ? 0 : lowest;
  for (std::size_t s = steps.size(); s-- > end;) {
    if (s + 1 < steps.size() && !steps[s + 1].sources.empty()) rows = {pool.rows_of(s, outputs(s)), nullptr};
    float* below = s > end || in_gradient ? all.out[s] : nullptr;
    backward_step(pass, s, tile, all, rows, scratch, to.sums, below);
    pool.release(s);
    if (!steps[s].sources.empty() && below) pool.add(steps[s], below, end, in_gradient != nullptr, outputs);
    rows = {below, nullptr};
  }
  if (!in_gradient) return;
  const float* result = rows.rows;
  if (pool.has(-1)) {
    float* all_rows = pool.rows_of(-1, pass.stack.inputs);
    for (std::int64_t i = 0; steps[0].sources.empty() && i < pass.stack.inputs * kTileSamples; ++i)
      all_rows[i] += result[i];
    result = all_rows;
  }
  store_in_gradient(pass, result, tile * kTileSamples, kTileSamples, in_gradient);
}

}  // namespace hardwire
