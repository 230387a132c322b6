// The hot loops, as a table of plain functions. kernels.cpp is compiled once for each instruction set into a table of
// its own, and `kernels()` is the best one that this machine runs. Only plain pointers cross this border, and the
// kernel files use no std:: templates: an inline function compiled for AVX-512 must never be the copy that baseline
// code calls.
#pragma once
#include <cstddef>
#include <cstdint>

namespace hardwire {

constexpr int kLanes = 16;            // floats of a vector
constexpr int kTileSamples = kLanes;  // samples of a float tile
constexpr int kRowWords = 4;          // words of a row, where a tile only runs forwards
constexpr int kLeastArity = 2;        // inputs of a look-up table
constexpr int kMostArity = 6;

// Where one level reads, and (packed, on the way back) who reads its inputs. A wire of -1 reads the constant 0: in
// front of every array of values there is a value that is zero. Edge 2 * neuron + side is the wire into the first (side
// 0) or second (side 1) input of a neuron; edges[offsets[i] .. offsets[i + 1]) are the wires that input i feeds, in
// rising order.
struct LevelView {
  std::int64_t inputs, neurons;
  const std::int32_t *first, *second;
  const std::int64_t* offsets;
  const std::uint32_t* edges;
  const std::int32_t* row_of;  // the row of parameters of each neuron; null where each has its own
  bool maximum;                // a gradient goes to the larger input, the first of equals, not as the formula says
};

// The candidates among which wires choose: wires[arity][neurons][stride], of which the first `candidates` count (the others
// are -1); parameters and sums are those of choice side * rows + row_of[neuron].
struct WireView {
  std::int64_t neurons, rows, candidates, stride;
  const std::int32_t* wires;
  const std::int32_t* row_of;
};

// Gradient rows: neuron j has row row_of[j], or row j where row_of is null.
struct GradientRows {
  const float* rows;
  const std::int32_t* row_of;
};

// Where neurons add up what their logits need, the sums of d, d*a, d*b and d*a*b: sums[rows][4]. pairs[neurons][2] are
// their input words; null on the float path.
struct SumsView {
  const std::uint64_t* pairs;
  const std::int32_t* row_of;
  float* sums;
};

// Where look-up tables read: wires[arity][neurons]; neuron j has the table of row row_of[j], or of row j where that is
// null.
struct TableView {
  std::int64_t neurons;
  int arity;
  const std::int32_t* wires;
  const std::int32_t* row_of;
};

// What a level of tables needs and makes on the way back. Gradients pass down by the tables[rows] or, unless null, by
// the probabilities[rows][2^arity] of their entries, to below[inputs][64] (which has a row -1 for wires that read
// nothing); the sums of entries are added to entry_sums[rows][2^arity], those of candidates as wire_sums_bits has them,
// from the values in[inputs]. fresh_...: in place of what is there. Whatever is null is not wanted.
struct TablesBackward {
  const std::uint64_t* tables;
  const float* probabilities;
  float* entry_sums;
  bool fresh_entries;
  const WireView* wires;
  const std::uint64_t* in;
  float* wire_sums;
  bool fresh_wires;
  float* below;
};

// Kernels that are binary trees of gates, at `windows` places of an image each, or (pooling) at the `places` of each
// window, whose results are joined by OR; a gradient goes to the first place that is 1, or else to the first. Node 1 is
// the root of a tree, node n reads nodes 2n and 2n + 1, and the last 2^depth nodes are leaves: leaf l of window w reads
// input sources[kernel][place][l][w], windows padded with -1 to `stride`.
struct TreesView {
  int depth;
  std::int64_t inputs, kernels, windows, stride, places;
  const std::int32_t* sources;
  const std::uint8_t* gates;       // [kernels][2^depth], the gate of each node; the first counts for nothing
  const float* mixture;            // [kernels][2^depth][4], by which gradients pass, if not as the gates have it
  const std::int64_t* sum_starts;  // by distance from the root: where the sums of that floor's gates begin
};
constexpr int kWindows = 8;    // windows at a time
constexpr int kMostDepth = 5;  // of trees
constexpr std::int64_t kMostPlaces = 16;

// How logits become choices; the noise is that of hardwire/noise.py.
struct SelectionRule {
  bool hard, noisy;
  float tau;
  std::uint32_t seed_low, seed_high, draw, step, noise_stream;  // as noise.py numbers them
  bool confidence = true;        // whether it is asked for: it takes as long as choosing
  bool per_sample = false;       // noise for each sample apart, on the float path
  // The backward pass differentiates softmax(logits / tau), without the noise by which the forward pass chose.
  bool clean_surrogate = false;
};

struct SelectionResult {
  double confidence;  // sum over choices of max softmax(logits), if it was asked for
  bool finite;        // no NaN or infinity among the logits
};

// Gates that are chosen for each sample apart, as a race, [rows][16] each. upto: their shares softmax(z) added up, up
// to each; waits: one over each share, by which times of arrival are longer; rest: what logits lie below the lowest
// that `waits` can say, mostly 0.
template <class Float>
struct Race {
  Float *upto, *waits, *rest;
};
using RaceOdds = Race<float>;
using RaceView = Race<const float>;

// Sums over the batch in `parts` slices that lie `stride` floats apart and are added in order.
struct SumParts {
  const float* sums;
  std::int64_t parts, stride;
};

// A circuit: `operations` on slots, cut into runs of equal gates; `outputs` are slots, in `classes` equal groups.
template <class Index>
struct OperationOf {
  Index target, first, second;
};
using Operation = OperationOf<std::int32_t>;
using NarrowOperation = OperationOf<std::uint16_t>;
// A look-up table: bit `address` of its entries is the output where input j is bit j of the address.
struct TableOperation {
  std::int32_t target, wires[kMostArity];
  std::uint64_t entries;
};
struct Run {
  std::int32_t gate, count;  // of tables the inputs of each
};
// Which bits a raw byte makes: bit column * levels + level of an image is set where its byte is at least
// least[level][column], if bit column of possible[level] (a row of words) says that any byte is.
struct ThresholdsView {
  std::size_t columns, levels;
  const std::uint8_t* least;
  const std::uint64_t* possible;
};
// Images: words[rows][words of the inputs]; bytes[rows][columns] where there are thresholds; or bytes[1][inputs], zero
// or not.
struct ImagesView {
  const std::uint64_t* words;
  const std::uint8_t* bytes;
  const ThresholdsView* thresholds;  // null where there are none
  std::size_t rows;
};
// The same for a single image, whose slots are bytes: the outputs lie together behind the inputs, in their order, so
// that summing them up is reading on. Slots are numbered in 16 bits where these hold them all.
struct ByteImageView {
  std::size_t run_count;
  const Run* runs;
  const NarrowOperation* narrow;  // null where the numbers take 32 bits
  const Operation* wide;
  const TableOperation* tables;  // null where there are gates
};
struct CircuitView {
  std::size_t inputs, slots, classes, run_count, output_count;
  const Operation* operations;
  const Run* runs;
  const std::int32_t* outputs;
  ByteImageView byte_image;
  const TableOperation* tables;  // in place of operations; null where there are gates
};

struct Kernels {
  const char* name;

