#include "choice.hpp"

#include <algorithm>

#include "buffer.hpp"
#include "gate_table.hpp"
#include "threads.hpp"

namespace hardwire {

namespace {

constexpr std::int64_t kChunk = 1024;  // choices of a task

// Choices [begin, end) of a level: of functions (gates, or the entries of tables), or of wires.
struct Chunk {
  std::int64_t level;
  bool wires;
  std::int64_t begin, end;
};

std::vector<Chunk> chunks_of(const Stack& stack) {
  std::vector<Chunk> chunks;
  for (std::int64_t l = 0; l < std::int64_t(stack.levels.size()); ++l) {
    const Level& level = stack.levels[l];
    const auto cut = [&](bool wires, std::int64_t count) {
      for (std::int64_t begin = 0; begin < count; begin += kChunk)
        chunks.push_back({l, wires, begin, std::min(begin + kChunk, count)});
    };
    if (level.chooses_gates() || level.chooses_entries()) cut(false, level.rows);
    if (level.chooses_wires()) cut(true, level.wire_choices());
  }
  return chunks;
}

// The rule of the weights that the backward pass differentiates.
SelectionRule surrogate_rule(SelectionRule rule) {
  rule.noisy = rule.noisy && !rule.clean_surrogate;
  return rule;
}

// The kernels' scratch for choices among wires: two blocks of logits.
struct WireScratch {
  Buffer buffer;
  float* operator()(const Level& level) { return buffer.get<float>(2 * level.width * kLanes); }
};

template <class T>
std::vector<T> of_neurons(const Level& level, const std::vector<T>& of_rows, std::int64_t each) {
  std::vector<T> result(level.neurons * each);
  for (std::int64_t j = 0; j < level.neurons; ++j)
    std::copy_n(of_rows.begin() + level.row_of[j] * each, each, result.begin() + j * each);
  return result;
}

template <class T>
void share(const Level& level, std::int64_t each, std::vector<T>& values) {
  if (!level.row_of.empty() && !values.empty()) values = of_neurons(level, values, each);
}

// Picked wires, from the number of the candidate that each choice picked.
std::vector<std::int32_t> picked_wires(const Level& level, const std::vector<std::int32_t>& picked) {
  std::vector<std::int32_t> wires(level.arity * level.neurons);
  for (int side = 0; side < level.arity; ++side)
    for (std::int64_t j = 0; j < level.neurons; ++j) {
      const std::int64_t row = level.row_of.empty() ? j : level.row_of[j], i = side * level.neurons + j;
      wires[i] = level.wires[i * level.width + picked[side * level.rows + row]];
    }
  return wires;
}

void fix_gates(const Level& level, bool packed, LevelChoice& choice) {
  if (packed) {
    choice.gates.assign(level.neurons, static_cast<std::uint8_t>(level.gate));
    return;
  }
  choice.coefficients.resize(level.neurons * kTerms);
  for (std::int64_t j = 0; j < level.neurons; ++j)
    std::copy_n(kCoefficients[level.gate], kTerms, choice.coefficients.begin() + j * kTerms);
}

// What the gates of a stage of trees have, `each` of it, node by node; rows_of(l): by the rows of a level.
template <class T, class Rows>
std::vector<T> of_nodes(const Stage& stage, std::int64_t each, const Rows& rows_of) {
  const Trees& trees = *stage.trees;
  const std::int64_t leaves = std::int64_t(1) << trees.depth;
  std::vector<T> result(trees.kernels * leaves * each);
  for (int floor = 0; floor < trees.depth; ++floor) {
    const std::vector<T>& rows = rows_of(stage.level + trees.depth - 1 - floor);
    const std::int64_t nodes = std::int64_t(1) << floor;
    for (std::int64_t kernel = 0; kernel < trees.kernels; ++kernel)
      std::copy_n(rows.begin() + kernel * nodes * each, nodes * each,
                  result.begin() + (kernel * leaves + nodes) * each);
  }
  return result;
}

// The coefficients of a stage of trees, node by node: mixed on some floors and, where these are, picked on the others.
std::vector<float> mixed_nodes(const Stage& stage, const std::vector<LevelChoice>& choices,
                               const std::vector<std::vector<float>>& mixtures) {
  const auto first = mixtures.begin() + stage.level;
  std::vector<std::vector<float>> floors(first, first + stage.trees->depth);
  if (std::all_of(floors.begin(), floors.end(), [](const auto& rows) { return rows.empty(); })) return {};
  for (std::size_t floor = 0; floor < floors.size(); ++floor) {
    std::vector<float>& rows = floors[floor];
    if (!rows.empty()) continue;
    for (const std::uint8_t gate : choices[stage.level + floor].gates)
      rows.insert(rows.end(), kCoefficients[gate], kCoefficients[gate] + kTerms);
  }
  return of_nodes<float>(stage, kTerms,
                         [&](std::int64_t l) -> const std::vector<float>& { return floors[l - stage.level]; });
}

// What follows from the picks of a level that is a stage of its own.
void finish_level(const Level& level, bool packed, bool readers, const std::vector<std::int32_t>& picked,
                  LevelChoice& choice) {
  if (level.function == Function::kFixedTable) choice.tables.assign(level.rows, level.table);
  if (!level.has_tables() && !level.chooses_gates()) fix_gates(level, packed, choice);
  share(level, 1, choice.gates);
  share(level, kTerms, choice.coefficients);
  if (!choice.weights.empty()) {  // the inputs are mixtures, two for each neuron
    choice.wires.resize(2 * level.neurons);
    for (std::int64_t i = 0; i < 2 * level.neurons; ++i)
      choice.wires[i] = static_cast<std::int32_t>(2 * (i % level.neurons) + i / level.neurons);
  }
  if (picked.empty()) return;
  choice.wires = picked_wires(level, picked);
  if (readers && !level.has_tables()) choice.readers = Readers(level.inputs, level.neurons, choice.wires.data());
}

}  // namespace

std::vector<Confidences> select(const Stack& stack, const Logits& logits, const std::vector<LevelRule>& rules,
                                bool packed, std::int64_t readers_from, int threads, Choice& choice) {
  choice.packed = packed;
  choice.levels.resize(stack.levels.size());
  choice.tree_gates.resize(stack.stages.size());
  std::vector<std::vector<std::int32_t>> picked(stack.levels.size());
  for (std::size_t l = 0; l < stack.levels.size(); ++l) {
    const Level& level = stack.levels[l];
    LevelChoice& own = choice.levels[l];
    if (level.chooses_gates() && rules[l].gates.per_sample) {
      own.sampled = true;
      for (auto* odds : {&own.upto, &own.waits, &own.rest}) odds->resize(level.rows * kGates);
      own.rule = rules[l].gates;
      own.sampled_sums = choice.sampled_sums;
      choice.sampled_sums += level.rows * kGates;
    } else if (level.chooses_gates()) {
      packed ? own.gates.resize(level.rows) : own.coefficients.resize(level.rows * kTerms);
    }
    if (level.chooses_entries()) own.tables.resize(level.rows);
    if (!level.chooses_wires()) continue;
    rules[l].wires.hard ? picked[l].resize(level.wire_choices())
                        : own.weights.resize(level.wire_choices() * level.candidates);
  }
  const std::vector<Chunk> chunks = chunks_of(stack);
  std::vector<SelectionResult> results(chunks.size());
  const Kernels& kernel = kernels();
  parallel_for(threads, chunks.size(), [&](std::int64_t task, int) {
    const auto& [l, wires, begin, end] = chunks[task];
    const Level& level = stack.levels[l];
    LevelChoice& own = choice.levels[l];
    const auto given = [](auto& values) { return values.empty() ? nullptr : values.data(); };
    if (wires) {
      WireScratch scratch;
      results[task] = kernel.select_wires(logits[l].wires, level.candidates, begin, end, rules[l].wires, scratch(level),
                                          given(picked[l]), given(own.weights));
      return;
    }
    if (level.chooses_entries()) {
      results[task] = kernel.select_tables(logits[l].functions, level.entries(), begin, end, rules[l].gates,
                                           own.tables.data(), nullptr);
      return;
    }
    results[task] =
        kernel.select_gates(logits[l].functions, begin, end, rules[l].gates, given(own.gates), given(own.coefficients));
    if (own.sampled) kernel.race_odds(logits[l].functions, begin, end, own.odds());
  });
  std::vector<std::int64_t> unfinished;
  for (std::size_t s = 0; s < stack.stages.size(); ++s) {
    const Stage& stage = stack.stages[s];
    if (packed && stage.trees)
      choice.tree_gates[s] = of_nodes<std::uint8_t>(
          stage, 1, [&](std::int64_t l) -> const std::vector<std::uint8_t>& { return choice.levels[l].gates; });
    else
      for (std::int64_t l = stage.level; l < stage.level + stage.levels; ++l)
        if (!stack.levels[l].plain()) unfinished.push_back(l);
  }
  parallel_for(threads, unfinished.size(), [&](std::int64_t task, int) {
    const std::int64_t l = unfinished[task];
    finish_level(stack.levels[l], packed, packed && l >= readers_from, picked[l], choice.levels[l]);
  });
  std::vector<Confidences> confidences(stack.levels.size());
  for (std::size_t task = 0; task < chunks.size(); ++task) {
    Confidences& own = confidences[chunks[task].level];
    (chunks[task].wires ? own.wires : own.functions) += results[task].confidence;
    own.finite &= results[task].finite;
  }
  for (std::size_t l = 0; l < confidences.size(); ++l) {
    const Level& level = stack.levels[l];
    const auto rows = static_cast<double>(std::max<std::int64_t>(level.rows, 1));
    confidences[l].functions /= level.chooses_entries() ? rows * level.entries() : rows;
    confidences[l].wires /= level.arity * rows;
  }
  return confidences;
}

Mixtures mix_gates(const Stack& stack, const Choice& choice, const Logits& logits, const std::vector<LevelRule>& rules,
                   int threads) {
  Mixtures mixtures;
  mixtures.levels.resize(stack.levels.size());
  mixtures.trees.resize(stack.stages.size());
  bool any = false;
  for (std::size_t l = 0; l < stack.levels.size(); ++l) {
    const Level& level = stack.levels[l];
    if (!(level.chooses_gates() || level.chooses_entries()) || choice.levels[l].sampled) continue;
    if (!rules[l].inputs_by_mixture && !(rules[l].wires_by_mixture && level.chooses_wires())) continue;
    mixtures.levels[l].resize(level.rows * (level.chooses_entries() ? level.entries() : kTerms));
    any = true;
  }
  if (!any) return mixtures;
  const std::vector<Chunk> chunks = chunks_of(stack);
  parallel_for(threads, chunks.size(), [&](std::int64_t task, int) {
    const auto& [l, wires, begin, end] = chunks[task];
    if (wires || mixtures.levels[l].empty()) return;
    SelectionRule soft = surrogate_rule(rules[l].gates);
    soft.hard = soft.confidence = false;
    const Level& level = stack.levels[l];
    if (level.chooses_entries())
      kernels().select_tables(logits[l].functions, level.entries(), begin, end, soft, nullptr,
                              mixtures.levels[l].data());
    else
      kernels().select_gates(logits[l].functions, begin, end, soft, nullptr, mixtures.levels[l].data());
  });
  for (std::size_t s = 0; s < stack.stages.size(); ++s) {
    const Stage& stage = stack.stages[s];
    if (choice.packed && stage.trees) {
      mixtures.trees[s] = mixed_nodes(stage, choice.levels, mixtures.levels);
      continue;
    }
    for (std::int64_t l = stage.level; l < stage.level + stage.levels; ++l)
      if (!stack.levels[l].has_tables()) share(stack.levels[l], kTerms, mixtures.levels[l]);
  }
  return mixtures;
}

void logit_gradients(const Stack& stack, const Choice& choice, const Logits& logits,
                     const std::vector<LevelRule>& rules, const float* sums, std::int64_t parts, int threads,
                     const LogitGradients& gradients) {
  const std::vector<Chunk> chunks = chunks_of(stack);
  const std::int64_t stride = stack.sums + choice.sampled_sums;
  parallel_for(threads, chunks.size(), [&](std::int64_t task, int) {
    const auto& [l, wires, begin, end] = chunks[task];
    const Level& level = stack.levels[l];
    if (!(wires ? gradients[l].wires : gradients[l].functions)) return;  // frozen
    if (wires) {
      WireScratch scratch;
      kernels().wire_gradient(logits[l].wires, level.candidates, begin, end, surrogate_rule(rules[l].wires),
                              scratch(level), {sums + level.wire_sum_start, parts, stride}, level.width, gradients[l].wires);
    } else if (choice.levels[l].sampled) {
      const float* own = sums + stack.sums + choice.levels[l].sampled_sums;
      for (std::int64_t i = begin * kGates; i < end * kGates; ++i) {
        gradients[l].functions[i] = 0;
        for (std::int64_t part = 0; part < parts; ++part) gradients[l].functions[i] += own[part * stride + i];
      }
    } else if (level.chooses_entries()) {
      kernels().table_gradient(logits[l].functions, level.entries(), begin, end, surrogate_rule(rules[l].gates),
                               {sums + level.entry_sum_start, parts, stride}, gradients[l].functions);
    } else {
      kernels().gate_gradient(logits[l].functions, begin, end, surrogate_rule(rules[l].gates),
                              {sums + level.sum_start * kTerms, parts, stride}, gradients[l].functions);
    }
  });
}

LevelView view_of(const Level& level, const LevelChoice& choice, bool with_edges) {
  const std::int32_t* wires = choice.wires.empty() ? level.wires.data() : choice.wires.data();
  const Readers* readers = !with_edges ? nullptr : level.chooses_wires() ? &choice.readers : &level.readers();
  return {level.inputs,
          level.neurons,
          wires,
          wires + level.neurons,
          readers ? readers->offsets.data() : nullptr,
          readers ? readers->edges.data() : nullptr,
          level.row_numbers(),
          level.maximum};
}

TableView table_view_of(const Level& level, const LevelChoice& choice) {
  return {level.neurons, level.arity, choice.wires.empty() ? level.wires.data() : choice.wires.data(),
          level.row_numbers()};
}

}  // namespace hardwire
