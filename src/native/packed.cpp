// The packed path: activations are bits, a word for 64 samples.
#include "gate_table.hpp"
#include "packing.hpp"
#include "tiles.hpp"

namespace hardwire {

namespace {

const Level& level_of(const Pass& pass, const Stage& stage) { return pass.stack.levels[stage.level]; }

const Stage& stage_of(const Pass& pass, std::size_t run) { return pass.stack.stages[pass.stack.runs[run].number]; }

TreesView trees_of(const Pass& pass, std::size_t run) {
  const std::size_t s = pass.stack.runs[run].number;
  const Stage& stage = pass.stack.stages[s];
  const Trees& trees = *stage.trees;
  return {trees.depth,
          stage.inputs,
          trees.kernels,
          trees.windows,
          trees.stride(),
          trees.places,
          trees.sources.data(),
          pass.choice.tree_gates[s].data(),
          pass.mixtures ? pass.mixtures->of_trees(s) : nullptr,
          trees.sum_starts.data()};
}

// Whether the way back reads what the stage itself has read, and not only the pairs that a level keeps.
bool keeps_input(const Pass& pass, const Stage& stage) { return stage.trees || level_of(pass, stage).chooses_wires(); }

// Where a run writes: the input of the next one as words, of its own where it is kept, else one of two that take turns.
std::uint64_t* output_of(const Pass& pass, std::size_t run, int words, Scratch& scratch) {
  const auto& runs = pass.stack.runs;
  const std::size_t next = run + 1, count = runs.size();
  if (scratch.values.size() < count + 2) scratch.values.resize(count + 2);
  const bool by_next = words == 1 && next < count && runs[next].sources.empty() && keeps_input(pass, stage_of(pass, next));
  const std::size_t own = runs[run].kept || by_next ? next : count + next % 2;
  return behind_zeros<std::uint64_t>(scratch.values[own], stage_of(pass, run).outputs * words);
}

// What a run with sources reads, side by side.
template <class Made>
std::uint64_t* gather(const Pass& pass, std::size_t run, int words, const Made& made, Scratch& scratch) {
  const std::size_t count = pass.stack.runs.size();
  if (scratch.gathered.size() < count + 1) scratch.gathered.resize(count + 1);
  const Stage& stage = stage_of(pass, run);
  Buffer& buffer = scratch.gathered[words == 1 && keeps_input(pass, stage) ? run : count];
  std::uint64_t* in = behind_zeros<std::uint64_t>(buffer, stage.inputs * words);
  gather_sources(pass.stack.runs[run].sources, words, made, in);
  return in;
}

bool learns(const Pass& pass, const Stage& stage) {
  for (std::int64_t l = stage.level; l < stage.level + stage.levels; ++l)
    if (pass.learns(l)) return true;
  return false;
}

// The first run that learns anything: below it a gradient is wanted for the input alone.
std::size_t lowest_learning(const Pass& pass) {
  std::size_t r = 0;
  while (r + 1 < pass.stack.runs.size() && !learns(pass, stage_of(pass, r))) ++r;
  return r;
}

// One tile on the way back.
class Backward {
 public:
  Backward(const Pass& pass, std::int64_t tile, Scratch& scratch, const Sums& sums, bool to_input)
      : pass_(pass),
        runs_(pass.stack.runs),
        begin_(tile * kWordSamples),
        scratch_(scratch),
        sums_(sums),
        to_input_(to_input),
        lowest_(lowest_learning(pass)),
        pool_(scratch.gradients, runs_.size(), kWordSamples) {}

  // -> the gradient rows of the input, if they are wanted.
  const float* run(const Top& top) {
    forward();
    GradientRows rows = top.fill(begin_, kWordSamples, scratch_);
    add_sums(runs_.size() - 1, rows);
    for (std::size_t s = runs_.size(); s-- > 0;) {
      if (s + 1 < runs_.size() && chain_ends(s + 1)) {
        rows = {pool_.rows_of(s, stage(s).outputs), nullptr};
        add_sums(s, rows);
      }
      if (stage(s).trees)
        rows = through_trees(s, rows);
      else if (level_of(pass_, stage(s)).has_tables())
        rows = through_tables(s, rows);
      else
        rows = through_level(s, rows);
      pool_.release(s);
      if (!wanted_below(s)) return nullptr;
      if (chain_ends(s)) add_to_sources(s, rows.rows);
    }
    if (!pool_.has(-1)) return rows.rows ? rows.rows : pool_.rows_of(-1, pass_.stack.inputs);
    float* all = pool_.rows_of(-1, pass_.stack.inputs);
    for (std::int64_t i = 0; rows.rows && !chain_ends(0) && i < pass_.stack.inputs * kWordSamples; ++i)
      all[i] += rows.rows[i];
    return all;
  }

