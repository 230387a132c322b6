// What both paths share: a batch is cut into tiles, and a tile goes through all stages, forwards or forwards and back,
// before the next one starts, so that what a stage writes is still in the cache when the next one reads it. The way
// back runs its tile forwards again instead of storing activations, but for bits that cost much to make.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <deque>

#include "buffer.hpp"
#include "choice.hpp"
#include "words.hpp"

namespace hardwire {

// The samples of a batch: packed words [batch][words] or floats [batch][inputs], whichever is not null.
struct Samples {
  std::int64_t batch;
  const std::uint64_t* words;
  const float* floats;
};

// What follows the last level: sums of `classes` equal groups over `temperature`, or with classes == 0 nothing.
struct Head {
  std::int64_t classes;
  float temperature;

  std::int64_t columns(const Stack& stack) const { return classes ? classes : stack.outputs; }
};

// One worker's memory.
struct Scratch {
  Buffer input, bits, pairs, top, trees;
  Buffer rows[2];             // of gradients, for two neighbouring levels
  std::deque<Buffer> values;  // between levels; see the paths
  std::deque<Buffer> gathered, gradients;  // what steps with sources read; see GradientPool
};

// The rows of several sources side by side, from made(step) -> out; each: values of a row.
template <class T, class Made>
void gather_sources(const std::vector<Source>& sources, std::int64_t each, const Made& made, T* out) {
  for (const Source& source : sources) {
    const std::int64_t count = (source.end - source.begin) * each;
    std::memcpy(out, made(source.step) + source.begin * each, count * sizeof(T));
    out += count;
  }
}

// The gradient rows of steps that several others read, each until it is taken; of the input where the step is -1.
class GradientPool {
 public:
  GradientPool(std::deque<Buffer>& buffers, std::int64_t steps, std::int64_t width)
      : buffers_(buffers), rows_(steps + 1, nullptr), used_(steps + 1, -1), width_(width) {}

  // Adds the rows of what a step has read to those of its sources, but for the steps below `lowest`.
  template <class Outputs>
  void add(const Step& step, const float* from, std::int64_t lowest, bool to_input, const Outputs& outputs) {
    for (const Source& source : step.sources) {
      const std::int64_t count = (source.end - source.begin) * width_;
      if (to_input || source.step >= lowest) {
        float* to = rows_of(source.step, outputs(source.step)) + source.begin * width_;
        for (std::int64_t i = 0; i < count; ++i) to[i] += from[i];
      }
      from += count;
    }
  }

  bool has(std::int64_t step) const { return rows_[step + 1]; }

  // The rows of a step, zero where nobody has added any.
  float* rows_of(std::int64_t step, std::int64_t count) {
    float*& rows = rows_[step + 1];
    if (rows) return rows;
    if (free_.empty()) {
      free_.push_back(taken_++);
      if (std::int64_t(buffers_.size()) < taken_) buffers_.emplace_back();
    }
    used_[step + 1] = free_.back();
    free_.pop_back();
    rows = buffers_[used_[step + 1]].template get<float>(count * width_);
    std::memset(rows, 0, count * width_ * sizeof(float));
    return rows;
  }

  void release(std::int64_t step) {
    if (!rows_[step + 1]) return;
    rows_[step + 1] = nullptr;
    free_.push_back(used_[step + 1]);
  }

 private:
  std::deque<Buffer>& buffers_;
  std::vector<float*> rows_;
  std::vector<std::int64_t> used_, free_;
  std::int64_t width_, taken_ = 0;
};

// `count` values of T behind a line of zeros, which wires that read nothing read.
template <class T>
T* behind_zeros(Buffer& buffer, std::int64_t count) {
  constexpr std::int64_t kLine = 64 / sizeof(T);
  T* memory = buffer.get<T>(count + kLine);
  std::memset(memory, 0, kLine * sizeof(T));
  return memory + kLine;
}

// The gradient that comes from above, for a tile at a time: rows of the classes, or of the last level's neurons.
struct Top {
  const float* gradient;  // [batch][columns]
  std::int64_t batch, columns;
  float temperature;
  const std::int32_t* row_of;  // the row of each neuron of the last level; null without a head

  // rows[columns][samples] for `samples` samples from `begin` on; zero past the end of the batch
  GradientRows fill(std::int64_t begin, int samples, Scratch& scratch) const {
    float* rows = scratch.top.get<float>(columns * samples);
    const std::int64_t count = std::clamp<std::int64_t>(batch - begin, 0, samples);
    if (count < samples) std::memset(rows, 0, sizeof(float) * columns * samples);
    for (std::int64_t s = 0; s < count; ++s)
      for (std::int64_t c = 0; c < columns; ++c)
        rows[c * samples + s] = gradient[(begin + s) * columns + c] / temperature;
    return {rows, row_of};
  }
};

// Where a tile adds its sums, as the stack numbers them. fresh: it is the first one, and sums of wires that are no
// others' are not cleared yet.
struct Sums {
  float* sums;
  bool fresh;
};

// A batch on its way through a stack.
struct Pass {
  const Stack& stack;
  const Choice& choice;
  const Samples& samples;
  std::uint16_t* made = nullptr;                  // on the float path; see Engine
  const std::vector<LevelRule>* rules = nullptr;  // on the way back, with the temperatures of the surrogates,
  const Mixtures* mixtures = nullptr;             // what follows from these, and where gradients of logits are wanted
  const LogitGradients* gradients = nullptr;

  // Whether a level has logits whose gradient is wanted: frozen ones are left out.
  bool learns(std::int64_t l) const { return (*gradients)[l].functions || (*gradients)[l].wires; }

  // By which mixture a gradient passes the gates of a level down to its inputs; null where as the picked ones have it.
  const float* mixture_below(std::int64_t l) const {
    return (*rules)[l].inputs_by_mixture ? mixtures->of_level(l) : nullptr;
  }
};

// rows[inputs][width] of a tile -> out[batch][inputs]
inline void store_in_gradient(const Pass& pass, const float* rows, std::int64_t begin, int width, float* out) {
  const std::int64_t count = std::min<std::int64_t>(width, pass.samples.batch - begin), inputs = pass.stack.inputs;
  for (std::int64_t s = 0; s < count; ++s)
    for (std::int64_t i = 0; i < inputs; ++i) out[(begin + s) * inputs + i] = rows[i * width + s];
}

// The packed path in tiles of 64 samples, 256 where nothing goes back; the float path in tiles of 16.
constexpr int kForwardSamples = kWordSamples * kRowWords;
void packed_forward(const Pass& pass, const Head& head, std::int64_t tile, Scratch& scratch, float* out);
void packed_backward(const Pass& pass, const Top& top, std::int64_t tile, Scratch& scratch, const Sums& sums,
                     float* in_gradient);
void floats_forward(const Pass& pass, const Head& head, std::int64_t tile, Scratch& scratch, float* out);
void floats_backward(const Pass& pass, const Top& top, std::int64_t tile, Scratch& scratch, const Sums& sums,
                     float* in_gradient);

}  // namespace hardwire
