#include "stack.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "error.hpp"
#include "gate_table.hpp"

namespace hardwire {

namespace {

std::int64_t round_up(std::int64_t count, std::int64_t to) { return (count + to - 1) / to * to; }

std::vector<std::int32_t> list_inputs_read(const Level& level, const std::vector<Step>& steps) {
  std::vector<bool> is_read(level.inputs, false);
  for (std::int32_t input : level.wires)
    if (input >= 0) is_read[input] = true;
  for (const Step& step : steps)
    for (const Source& source : step.sources)
      if (source.step < 0) std::fill(is_read.begin() + source.begin, is_read.begin() + source.end, true);
  std::vector<std::int32_t> inputs;
  for (std::int64_t i = 0; i < level.inputs; ++i)
    if (is_read[i]) inputs.push_back(static_cast<std::int32_t>(i));
  return inputs;
}

void check_steps(const std::vector<Level>& levels, const std::vector<Step>& steps) {
  for (std::size_t s = 0; s < steps.size(); ++s) {
    const auto& [number, sources, kept, last] = steps[s];
    if (number < 0 || number >= std::int64_t(levels.size())) throw Error("a step names a level that does not exist");
    std::int64_t given = 0;
    for (const Source& source : sources) {
      if (source.step < -1 || source.step >= std::int64_t(s)) throw Error("a step reads one that is not before it");
      const std::int64_t there =
          source.step < 0 ? levels[steps[0].number].inputs : levels[steps[source.step].number].neurons;
      if (source.begin < 0 || source.end > there || source.begin >= source.end)
        throw Error("a step reads values that do not exist");
      given += source.end - source.begin;
    }
    if (sources.empty()) given = s ? levels[steps[s - 1].number].neurons : levels[number].inputs;
    if (given != levels[number].inputs) throw Error("a step reads another number of values than its level");
  }
}

// Says which steps are sources, and which are the last of theirs; outputs(number): how many values one makes.
template <class Outputs>
void finish_steps(std::vector<Step>& steps, std::size_t numbers, const Outputs& outputs) {
  for (const Step& step : steps)
    for (const Source& source : step.sources)
      if (source.step >= 0) steps[source.step].kept = true;
  std::vector<bool> seen(numbers, false);
  for (std::int64_t s = std::int64_t(steps.size()); s-- > 0;) {
    steps[s].last = !seen[steps[s].number];
    seen[steps[s].number] = true;
    if (s && steps[s].sources.empty() && steps[s - 1].kept) steps[s].sources = {{s - 1, 0, outputs(steps[s - 1].number)}};
  }
}

}  // namespace

Readers::Readers(std::int64_t inputs, std::int64_t neurons, const std::int32_t* wires) : offsets(inputs + 1, 0) {
  const auto each = [&](const auto& visit) {  // in rising order of edges
    for (std::int64_t j = 0; j < neurons; ++j)
      for (int side = 0; side < 2; ++side) {
        const std::int32_t input = wires[side * neurons + j];
        if (input >= 0) visit(input, 2 * j + side);
      }
  };
  if (2 * neurons > std::int64_t(std::numeric_limits<std::uint32_t>::max()))
    throw Error("a level with " + std::to_string(2 * neurons) + " wires is too large; use fewer neurons");
  each([&](std::int32_t input, std::int64_t) { ++offsets[input + 1]; });
  for (std::int64_t i = 0; i < inputs; ++i) offsets[i + 1] += offsets[i];
  edges.resize(offsets[inputs]);
  std::vector<std::int64_t> next(offsets.begin(), offsets.end() - 1);
  each([&](std::int32_t input, std::int64_t edge) { edges[next[input]++] = static_cast<std::uint32_t>(edge); });
}

Level::Level(const LevelData& data)
    : inputs(data.inputs),
      neurons(data.neurons),
      rows(data.rows),
      candidates(data.candidates),
      width(candidates ? round_up(candidates, kLanes) : 1),
      gate(data.gate),
      maximum(data.maximum),
      arity(data.arity),
      function(data.function),
      table(data.table) {
  if (arity < kLeastArity || arity > kMostArity || (function == Function::kGates && arity != 2))
    throw Error("a neuron of " + std::to_string(arity) + " inputs is none that this engine knows");
  if (inputs < 1 || neurons < 1) throw Error("a level needs an input and a neuron");
  if (gate < -1 || gate >= kGates) throw Error("gate " + std::to_string(gate) + " does not exist");
  const std::int64_t given = candidates ? candidates : 1;
  wires.assign(arity * neurons * width, -1);
  for (std::int64_t i = 0; i < arity * neurons; ++i)
    for (std::int64_t k = 0; k < given; ++k) {
      const std::int32_t input = data.wires[i * given + k];
      if (input < -1 || input >= inputs) throw Error("bad wiring: it names an input that does not exist");
      wires[i * width + k] = input;
    }
  if (!data.row_of) return;
  row_of.assign(data.row_of, data.row_of + neurons);
  for (std::int32_t row : row_of)
    if (row < 0 || row >= rows) throw Error("a neuron names a row of parameters that does not exist");
}

const Readers& Level::readers() const {
  if (!readers_) readers_ = std::make_unique<Readers>(inputs, neurons, wires.data());
  return *readers_;
}

// The runs, from the steps; false if a step inside of trees is a source or has some.
bool Stack::group_runs() {
  std::vector<std::int64_t> stage_of(levels.size(), -1), run_of(steps.size(), -1);
  for (std::size_t s = 0; s < stages.size(); ++s) stage_of[stages[s].level] = std::int64_t(s);
  for (std::size_t i = 0; i < steps.size();) {
    const std::int64_t number = stage_of[steps[i].number];
    if (number < 0) return false;
    Step run = {number, steps[i].sources};
    for (Source& source : run.sources) {
      if (source.step < 0) continue;
      source.step = run_of[source.step];
      if (source.step < 0) return false;
    }
    for (std::int64_t inside = 1; inside < stages[number].levels; ++inside) {
      if (i + inside >= steps.size() || steps[i + inside].number != steps[i].number + inside) return false;
      if (!steps[i + inside].sources.empty()) return false;  // a kept step has a reader with sources
    }
    i += stages[number].levels;
    run_of[i - 1] = std::int64_t(runs.size());
    runs.push_back(std::move(run));
  }
  finish_steps(runs, stages.size(), [&](std::int64_t stage) { return stages[stage].outputs; });
  return true;
}

Stack::Stack(const std::vector<LevelData>& data, bool fuse, std::vector<Step> given) : steps(std::move(given)) {
  if (data.empty()) throw Error("a stack needs a level");
  levels.reserve(data.size());
  for (const LevelData& level : data) levels.emplace_back(level);
  const bool whole = steps.empty();  // each level once
  for (std::int64_t l = 0; whole && l < std::int64_t(levels.size()); ++l) steps.push_back({l, {}});
  check_steps(levels, steps);
  finish_steps(steps, levels.size(), [&](std::int64_t level) { return levels[level].neurons; });
  const Level& first = levels[steps.front().number];
  inputs = first.inputs;
  inputs_read = list_inputs_read(first, steps);
  outputs = levels[steps.back().number].neurons;
  neurons = 0;
  for (const Step& step : steps) neurons += levels[step.number].neurons;
  std::int64_t rows = 0;
  for (Level& level : levels) {
    level.sum_start = rows;
    if (level.chooses_gates()) rows += level.rows;
  }
  sums = round_up(std::max<std::int64_t>(rows * kTerms, 1), kLanes);  // sums of wires are read as whole vectors
  cleared = sums;
  for (const bool shared : {true, false})  // those of neurons that share rows first, since they are cleared
    for (Level& level : levels) {
      if (shared == level.row_of.empty()) continue;
      if (level.chooses_wires()) {
        level.wire_sum_start = sums;
        sums += level.wire_choices() * level.width;
      }
      if (level.chooses_entries()) {
        level.entry_sum_start = sums;
        sums = round_up(sums + level.rows * level.entries(), kLanes);
      }
      if (shared) cleared = sums;
    }
  do {
    stages.clear();
    runs.clear();
    for (std::int64_t l = 0; l < std::int64_t(levels.size()); l += stages.back().levels) {
      std::unique_ptr<Trees> trees = fuse ? find_trees(levels, l) : nullptr;
      const std::int64_t count = trees ? trees->levels : 1;
      stages.push_back({l, count, levels[l].inputs, levels[l + count - 1].neurons, std::move(trees)});
    }
  } while (!group_runs() && std::exchange(fuse, false));
}

}  // namespace hardwire
