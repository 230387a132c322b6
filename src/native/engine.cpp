#include "engine.hpp"

#include <algorithm>
#include <cstring>

#include "buffer.hpp"
#include "error.hpp"
#include "packing.hpp"
#include "threads.hpp"

namespace hardwire {

namespace {

constexpr std::int64_t kMaxParts = 16;          // of the sums; the most threads that a backward pass can use
constexpr std::int64_t kSelectionChunk = 1024;  // neurons of a task

std::int64_t tile_count(std::int64_t batch, int samples) { return (batch + samples - 1) / samples; }

std::int64_t part_begin(std::int64_t part, std::int64_t parts, std::int64_t tiles) { return part * tiles / parts; }

}  // namespace

// counts[columns][width] of a tile -> out[batch][columns], divided by the head's temperature
static void store_scores(const float* counts, std::int64_t begin, int width, std::int64_t batch, const Head& head,
                         std::int64_t columns, float* out) {
  const std::int64_t count = std::min<std::int64_t>(width, batch - begin);
  for (std::int64_t s = 0; s < count; ++s)
    for (std::int64_t c = 0; c < columns; ++c)
      out[(begin + s) * columns + c] = counts[c * width + s] / head.temperature;
}

// One worker's memory.
struct Scratch {
  Buffer input, ping, pong, pairs, rows, next_rows, top, activations;
};

// The gradient that comes from above, for a tile at a time: rows of the classes, or of the last layer's neurons.
struct Stack::Top {
  const float* gradient;  // [batch][columns]
  std::int64_t batch, columns;
  float temperature;
  const std::int32_t* row_of;  // the row of each neuron of the last layer; null without a head

