// The training engine: a stack of gate layers, run forwards and backwards over a batch, tile by tile. A tile of samples
// goes through all layers before the next one starts, so that what a layer writes is still in the cache when the next
// one reads it; the backward pass runs its tile forwards again instead of storing activations. Tiles are independent,
// and what they add to (the four sums of each neuron) is kept in a number of parts that depends on the batch alone: the
// result is the same, to the bit, for any number of threads.
#pragma once
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "kernels.hpp"
#include "words.hpp"

namespace hardwire {

// What the choice of every neuron came to.
struct Choice {
  std::vector<std::uint8_t> gates;  // [all neurons], for the packed path
  std::vector<float> coefficients;  // [all neurons][4], for the float path
};

// The samples of a batch: packed words [batch][words] or floats [batch][inputs], whichever is not null.
struct Samples {
  std::int64_t batch;
  const std::uint64_t* words;
  const float* floats;
};

// What follows the last layer: sums of `classes` equal groups over `temperature`, or with classes == 0 nothing.
struct Head {
  std::int64_t classes;
  float temperature;
};

class Buffer;
struct Scratch;

class Stack {
 public:
  struct Wiring {
    std::int64_t neurons;
    const std::int32_t* pairs;  // [2][neurons]
  };
  Stack(std::int64_t inputs, const std::vector<Wiring>& wirings);
  ~Stack();

  std::int64_t layers() const { return static_cast<std::int64_t>(layers_.size()); }
  std::int64_t outputs() const { return layers_.back().view.neurons; }
  std::int64_t neurons(std::int64_t layer) const { return layers_[layer].view.neurons; }

  // One rule and one result a layer.
  std::vector<SelectionResult> select(const std::vector<const float*>& logits, const std::vector<SelectionRule>& rules,
                                      bool want_gates, bool want_coefficients, int threads, Choice& choice) const;

  // out: [batch][classes], or [batch][neurons of the last layer] without a head. Takes the packed path if
  // samples.words is given and the choice has gates.
  void forward(const Choice& choice, const Samples& samples, const Head& head, int threads, float* out) const;

  // From the gradient of forward's result to that of the logits (one array a layer) and, unless null, of the input
  // [batch][inputs]. A rule's tau is the temperature of its layer's surrogate.
  void backward(const Choice& choice, const Samples& samples, const Head& head, const float* out_gradient,
                const std::vector<const float*>& logits, const std::vector<SelectionRule>& rules, int threads,
                const std::vector<float*>& logit_gradients, float* in_gradient) const;

 private:
  struct Layer {
    std::vector<std::int32_t> first, second;
    std::vector<std::int64_t> offsets;
    std::vector<std::uint32_t> edges;
    std::int64_t start;  // its first neuron's number among all
    LayerView view;
  };
  struct Chunk {
    std::int64_t layer, begin, end;  // neurons [begin, end) of a layer
  };
  struct Top;

  // How many numbers a sample has in the end.
  std::int64_t columns(const Head& head) const { return head.classes ? head.classes : outputs(); }
  bool packed(const Choice& choice, const Samples& samples) const { return samples.words && !choice.gates.empty(); }
  std::vector<Chunk> selection_chunks() const;
  void rows_forward(const Choice& choice, const Samples& samples, const Head& head, std::int64_t tile, Scratch& scratch,
                    float* out) const;
  void bits_forward(const Choice& choice, const Samples& samples, std::int64_t tile, Scratch& scratch) const;
  void bits_backward(const Choice& choice, const Samples& samples, const Top& top, std::int64_t tile, Scratch& scratch,
                     float* sums, float* in_gradient) const;
  void floats_forward(const Choice& choice, const Samples& samples, std::int64_t tile, bool keep,
                      Scratch& scratch) const;
  void floats_backward(const Choice& choice, const Samples& samples, const Top& top, std::int64_t tile,
                       Scratch& scratch, float* sums, float* in_gradient) const;
  void store_in_gradient(const float* rows, std::int64_t begin, int width, std::int64_t batch, float* out) const;
  Scratch& scratch(int worker) const;
  void reserve_scratch(int threads) const;

  std::int64_t inputs_, total_ = 0, widest_ = 0;
  std::vector<Layer> layers_;
  mutable std::mutex busy_;  // scratch space is shared by all calls
  mutable std::vector<std::unique_ptr<Scratch>> scratch_;
  mutable std::unique_ptr<Buffer> sums_;
};

}  // namespace hardwire