  // Rows [begin, end) of a level: logits[rows][16] -> the picked gate of each (hard) or the four coefficients of the
  // mixture (soft; also of the picked gate, if coefficients are wanted for it). Either output may be null.
  SelectionResult (*select_gates)(const float* logits, std::int64_t begin, std::int64_t end, const SelectionRule& rule,
                                  std::uint8_t* gates, float* coefficients);

  // Rows [begin, end): sums[rows][4] -> gradient[rows][16] of the logits.
  void (*gate_gradient)(const float* logits, std::int64_t begin, std::int64_t end, const SelectionRule& rule,
                        const SumParts& sums, float* gradient);

  // Choices [begin, end) among `candidates`: logits[choices][candidates] -> the picked one of each, or the weights of
  // all, [choices][candidates]; whichever is not null.
  SelectionResult (*select_wires)(const float* logits, std::int64_t candidates, std::int64_t begin, std::int64_t end,
                                  const SelectionRule& rule, float* scratch, std::int32_t* picked, float* weights);

  // Choices [begin, end): sums[choices][sum_width], of which the first `candidates` count -> gradient of the logits.
  void (*wire_gradient)(const float* logits, std::int64_t candidates, std::int64_t begin, std::int64_t end,
                        const SelectionRule& rule, float* scratch, const SumParts& sums, std::int64_t sum_width,
                        float* gradient);