 private:
  // The 64 samples of the tile through the stages, the input words of every neuron kept.
  void forward() {
    const std::int64_t inputs = pass_.stack.inputs;
    const std::int64_t count = std::min<std::int64_t>(kWordSamples, pass_.samples.batch - begin_);
    std::uint64_t* in = behind_zeros<std::uint64_t>(scratch_.input, inputs);
    transpose(pass_.samples.words + begin_ * word_count(inputs), count, inputs, in, 1);
    std::int64_t kept = 0;
    for (std::size_t s = 0; s < runs_.size(); ++s)
      kept += stage(s).trees ? 0 : level_of(pass_, stage(s)).arity * stage(s).outputs;
    std::uint64_t* pairs = scratch_.pairs.get<std::uint64_t>(kept);
    std::vector<const std::uint64_t*> made = {in};
    for (std::size_t s = 0; s < runs_.size(); ++s) {
      const Stage& stage = this->stage(s);
      if (chain_ends(s))
        in = gather(pass_, s, 1, [&](std::int64_t step) { return made[step + 1]; }, scratch_);
      std::uint64_t* out = output_of(pass_, s, 1, scratch_);
      made.push_back(out);
      in_.push_back(in);
      pairs_.push_back(pairs);
      if (stage.trees) {
        kernels().forward_trees(1, trees_of(pass_, s), in, out);
      } else {
        const LevelChoice& choice = pass_.choice.levels[stage.level];
        const Level& level = level_of(pass_, stage);
        if (level.has_tables())
          kernels().forward_tables(1, table_view_of(level, choice), choice.tables.data(), in, out, pairs);
        else
          kernels().forward_bits(view_of(level, choice, false), choice.gates.data(), in, out, pairs);
        pairs += level.arity * stage.outputs;
      }
      in = out;
    }
  }

  const Stage& stage(std::size_t s) const { return stage_of(pass_, s); }

  // Whether a run reads something else than what the one before has made, for it alone.
  bool chain_ends(std::size_t s) const { return !runs_[s].sources.empty(); }

  void add_to_sources(std::size_t s, const float* rows) {
    pool_.add(runs_[s], rows, lowest_, to_input_,
              [&](std::int64_t step) { return step < 0 ? pass_.stack.inputs : stage(step).outputs; });
  }

  // Whether its sums of wires or entries are written and not added to.
  bool fresh(std::size_t s) const {
    return sums_.fresh && runs_[s].last && level_of(pass_, stage(s)).row_of.empty();
  }

  bool wanted_below(std::size_t s) const { return to_input_ || s > lowest_; }

  // Whether stage s needs its gradient rows in memory, and not only the sums that are taken while they are made.
  bool needs_rows(std::size_t s) const {
    if (wanted_below(s)) return true;
    return s == lowest_ && (keeps_input(pass_, stage(s)) || level_of(pass_, stage(s)).has_tables());
  }

  SumsView sums_of(std::size_t s) const {
    const Level& level = level_of(pass_, stage(s));
    return {pairs_[s], level.row_numbers(), sums_.sums + kTerms * level.sum_start};
  }
  bool has_sums(std::size_t s) const {
    return !stage(s).trees && level_of(pass_, stage(s)).chooses_gates() && (*pass_.gradients)[stage(s).level].functions;
  }

  void add_sums(std::size_t s, const GradientRows& rows) {
    if (has_sums(s)) kernels().sums_bits(stage(s).outputs, rows, sums_of(s));
  }

  // Room for the gradient rows of a stage's inputs, behind one that is nobody's; zero, to be added to, or null.
  float* zero_rows(std::size_t s) {
    if (!wanted_below(s)) return nullptr;
    float* below = in_rows(s);
    std::memset(below, 0, stage(s).inputs * kWordSamples * sizeof(float));
    return below;
  }

  // The same before anything is written.
  float* in_rows(std::size_t s) {
    float* memory = scratch_.rows[s % 2].get<float>((stage(s).inputs + 1) * kWordSamples);
    std::memset(memory, 0, kWordSamples * sizeof(float));
    return memory + kWordSamples;
  }

  GradientRows through_trees(std::size_t s, const GradientRows& rows) {
    float* below = zero_rows(s);
    const TreesView trees = trees_of(pass_, s);
    float* space = scratch_.trees.get<float>((std::int64_t(2) << trees.depth) * kWindows * kWordSamples);
    kernels().backward_trees(trees, in_[s], rows, below, space, sums_.sums);
    if (below && s > 0 && !chain_ends(s)) add_sums(s - 1, {below, nullptr});
    return {below, nullptr};
  }

