// The hot loops, as a table of plain functions. kernels.cpp is compiled once for each instruction set into a table of
// its own, and `kernels()` is the best one that this machine runs. Only plain pointers cross this border, and the
// kernel files use no std:: templates: an inline function compiled for AVX-512 must never be the copy that baseline
// code calls.
#pragma once
#include <cstddef>
#include <cstdint>

namespace hardwire {

constexpr int kTileSamples = 16;  // samples of a float tile, a vector
constexpr int kRowWords = 4;      // words of a row, where a tile only runs forwards

// Where one layer reads, and who reads its inputs. Edge 2 * neuron + side is the wire into the first (side 0) or second
// (side 1) input of a neuron; edges[offsets[i] .. offsets[i + 1]) are the wires that input i feeds, in rising order.
struct LayerView {
  std::int64_t inputs, neurons;
  const std::int32_t *first, *second;
  const std::int64_t* offsets;
  const std::uint32_t* edges;
};

// How logits become choices; the noise is that of hardwire/noise.py.
struct SelectionRule {
  bool hard, noisy;
  float tau;
  std::uint32_t seed_low, seed_high, draw, step, place;  // place: layer, and bit 31 for evaluation
};

struct SelectionResult {
  double confidence;  // sum over neurons of max softmax(logits)
  bool finite;        // no NaN or infinity among the logits
};

// A circuit: `operations` on slots, cut into runs of equal gates; `outputs` are slots, in `classes` equal groups.
struct Operation {
  std::int32_t target, first, second;
};
struct Run {
  std::int32_t gate, count;
};
struct CircuitView {
  std::size_t inputs, slots, classes, run_count, output_count;
  const Operation* operations;
  const Run* runs;
  const std::int32_t* outputs;
};

struct Kernels {
  const char* name;

  // Neurons [begin, end) of a layer: logits[neurons][16] -> the picked gate of each (hard) or the four coefficients of
  // the mixture (soft; also of the picked gate, if coefficients are wanted for it). Either output may be null.
  SelectionResult (*select)(const float* logits, std::int64_t begin, std::int64_t end, const SelectionRule& rule,
                            std::uint8_t* gates, float* coefficients);

  // Neurons [begin, end): the batch sums of d, d*a, d*b, d*a*b, given in `parts` slices of [neurons][4] that lie
  // `stride` floats apart and are added in order, -> gradient[neurons][16] of the logits.
  void (*logit_gradient)(const float* logits, std::int64_t begin, std::int64_t end, const SelectionRule& rule,
                         const float* sums, std::int64_t parts, std::int64_t stride, float* gradient);

  // 64 samples through a layer, a word a neuron, on the way back: the input words are kept in pairs[neurons][2].
  void (*forward_bits)(const LayerView& layer, const std::uint8_t* gates, const std::uint64_t* in, std::uint64_t* out,
                       std::uint64_t* pairs);

  // 256 samples through a layer, a row of four words a neuron: in[inputs][4] -> out[neurons][4]; where the batch ends
  // inside a row, only the first `words` of it.
  void (*forward_rows)(int words, const LayerView& layer, const std::uint8_t* gates, const std::uint64_t* in,
                       std::uint64_t* out);

  // The class sums of the first `samples` of such rows: each of `classes` equal groups of neurons is added up and
  // divided by the temperature -> scores[samples][classes].
  void (*group_scores)(const std::uint64_t* rows, std::int64_t neurons, std::int64_t classes, std::int64_t samples,
                       float temperature, float* scores);

  // 64 samples backwards through `layer`: from the gradient rows of its neurons (row row_of[j] of 64 floats, or row j
  // where row_of is null) to those of its inputs (in_rows; null where nobody needs them). Inputs that are neurons
  // themselves are also reduced to their four sums, added to sums[inputs][4]: in_pairs are the input words of those.
  void (*backward_bits)(const LayerView& layer, const std::uint8_t* gates, const std::uint64_t* pairs,
                        const float* rows, const std::int32_t* row_of, float* in_rows, const std::uint64_t* in_pairs,
                        float* sums);

  // The four sums of the last layer, whose gradient rows are given.
  void (*top_sums_bits)(std::int64_t neurons, const std::uint64_t* pairs, const float* rows, const std::int32_t* row_of,
                        float* sums);

  // 16 samples through a layer of mixtures: in[inputs][16], coefficients[neurons][4] -> out[neurons][16].
  void (*forward_floats)(const LayerView& layer, const float* coefficients, const float* in, float* out);

  // Backwards through one layer of mixtures. The gradient of neuron j's output is rows[row_of[j]] (row_of given) or
  // the sum of the edges that read it, consumer_edges[2 * neurons of the next layer][16] by `consumers`. Writes the
  // gradient of its two wires to edges[2 * neurons][16] (unless null) and adds its four sums.
  void (*backward_floats)(const LayerView& layer, const float* coefficients, const float* in,
                          const LayerView* consumers, const float* consumer_edges, const float* rows,
                          const std::int32_t* row_of, float* edges, float* sums);

  // The gradient rows of a layer's inputs from its edges: in_rows[inputs][16].
  void (*gather_edges)(const LayerView& layer, const float* edges, float* in_rows);

  // One tile of rows <= lanes * 64 images through a circuit, lanes 1, 8, 16 or 32: words[rows][words of the inputs] ->
  // scores[rows][classes] or winners[rows] (ties to the lowest class), whichever is not null. slots: [slots][lanes]
  // words, aligned to 64 bytes.
  void (*run_tile)(const CircuitView& circuit, const std::uint64_t* words, std::size_t rows, std::size_t lanes,
                   std::uint64_t* slots, std::int32_t* scores, std::int64_t* winners);
};

// The best kernels this machine runs; the environment variable HARDWIRE_ISA asks for others by name. Throws an Error if
// there are none of that name, or this machine cannot run them.
const Kernels& kernels();

const Kernels& kernels_baseline();
#ifdef HARDWIRE_X86_64
const Kernels& kernels_avx2();
const Kernels& kernels_avx512();
#endif

}  // namespace hardwire
