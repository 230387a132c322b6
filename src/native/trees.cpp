// Recognises convolutions: floors of trees whose gates share rows of parameters over many windows, and pooling above.
#include <algorithm>

#include "gate_table.hpp"
#include "stack.hpp"

namespace hardwire {

namespace {

using Places = std::vector<std::vector<std::int32_t>>;  // the places of each window of a kernel, in order

bool is_or(const Level& level) {
  constexpr bool kOr[] = {false, true, true, true};
  return level.function == Function::kGates && level.gate >= 0 && std::equal(std::begin(kOr), std::end(kOr), kTruth[level.gate]);
}

// How many windows the gates of a level share their rows over, each row's neurons side by side; 0 if they do not.
std::int64_t shared_windows(const Level& level) {
  if (!level.chooses_gates() || level.chooses_wires() || level.row_of.empty() || level.neurons % level.rows) return 0;
  const std::int64_t windows = level.neurons / level.rows;
  for (std::int64_t j = 0; j < level.neurons; ++j)
    if (level.row_of[j] != j / windows) return 0;
  return windows;
}

// Whether gate g of a window reads gates 2g and 2g + 1 of the level below at the same window.
bool is_floor(const Level& level, const Level& below, std::int64_t windows) {
  if (shared_windows(level) != windows || below.rows != 2 * level.rows) return false;
  for (std::int64_t row = 0; row < level.rows; ++row)
    for (int side = 0; side < 2; ++side)
      for (std::int64_t w = 0; w < windows; ++w)
        if (level.wires[side * level.neurons + row * windows + w] != (2 * row + side) * windows + w) return false;
  return true;
}

// Adds a level of pooling to the places of each window; false if it is none, or not the same for all kernels.
bool add_pooling(const Level& level, std::int64_t kernels, Places& places) {
  if (!is_or(level) || !level.maximum || level.chooses_wires() || level.neurons % kernels) return false;
  const std::int64_t below = places.size(), windows = level.neurons / kernels;
  Places joined(windows);
  for (int side = 0; side < 2; ++side)
    for (std::int64_t j = 0; j < level.neurons; ++j) {
      const std::int32_t wire = level.wires[side * level.neurons + j];
      const std::int32_t here = level.wires[side * level.neurons + j % windows];  // of the first kernel
      if (wire < 0 ? here >= 0 || side == 0 : here < 0 || wire != here + j / windows * below) return false;
      if (j >= windows || wire < 0) continue;
      if (wire >= below) return false;
      joined[j].insert(joined[j].end(), places[wire].begin(), places[wire].end());
      if (joined[j].size() > std::size_t(kMostPlaces)) return false;
    }
  places = joined;
  return true;
}

bool equally_many(const Places& places) {
  return std::all_of(places.begin(), places.end(), [&](const auto& some) { return some.size() == places[0].size(); });
}

// [kernels][places][leaves][stride]: what the leaves read.
std::vector<std::int32_t> make_sources(const Level& first, const Trees& trees, const Places& places) {
  const std::int64_t leaves = std::int64_t(1) << trees.depth, gates = leaves / 2, stride = trees.stride();
  const std::int64_t positions = first.neurons / first.rows;
  std::vector<std::int32_t> sources(trees.kernels * trees.places * leaves * stride, -1);
  std::int32_t* source = sources.data();
  for (std::int64_t kernel = 0; kernel < trees.kernels; ++kernel)
    for (std::int64_t place = 0; place < trees.places; ++place)
      for (std::int64_t leaf = 0; leaf < leaves; ++leaf, source += stride) {
        const std::int32_t* wires =
            first.wires.data() + leaf % 2 * first.neurons + (kernel * gates + leaf / 2) * positions;
        for (std::int64_t w = 0; w < trees.windows; ++w) source[w] = wires[places[w][place]];
      }
  return sources;
}

}  // namespace

std::unique_ptr<Trees> find_trees(const std::vector<Level>& levels, std::size_t first) {
  const std::int64_t positions = shared_windows(levels[first]);
  if (positions < 2) return nullptr;
  std::size_t last = first;
  while (last + 1 < levels.size() && last + 1 - first < kMostDepth &&
         is_floor(levels[last + 1], levels[last], positions))
    ++last;
  auto trees = std::make_unique<Trees>();
  trees->depth = static_cast<int>(last + 1 - first);
  trees->kernels = levels[last].rows;
  for (std::size_t l = last + 1; l-- > first;) trees->sum_starts.push_back(levels[l].sum_start);
  Places places(positions);
  for (std::int64_t w = 0; w < positions; ++w) places[w] = {static_cast<std::int32_t>(w)};
  Places pooled = places;
  for (std::size_t l = last + 1; l < levels.size() && add_pooling(levels[l], trees->kernels, places); ++l)
    if (equally_many(places)) pooled = places, last = l;
  trees->levels = static_cast<std::int64_t>(last + 1 - first);
  trees->windows = static_cast<std::int64_t>(pooled.size());
  trees->places = static_cast<std::int64_t>(pooled[0].size());
  trees->sources = make_sources(levels[first], *trees, pooled);
  return trees;
}

}  // namespace hardwire