  // 64 samples through a level, a word a neuron, on the way back: the input words are kept in pairs[neurons][2].
  void (*forward_bits)(const LevelView& level, const std::uint8_t* gates, const std::uint64_t* in, std::uint64_t* out,
                       std::uint64_t* pairs);

  // 256 samples through a level, a row of four words a neuron: in[inputs][4] -> out[neurons][4]; where the batch ends
  // inside a row, only the first `words` of it.
  void (*forward_rows)(int words, const LevelView& level, const std::uint8_t* gates, const std::uint64_t* in,
                       std::uint64_t* out);

  // The class sums of the first `samples` of such rows: each of `classes` equal groups of neurons is added up and
  // divided by the temperature -> scores[samples][classes].
  void (*group_scores)(const std::uint64_t* rows, std::int64_t neurons, std::int64_t classes, std::int64_t samples,
                       float temperature, float* scores);

  // 64 samples backwards through a level: from the gradient rows (of 64 floats) of its neurons to those of its inputs
  // (in_rows; null where nobody needs them), through the gates or, unless null, a mixture[neurons][4] of them. Inputs
  // that are neurons with logits also get their sums (below; or null).
  void (*backward_bits)(const LevelView& level, const std::uint8_t* gates, const float* mixture,
                        const std::uint64_t* pairs, const GradientRows& rows, float* in_rows, const SumsView* below);

  // The sums of a level whose gradient rows are given.
  void (*sums_bits)(std::int64_t neurons, const GradientRows& rows, const SumsView& sums);

  // 64 samples of a level with learned wires: adds to sums[choices][stride] the sum over the samples of e * x, for
  // every candidate's value x and the gradient e of the input that chooses; through the picked gates, or where
  // `mixture` is given through those coefficients[neurons][4].
  void (*wire_sums_bits)(const WireView& wires, const std::uint8_t* gates, const float* mixture,
                         const std::uint64_t* pairs, const std::uint64_t* in, const GradientRows& rows, bool fresh,
                         float* sums);

  // Rows [begin, end) of a level of look-up tables: logits[rows][entries] -> the table of each row, and the
  // probabilities of its entries; either may be null.
  SelectionResult (*select_tables)(const float* logits, int entries, std::int64_t begin, std::int64_t end,
                                   const SelectionRule& rule, std::uint64_t* tables, float* probabilities);

  // Rows [begin, end): sums[rows][entries] -> gradient[rows][entries] of the logits.
  void (*table_gradient)(const float* logits, int entries, std::int64_t begin, std::int64_t end,
                         const SelectionRule& rule, const SumParts& sums, float* gradient);

  // 64 samples (words == 1) or 256 (words == 4) through a level of tables: in[inputs][words] -> out[neurons][words].
  // kept: of 64 samples the input words, [neurons][arity], unless null.
  void (*forward_tables)(int words, const TableView& level, const std::uint64_t* tables, const std::uint64_t* in,
                         std::uint64_t* out, std::uint64_t* kept);

  // 64 samples backwards through a level of tables, from the gradient rows of its neurons and their input words.
  void (*backward_tables)(const TableView& level, const TablesBackward& to, const std::uint64_t* kept,
                          const GradientRows& rows);

  // Trees, 64 samples (words == 1) or 256 (words == 4): in[inputs][words] -> out[kernels][windows][words].
  void (*forward_trees)(int words, const TreesView& trees, const std::uint64_t* in, std::uint64_t* out);

