// From the logits of a stack to what every neuron chose, and from the sums over a batch back to gradients of logits.
#pragma once
#include <cstdint>
#include <vector>

#include "stack.hpp"

namespace hardwire {

// What the choices of a level came to.
struct LevelChoice {
  std::vector<std::uint8_t> gates;  // [neurons], on the packed path; in a stage of trees [rows]
  std::vector<float> coefficients;  // [neurons][4], on the float path
  std::vector<std::uint64_t> tables;  // [rows], of look-up tables
  std::vector<std::int32_t> wires;    // [arity][neurons], where they are learned and picked
  std::vector<float> weights;         // [2 * rows][candidates], where they are learned and mixed
  Readers readers;                  // of picked wires, on the packed path

  // Where gates are chosen for each sample apart: their race as RaceView has it, by what rule, and where its sums begin
  // behind those of the stack.
  bool sampled = false;
  std::vector<float> upto, waits, rest;
  SelectionRule rule;
  std::int64_t sampled_sums = 0;

  RaceOdds odds() { return {upto.data(), waits.data(), rest.data()}; }
  RaceView race() const { return {upto.data(), waits.data(), rest.data()}; }
};

struct Choice {
  bool packed = false;
  std::vector<LevelChoice> levels;
  std::vector<std::vector<std::uint8_t>> tree_gates;  // of each stage, as TreesView has them
  std::int64_t sampled_sums = 0;                      // floats that levels of sampled gates add up, beside the stack's
};

// How one level chooses. A gradient passes a gate that was picked as that gate has it, or by mixture, as the mixture of
// gates would have it: what the logits of wires learn from, or all that reaches the inputs, these logits included.
struct LevelRule {
  SelectionRule gates, wires;
  bool wires_by_mixture, inputs_by_mixture;
};

// The logits of a level, or their gradients: of gates [rows][16] or entries [rows][2^arity], and of wires
// [arity * rows][candidates]; null where there are none, or where no gradient is wanted.
template <class Float>
struct LevelLogits {
  Float *functions, *wires;
};
using Logits = std::vector<LevelLogits<const float>>;
using LogitGradients = std::vector<LevelLogits<float>>;

// The means of max softmax(logits) over the choices of a level; 0 where it has none.
struct Confidences {
  double functions = 0, wires = 0;
  bool finite = true;
};

// packed: the choices are for the packed path, which takes hard rules only. readers_from:
// the first level of which its backward pass asks who reads whom.
std::vector<Confidences> select(const Stack& stack, const Logits& logits, const std::vector<LevelRule>& rules,
                                bool packed, std::int64_t readers_from, int threads, Choice& choice);

// The mixtures of gates by which gradients pass those that were picked: coefficients[neurons][4] of each level (of
// tables the probabilities of entries, [rows][2^arity]), or of each stage of trees as TreesView has them; empty where
// they pass as the picked ones have it.
struct Mixtures {
  std::vector<std::vector<float>> levels, trees;

  const float* of_level(std::int64_t l) const { return levels[l].empty() ? nullptr : levels[l].data(); }
  const float* of_trees(std::size_t s) const { return trees[s].empty() ? nullptr : trees[s].data(); }
};
Mixtures mix_gates(const Stack& stack, const Choice& choice, const Logits& logits, const std::vector<LevelRule>& rules,
                   int threads);

// sums: `parts` times the floats of stack and choice.
void logit_gradients(const Stack& stack, const Choice& choice, const Logits& logits,
                     const std::vector<LevelRule>& rules, const float* sums, std::int64_t parts, int threads,
                     const LogitGradients& gradients);

// How a level reads in a pass with these choices; with_edges: and (packed) who reads its inputs.
LevelView view_of(const Level& level, const LevelChoice& choice, bool with_edges);
TableView table_view_of(const Level& level, const LevelChoice& choice);

}  // namespace hardwire