  // rows[columns][samples] for `samples` samples from `begin` on; zero past the end of the batch
  const float* fill(std::int64_t begin, int samples, Scratch& scratch) const {
    float* rows = scratch.top.get<float>(columns * samples);
    const std::int64_t count = std::clamp<std::int64_t>(batch - begin, 0, samples);
    if (count < samples) std::memset(rows, 0, sizeof(float) * columns * samples);
    for (std::int64_t s = 0; s < count; ++s)
      for (std::int64_t c = 0; c < columns; ++c)
        rows[c * samples + s] = gradient[(begin + s) * columns + c] / temperature;
    return rows;
  }
};

Stack::Stack(std::int64_t inputs, const std::vector<Wiring>& wirings) : inputs_(inputs), sums_(new Buffer) {
  if (inputs < 1 || wirings.empty()) throw Error("a stack needs an input and a layer");
  layers_.resize(wirings.size());
  widest_ = inputs;
  for (std::size_t l = 0; l < wirings.size(); ++l) {
    Layer& layer = layers_[l];
    const std::int64_t n = wirings[l].neurons;
    layer.first.assign(wirings[l].pairs, wirings[l].pairs + n);
    layer.second.assign(wirings[l].pairs + n, wirings[l].pairs + 2 * n);
    layer.offsets.assign(inputs + 1, 0);
    for (const auto* side : {&layer.first, &layer.second})
      for (std::int32_t input : *side) {
        if (input < 0 || input >= inputs) throw Error("bad wiring: it names an input that does not exist");
        ++layer.offsets[input + 1];
      }
    for (std::int64_t i = 0; i < inputs; ++i) layer.offsets[i + 1] += layer.offsets[i];
    layer.edges.resize(2 * n);
    std::vector<std::int64_t> place(layer.offsets.begin(), layer.offsets.end() - 1);
    for (std::int64_t j = 0; j < n; ++j) {
      layer.edges[place[layer.first[j]]++] = static_cast<std::uint32_t>(2 * j);
      layer.edges[place[layer.second[j]]++] = static_cast<std::uint32_t>(2 * j + 1);
    }
    layer.start = total_;
    layer.view = {inputs, n, layer.first.data(), layer.second.data(), layer.offsets.data(), layer.edges.data()};
    total_ += n;
    inputs = n;
    widest_ = std::max(widest_, n);
  }
}

Stack::~Stack() = default;

std::vector<Stack::Chunk> Stack::selection_chunks() const {
  std::vector<Chunk> chunks;
  for (std::int64_t l = 0; l < layers(); ++l)
    for (std::int64_t begin = 0; begin < neurons(l); begin += kSelectionChunk)
      chunks.push_back({l, begin, std::min(begin + kSelectionChunk, neurons(l))});
  return chunks;
}

std::vector<SelectionResult> Stack::select(const std::vector<const float*>& logits,
                                           const std::vector<SelectionRule>& rules, bool want_gates,
                                           bool want_coefficients, int threads, Choice& choice) const {
  if (want_gates) choice.gates.resize(total_);
  if (want_coefficients) choice.coefficients.resize(kTerms * total_);
  const std::vector<Chunk> chunks = selection_chunks();
  std::vector<SelectionResult> parts(chunks.size());
  parallel_for(threads, chunks.size(), [&](std::int64_t task, int) {
    const Chunk& chunk = chunks[task];
    const std::int64_t start = layers_[chunk.layer].start;
    parts[task] = kernels().select(logits[chunk.layer], chunk.begin, chunk.end, rules[chunk.layer],
                                   want_gates ? choice.gates.data() + start : nullptr,
                                   want_coefficients ? choice.coefficients.data() + kTerms * start : nullptr);
  });
  std::vector<SelectionResult> results(layers(), SelectionResult{0.0, true});
  for (std::size_t task = 0; task < chunks.size(); ++task) {
    SelectionResult& result = results[chunks[task].layer];
    result.confidence += parts[task].confidence;
    result.finite &= parts[task].finite;
  }
  for (std::int64_t l = 0; l < layers(); ++l) results[l].confidence /= static_cast<double>(neurons(l));
  return results;
}

Scratch& Stack::scratch(int worker) const { return *scratch_[worker]; }

void Stack::reserve_scratch(int threads) const {
  while (static_cast<int>(scratch_.size()) < std::max(threads, 1)) scratch_.push_back(std::make_unique<Scratch>());
}

// A tile of 256 samples only forwards, and what follows the last layer -> out[batch][columns].
void Stack::rows_forward(const Choice& choice, const Samples& samples, const Head& head, std::int64_t tile,
                         Scratch& scratch, float* out) const {
  const std::int64_t begin = tile * kWordSamples * kRowWords;
  const std::int64_t count = std::min<std::int64_t>(kWordSamples * kRowWords, samples.batch - begin);
  const std::int64_t columns = this->columns(head);
  std::uint64_t* in = scratch.input.get<std::uint64_t>(inputs_ * kRowWords);
  transpose(samples.words + begin * word_count(inputs_), count, inputs_, in, kRowWords);
  std::uint64_t* row = scratch.ping.get<std::uint64_t>(widest_ * kRowWords);
  std::uint64_t* spare = scratch.pong.get<std::uint64_t>(widest_ * kRowWords);
  for (const Layer& layer : layers_) {
    kernels().forward_rows(static_cast<int>(word_count(count)), layer.view, choice.gates.data() + layer.start, in, row);
    in = row;
    std::swap(row, spare);
  }
  float* scores = out + begin * columns;
  if (head.classes) return kernels().group_scores(in, outputs(), columns, count, head.temperature, scores);
  for (std::int64_t s = 0; s < count; ++s)
    for (std::int64_t j = 0; j < columns; ++j)
      scores[s * columns + j] = static_cast<float>(in[j * kRowWords + s / kWordSamples] >> (s % kWordSamples) & 1);
}

// The 64 samples of a tile through the layers, the input words of every neuron kept.
void Stack::bits_forward(const Choice& choice, const Samples& samples, std::int64_t tile, Scratch& scratch) const {
  const std::int64_t begin = tile * kWordSamples, count = std::min<std::int64_t>(kWordSamples, samples.batch - begin);
  std::uint64_t* in = scratch.input.get<std::uint64_t>(inputs_);
  transpose(samples.words + begin * word_count(inputs_), count, inputs_, in, 1);
  std::uint64_t* out = scratch.ping.get<std::uint64_t>(widest_);
  std::uint64_t* spare = scratch.pong.get<std::uint64_t>(widest_);
  std::uint64_t* pairs = scratch.pairs.get<std::uint64_t>(2 * total_);
  for (const Layer& layer : layers_) {
    kernels().forward_bits(layer.view, choice.gates.data() + layer.start, in, out, pairs + 2 * layer.start);
    in = out;
    std::swap(out, spare);
  }
}

void Stack::bits_backward(const Choice& choice, const Samples& samples, const Top& top, std::int64_t tile,
                          Scratch& scratch, float* sums, float* in_gradient) const {
  bits_forward(choice, samples, tile, scratch);
  const std::uint64_t* pairs = scratch.pairs.get<std::uint64_t>(2 * total_);
  float* buffers[2] = {scratch.rows.get<float>(widest_ * kWordSamples),
                       scratch.next_rows.get<float>(widest_ * kWordSamples)};
  const std::int64_t begin = tile * kWordSamples;
  const float* rows = top.fill(begin, kWordSamples, scratch);
  const std::int32_t* row_of = top.row_of;
  const Layer& last = layers_.back();
  kernels().top_sums_bits(outputs(), pairs + 2 * last.start, rows, row_of, sums + kTerms * last.start);
  for (std::int64_t l = layers() - 1; l >= 0; --l) {
    const Layer& layer = layers_[l];
    const Layer* below = l ? &layers_[l - 1] : nullptr;
    if (!below && !in_gradient) return;
    float* in_rows = l > 1 || in_gradient ? buffers[l & 1] : nullptr;
    kernels().backward_bits(layer.view, choice.gates.data() + layer.start, pairs + 2 * layer.start, rows, row_of,
                            in_rows, below ? pairs + 2 * below->start : nullptr,
                            below ? sums + kTerms * below->start : nullptr);
    rows = in_rows;
    row_of = nullptr;
  }
  store_in_gradient(rows, begin, kWordSamples, samples.batch, in_gradient);
}

// rows[inputs][width] of a tile -> [batch][inputs]
void Stack::store_in_gradient(const float* rows, std::int64_t begin, int width, std::int64_t batch, float* out) const {
  const std::int64_t count = std::min<std::int64_t>(width, batch - begin);
  for (std::int64_t s = 0; s < count; ++s)
    for (std::int64_t i = 0; i < inputs_; ++i) out[(begin + s) * inputs_ + i] = rows[i * width + s];
}

// Activations[inputs + all neurons][16] with `keep`, else only the last layer's, at the start.
void Stack::floats_forward(const Choice& choice, const Samples& samples, std::int64_t tile, bool keep,
                           Scratch& scratch) const {
  const std::int64_t begin = tile * kTileSamples, count = std::min<std::int64_t>(kTileSamples, samples.batch - begin);
  float* in = scratch.input.get<float>(inputs_ * kTileSamples);
  if (count < kTileSamples) std::memset(in, 0, inputs_ * kTileSamples * sizeof(float));
  for (std::int64_t s = 0; s < count; ++s) {
    if (samples.floats) {
      const float* x = samples.floats + (begin + s) * inputs_;
      for (std::int64_t i = 0; i < inputs_; ++i) in[i * kTileSamples + s] = x[i];
    } else {
      const std::uint64_t* x = samples.words + (begin + s) * word_count(inputs_);
      for (std::int64_t i = 0; i < inputs_; ++i)
        in[i * kTileSamples + s] = static_cast<float>((x[i / 64] >> (i % 64)) & 1);
    }
  }
  float* all = scratch.activations.get<float>((keep ? total_ : 2 * widest_) * kTileSamples);
  const float* source = in;
  for (std::int64_t l = 0; l < layers(); ++l) {
    const std::int64_t place = keep ? layers_[l].start : ((layers() - 1 - l) & 1) * widest_;
    kernels().forward_floats(layers_[l].view, choice.coefficients.data() + kTerms * layers_[l].start, source,
                             all + place * kTileSamples);
    source = all + place * kTileSamples;
  }
}

void Stack::floats_backward(const Choice& choice, const Samples& samples, const Top& top, std::int64_t tile,
                            Scratch& scratch, float* sums, float* in_gradient) const {
  floats_forward(choice, samples, tile, true, scratch);
  const float* input = scratch.input.get<float>(inputs_ * kTileSamples);
  const float* all = scratch.activations.get<float>(total_ * kTileSamples);
  const float* rows = top.fill(tile * kTileSamples, kTileSamples, scratch);
  float* buffers[2] = {scratch.rows.get<float>(2 * widest_ * kTileSamples),
                       scratch.next_rows.get<float>(2 * widest_ * kTileSamples)};
  for (std::int64_t l = layers() - 1; l >= 0; --l) {
    const Layer& layer = layers_[l];
    const bool last = l + 1 == layers();
    kernels().backward_floats(layer.view, choice.coefficients.data() + kTerms * layer.start,
                              l ? all + layers_[l - 1].start * kTileSamples : input,
                              last ? nullptr : &layers_[l + 1].view, last ? nullptr : buffers[(l + 1) & 1], rows,
                              top.row_of, l || in_gradient ? buffers[l & 1] : nullptr, sums + kTerms * layer.start);
  }
  if (!in_gradient) return;
  float* in_rows = buffers[1];
  kernels().gather_edges(layers_[0].view, buffers[0], in_rows);
  store_in_gradient(in_rows, tile * kTileSamples, kTileSamples, samples.batch, in_gradient);
}

void Stack::forward(const Choice& choice, const Samples& samples, const Head& head, int threads, float* out) const {
  std::lock_guard<std::mutex> lock(busy_);
  reserve_scratch(threads);
  const std::int64_t columns = this->columns(head);
  if (packed(choice, samples)) {
    parallel_for(threads, tile_count(samples.batch, kWordSamples * kRowWords), [&](std::int64_t tile, int worker) {
      rows_forward(choice, samples, head, tile, scratch(worker), out);
    });
    return;
  }
  parallel_for(threads, tile_count(samples.batch, kTileSamples), [&](std::int64_t tile, int worker) {
    Scratch& space = scratch(worker);
    float* counts = space.top.get<float>(columns * kTileSamples);
    floats_forward(choice, samples, tile, false, space);
    const float* last = space.activations.get<float>(2 * widest_ * kTileSamples);
    const std::int64_t group = outputs() / columns;
    std::memset(counts, 0, columns * kTileSamples * sizeof(float));
    for (std::int64_t j = 0; j < outputs(); ++j)
      for (int s = 0; s < kTileSamples; ++s) counts[j / group * kTileSamples + s] += last[j * kTileSamples + s];
    store_scores(counts, tile * kTileSamples, kTileSamples, samples.batch, head, columns, out);
  });
}

void Stack::backward(const Choice& choice, const Samples& samples, const Head& head, const float* out_gradient,
                     const std::vector<const float*>& logits, const std::vector<SelectionRule>& rules, int threads,
                     const std::vector<float*>& logit_gradients, float* in_gradient) const {
  std::lock_guard<std::mutex> lock(busy_);
  reserve_scratch(threads);
  std::vector<std::int32_t> row_of;
  if (head.classes) {
    row_of.resize(outputs());
    for (std::int64_t j = 0; j < outputs(); ++j) row_of[j] = static_cast<std::int32_t>(j / (outputs() / head.classes));
  }
  const Top top = {out_gradient, samples.batch, columns(head), head.temperature,
                   head.classes ? row_of.data() : nullptr};
  const bool bits = packed(choice, samples);
  const std::int64_t tiles = tile_count(samples.batch, bits ? kWordSamples : kTileSamples);
  const std::int64_t parts = std::min(tiles, kMaxParts), stride = kTerms * total_;
  float* sums = sums_->get<float>(parts * stride);
  parallel_for(threads, parts, [&](std::int64_t part, int worker) {
    float* own = sums + part * stride;
    std::memset(own, 0, stride * sizeof(float));
    for (std::int64_t tile = part_begin(part, parts, tiles); tile < part_begin(part + 1, parts, tiles); ++tile) {
      if (bits)
        bits_backward(choice, samples, top, tile, scratch(worker), own, in_gradient);
      else
        floats_backward(choice, samples, top, tile, scratch(worker), own, in_gradient);
    }
  });
  const std::vector<Chunk> chunks = selection_chunks();
  parallel_for(threads, chunks.size(), [&](std::int64_t task, int) {
    const Chunk& chunk = chunks[task];
    kernels().logit_gradient(logits[chunk.layer], chunk.begin, chunk.end, rules[chunk.layer],
                             sums + kTerms * layers_[chunk.layer].start, parts, stride, logit_gradients[chunk.layer]);
  });
}

}  // namespace hardwire