  GradientRows through_tables(std::size_t s, const GradientRows& rows) {
    const Level& level = level_of(pass_, stage(s));
    const std::int64_t l = stage(s).level;
    const LevelChoice& choice = pass_.choice.levels[l];
    const TableView view = table_view_of(level, choice);
    const WireView wires = level.wire_view();
    const bool fresh = this->fresh(s);
    float* below = zero_rows(s);
    TablesBackward to = {choice.tables.data(), pass_.mixture_below(l), nullptr, fresh, nullptr, in_[s],
                         sums_.sums + level.wire_sum_start, fresh, below};
    const bool wires_learn = (*pass_.gradients)[l].wires;
    if ((*pass_.gradients)[l].functions) to.entry_sums = sums_.sums + level.entry_sum_start;
    const float* learning = pass_.mixtures->of_level(l);
    if (wires_learn && below && learning != to.probabilities) {  // wires learn by another gradient
      kernels().backward_tables(view, to, pairs_[s], rows);
      to.entry_sums = to.below = nullptr;
    }
    if (wires_learn) {
      to.wires = &wires;
      to.probabilities = learning;
    }
    if (to.wires || to.entry_sums || to.below) kernels().backward_tables(view, to, pairs_[s], rows);
    if (below && s > 0 && !chain_ends(s)) add_sums(s - 1, {below, nullptr});
    return {below, nullptr};
  }

  GradientRows through_level(std::size_t s, const GradientRows& rows) {
    const Level& level = level_of(pass_, stage(s));
    const LevelChoice& choice = pass_.choice.levels[stage(s).level];
    if ((*pass_.gradients)[stage(s).level].wires)
      kernels().wire_sums_bits(level.wire_view(), choice.gates.data(), pass_.mixtures->of_level(stage(s).level),
                               pairs_[s], in_[s], rows, fresh(s),
                               sums_.sums + level.wire_sum_start);
    if (!wanted_below(s)) return {nullptr, nullptr};
    const bool chained = s > 0 && !chain_ends(s);
    float* below = (chain_ends(s) || (s == 0 ? to_input_ : needs_rows(s - 1))) ? in_rows(s) : nullptr;
    const bool sums = chained && has_sums(s - 1);
    const SumsView view = sums ? sums_of(s - 1) : SumsView{};
    kernels().backward_bits(view_of(level, choice, true), choice.gates.data(), pass_.mixture_below(stage(s).level),
                            pairs_[s], rows, below, sums ? &view : nullptr);
    return {below, nullptr};
  }

  const Pass& pass_;
  const std::vector<Step>& runs_;
  std::int64_t begin_;
  Scratch& scratch_;
  Sums sums_;
  bool to_input_;
  std::size_t lowest_;
  GradientPool pool_;
  std::vector<const std::uint64_t*> in_;  // by stage: its input words,
  std::vector<std::uint64_t*> pairs_;     // and the input words of each neuron
};

}  // namespace

void packed_forward(const Pass& pass, const Head& head, std::int64_t tile, Scratch& scratch, float* out) {
  const std::int64_t inputs = pass.stack.inputs, begin = tile * kForwardSamples;
  const std::int64_t count = std::min<std::int64_t>(kForwardSamples, pass.samples.batch - begin);
  const int words = static_cast<int>(word_count(count));
  std::uint64_t* in = behind_zeros<std::uint64_t>(scratch.input, inputs * kRowWords);
  transpose(pass.samples.words + begin * word_count(inputs), count, inputs, in, kRowWords);
  std::vector<const std::uint64_t*> made = {in};
  for (std::size_t s = 0; s < pass.stack.runs.size(); ++s) {
    const Stage& stage = stage_of(pass, s);
    if (!pass.stack.runs[s].sources.empty())
      in = gather(pass, s, kRowWords, [&](std::int64_t step) { return made[step + 1]; }, scratch);
    std::uint64_t* next = output_of(pass, s, kRowWords, scratch);
    made.push_back(next);
    if (stage.trees) {
      kernels().forward_trees(kRowWords, trees_of(pass, s), in, next);
    } else {
      const LevelChoice& choice = pass.choice.levels[stage.level];
      const Level& level = level_of(pass, stage);
      if (level.has_tables())
        kernels().forward_tables(kRowWords, table_view_of(level, choice), choice.tables.data(), in, next, nullptr);
      else
        kernels().forward_rows(words, view_of(level, choice, false), choice.gates.data(), in, next);
    }
    in = next;
  }
  const std::int64_t columns = head.columns(pass.stack);
  float* scores = out + begin * columns;
  if (head.classes) return kernels().group_scores(in, pass.stack.outputs, columns, count, head.temperature, scores);
  for (std::int64_t s = 0; s < count; ++s)
    for (std::int64_t j = 0; j < columns; ++j)
      scores[s * columns + j] = static_cast<float>(in[j * kRowWords + s / kWordSamples] >> (s % kWordSamples) & 1);
}

void packed_backward(const Pass& pass, const Top& top, std::int64_t tile, Scratch& scratch, const Sums& sums,
                     float* in_gradient) {
  const float* rows = Backward(pass, tile, scratch, sums, in_gradient != nullptr).run(top);
  if (in_gradient) store_in_gradient(pass, rows, tile * kWordSamples, kWordSamples, in_gradient);
}

}  // namespace hardwire