  // 64 samples backwards through trees: from the gradient rows of [kernels][windows] to those of the inputs, added to
  // in_rows (which has a row -1 for wires that read nothing; null where nobody needs them), and the sums of all gates,
  // added to sums[gates][4], floor by floor. scratch: [2^(depth + 1)][8 windows][64].
  void (*backward_trees)(const TreesView& trees, const std::uint64_t* in, const GradientRows& rows, float* in_rows,
                         float* scratch, float* sums);

  // 16 samples through a level of mixtures: in[inputs][16], coefficients[neurons][4] -> out[neurons][16].
  void (*forward_floats)(const LevelView& level, const float* coefficients, const float* in, float* out);

  // The sum of `count` rows of 16 floats -> sums[16].
  void (*sum_rows)(const float* rows, std::int64_t count, float* sums);

  // Rows of 16 floats that are zeros and ones -> a bit each, and back: `count` rows, listed[count] unless that is null.
  void (*pack_rows)(const float* rows, std::int64_t count, std::uint16_t* bits);
  void (*unpack_rows)(const std::uint16_t* bits, const std::int32_t* listed, std::int64_t count, float* rows);

  // The inputs of neurons that are mixtures of candidates by weights[choices][candidates] -> mixed[2 * neurons][16].
  void (*mix_wires)(const WireView& wires, const float* weights, const float* in, float* mixed);

  // The gradients of such mixtures, edges[2 * neurons][16], by their weights added to those of the candidates:
  // below[inputs][16], with a row -1 for wires that read nothing.
  void (*unmix_wires)(const WireView& wires, const float* weights, const float* edges, float* below);

  // Backwards through one level of mixtures, from the gradient rows (of 16 floats) of its neurons. The gradients of
  // their wires are written to edges[2 * neurons][16] and added to below[inputs][16], which has a row -1 for wires that
  // read nothing; their sums are added to sums[rows][4]. Each of the three may be null.
  void (*backward_floats)(const LevelView& level, const float* coefficients, const float* in, const GradientRows& rows,
                          float* edges, float* below, float* sums);

  // The same two for a level whose gates are chosen for each sample apart; `sample` is the number of the tile's first
  // one in its batch. Backwards, sums[rows][16] get the gradients of the logits; by_mixture: the inputs get theirs
  // through the mixture of gates, also where one was picked.
  void (*forward_sampled)(const LevelView& level, const RaceView& race, const SelectionRule& rule, std::int64_t sample,
                          const float* in, float* out);
  void (*backward_sampled)(const LevelView& level, const RaceView& race, const SelectionRule& rule, std::int64_t sample,
                           const float* in, const GradientRows& rows, bool by_mixture, float* below, float* sums);

  // Rows [begin, end) of such a level: from logits[rows][16] to its race.
  void (*race_odds)(const float* logits, std::int64_t begin, std::int64_t end, const RaceOdds& odds);

  // As wire_sums_bits, from the edges of a level.
  void (*wire_sums_floats)(const WireView& wires, const float* in, const float* edges, float* sums);

  // One tile of rows <= lanes * 64 images through a circuit, lanes 1, 8, 16 or 32 -> scores[rows][classes] or
  // winners[rows] (ties to the lowest class), whichever is not null. slots: [slots][lanes] words, aligned to 64 bytes.
  void (*run_tile)(const CircuitView& circuit, const ImagesView& images, std::size_t lanes, std::uint64_t* slots,
                   std::int32_t* scores, std::int64_t* winners);
};

// What the processor has beyond its instruction set's name.
struct Processor {
  bool avx2 = false, avx512 = false;
  bool bit_shuffle = false;  // AVX512_BITALG: a bit of a word for each byte that numbers it, in one instruction
  bool fast_gather = true;   // AMD's gather instructions are slower than loads one by one
};
const Processor& processor();

// The best kernels this machine runs; the environment variable HARDWIRE_ISA asks for others by name. Throws an Error if
// there are none of that name, or this machine cannot run them.
const Kernels& kernels();

const Kernels& kernels_baseline();
#ifdef HARDWIRE_X86_64
const Kernels& kernels_avx2();
const Kernels& kernels_avx512();
#endif

}  // namespace hardwire
