// A stack of levels as the kernels want it: copies of the wires, who reads whom, and which levels are trees that one
// kernel can run. Nothing in here changes after it is built, but for what is built when it is first needed.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "kernels.hpp"

namespace hardwire {

// What the neurons of a level compute: two-input gates, chosen or fixed; tables whose entries are chosen; or one table.
enum class Function { kGates, kEntries, kFixedTable };

// A level as hardwire/engine/stack.py describes it.
struct LevelData {
  std::int64_t inputs, neurons;
  std::int64_t rows;           // of parameters; as many as neurons where each has its own
  std::int64_t candidates;     // of each wire; 0 where wires are fixed
  const std::int32_t* wires;   // [arity][neurons], or [arity][neurons][candidates]; -1 reads the constant 0
  const std::int32_t* row_of;  // [neurons], or null where each has its own
  int gate;                    // of all neurons, or -1 where each chooses
  bool maximum;                // how a gradient passes: see LevelView
  int arity = 2;
  Function function = Function::kGates;
  std::uint64_t table = 0;  // of all neurons, where the function is a fixed table
};

// The wires that each input feeds: edge 2 * neuron + side is a wire of a neuron.
struct Readers {
  std::vector<std::int64_t> offsets;
  std::vector<std::uint32_t> edges;

  Readers() = default;
  Readers(std::int64_t inputs, std::int64_t neurons, const std::int32_t* wires);  // wires: [2][neurons]
};

struct Level {
  explicit Level(const LevelData& data);

  std::int64_t inputs, neurons, rows, candidates, width;  // width: candidates padded to whole vectors, or 1
  std::vector<std::int32_t> wires;                        // [arity][neurons][width]
  std::vector<std::int32_t> row_of;                       // empty where each neuron has its own row
  int gate;
  bool maximum;
  int arity;
  Function function;
  std::uint64_t table;
  // Where its sums begin: counted in rows of gates, and in floats.
  std::int64_t sum_start = 0, wire_sum_start = 0, entry_sum_start = 0;

  bool chooses_gates() const { return function == Function::kGates && gate < 0; }
  bool chooses_entries() const { return function == Function::kEntries; }
  bool chooses_wires() const { return candidates > 0; }
  bool has_tables() const { return function != Function::kGates; }
  int entries() const { return 1 << arity; }
  std::int64_t wire_choices() const { return arity * rows; }
  bool plain() const { return chooses_gates() && !chooses_wires() && row_of.empty(); }
  const std::int32_t* row_numbers() const { return row_of.empty() ? nullptr : row_of.data(); }
  WireView wire_view() const { return {neurons, rows, candidates, width, wires.data(), row_numbers()}; }

  // Of fixed wires; built on first use, so ask for it before threads start.
  const Readers& readers() const;

 private:
  mutable std::unique_ptr<Readers> readers_;
};

// Levels that are a convolution of trees and its pooling.
struct Trees {
  int depth;
  std::int64_t levels, kernels, windows, places;
  std::vector<std::int32_t> sources;     // as TreesView has them
  std::vector<std::int64_t> sum_starts;  // likewise

  std::int64_t stride() const { return (windows + kWindows - 1) / kWindows * kWindows; }
};

// The trees that begin with this level, or null.
std::unique_ptr<Trees> find_trees(const std::vector<Level>& levels, std::size_t first);

// What runs at once: a level, or the levels of trees.
struct Stage {
  std::int64_t level, levels, inputs, outputs;
  std::unique_ptr<Trees> trees;  // null for a single level
};

// A part of what a step reads: values [begin, end) of an earlier step, or of the input where that is -1.
struct Source {
  std::int64_t step, begin, end;
};

// A level, or a stage, in the order of a pass; loops have several steps of one. Without sources it reads all that the
// step before makes, and nobody else does.
struct Step {
  std::int64_t number;  // of the level or the stage
  std::vector<Source> sources;
  bool kept = false;  // a source of a later step
  bool last = false;  // of its level or stage
};

struct Stack {
  // fuse: run trees as one; otherwise level by level, which is what they mean. steps: of levels; if there are none, each
  // level is one.
  Stack(const std::vector<LevelData>& data, bool fuse, std::vector<Step> steps = {});

  std::vector<Level> levels;
  std::vector<Stage> stages;
  std::vector<Step> steps;  // of levels,
  std::vector<Step> runs;   // and the same of stages
  std::vector<std::int32_t> inputs_read;  // by a wire of the first level, in rising order
  std::int64_t inputs, outputs, neurons;  // neurons: of all steps
  std::int64_t sums;                      // floats that a part of the batch adds up,
  std::int64_t cleared;                   // of which so many have to be zero before

 private:
  bool group_runs();
};

}  // namespace hardwire
