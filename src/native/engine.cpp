#include "engine.hpp"

#include "threads.hpp"

namespace hardwire {

namespace {

constexpr std::int64_t kMaxParts = 16;                     // of the sums; the most threads of a backward pass
constexpr std::int64_t kMaxSums = std::int64_t(64) << 20;  // floats of all parts, but for
constexpr std::int64_t kMinParts = 4;                      // that many

std::int64_t tile_count(std::int64_t batch, int samples) { return (batch + samples - 1) / samples; }

std::int64_t part_begin(std::int64_t part, std::int64_t parts, std::int64_t tiles) { return part * tiles / parts; }

// How many parts in front one thread adds up as it goes, which spares the memory of all but one. It comes to the same
// bits where parts are single tiles, and a tile adds a single number to each sum.
std::int64_t parts_in_front(const Stack& stack, bool single_tiles, std::int64_t parts, int threads) {
  bool once = single_tiles && stack.steps.size() == stack.levels.size();
  for (const Level& level : stack.levels) once &= level.row_of.empty();
  for (const Stage& stage : stack.stages) once &= !stage.trees;
  const std::int64_t workers = std::max(threads, 1);
  return once ? (parts + workers - 1) / workers : 1;
}

// Who reads the inputs of each level with fixed wires: made on first use, so before threads start.
void make_readers(const Pass& pass, bool to_input) {
  const Stack& stack = pass.stack;
  bool below = to_input || stack.steps.size() > stack.levels.size();
  for (const Stage& stage : stack.stages) {
    const Level& level = stack.levels[stage.level];
    if (below && !stage.trees && !level.has_tables()) view_of(level, pass.choice.levels[stage.level], true);
    for (std::int64_t l = stage.level; l < stage.level + stage.levels; ++l) below |= pass.learns(l);
  }
}

}  // namespace

void Engine::reserve_scratch(int threads) const {
  while (static_cast<int>(scratch_.size()) < std::max(threads, 1)) scratch_.emplace_back();
}

std::int64_t Engine::made_size(std::int64_t batch) const { return tile_count(batch, kTileSamples) * stack_.neurons; }

void Engine::forward(const Choice& choice, const Samples& samples, const Head& head, int threads, float* out,
                     std::uint16_t* made) const {
  std::lock_guard<std::mutex> lock(busy_);
  reserve_scratch(threads);
  const Pass pass = {stack_, choice, samples, made};
  const int width = choice.packed ? kForwardSamples : kTileSamples;
  parallel_for(threads, tile_count(samples.batch, width), [&](std::int64_t tile, int worker) {
    (choice.packed ? packed_forward : floats_forward)(pass, head, tile, scratch_[worker], out);
  });
}

void Engine::backward(const Choice& choice, const Samples& samples, const Head& head, const float* out_gradient,
                      const Logits& logits, const std::vector<LevelRule>& rules, int threads,
                      const LogitGradients& gradients, float* in_gradient, std::uint16_t* made) const {
  std::lock_guard<std::mutex> lock(busy_);
  reserve_scratch(threads);
  std::vector<std::int32_t> row_of;
  for (std::int64_t j = 0; head.classes && j < stack_.outputs; ++j)
    row_of.push_back(static_cast<std::int32_t>(j / (stack_.outputs / head.classes)));
  const Top top = {out_gradient, samples.batch, head.columns(stack_), head.temperature,
                   head.classes ? row_of.data() : nullptr};
  const Mixtures mixtures = mix_gates(stack_, choice, logits, rules, threads);
  const Pass pass = {stack_, choice, samples, made, &rules, &mixtures, &gradients};
  if (choice.packed) make_readers(pass, in_gradient != nullptr);
  const std::int64_t tiles = tile_count(samples.batch, choice.packed ? kWordSamples : kTileSamples);
  const std::int64_t stride = stack_.sums + choice.sampled_sums;
  const std::int64_t most = std::clamp(kMaxSums / stride, kMinParts, kMaxParts), parts = std::min(tiles, most);
  const std::int64_t front = parts_in_front(stack_, choice.packed && parts == tiles, parts, threads);
  const std::int64_t kept = parts - front + 1;
  float* sums = sums_.get<float>(kept * stride);
  // to clear what is then written is a tenth of a pass with learned wires
  const std::int64_t cleared = choice.packed ? stack_.cleared : stride;
  parallel_for(threads, kept, [&](std::int64_t task, int worker) {
    float* own = sums + task * stride;
    std::memset(own, 0, cleared * sizeof(float));
    const std::int64_t first = task ? part_begin(task + front - 1, parts, tiles) : 0;
    const std::int64_t end = part_begin(task + front, parts, tiles);
    for (std::int64_t tile = first; tile < end; ++tile)
      (choice.packed ? packed_backward : floats_backward)(pass, top, tile, scratch_[worker],
                                                          {own, choice.packed && tile == first}, in_gradient);
  });
  logit_gradients(stack_, choice, logits, rules, sums, kept, threads, gradients);
}

}  // namespace hardwire
