#include "circuit.hpp"

#include <algorithm>
#include <memory>
#include <tuple>
#include <utility>

#include "circuit_bit_image.hpp"
#include "packing.hpp"
#include "threads.hpp"
#include "words.hpp"

namespace hardwire {

namespace {

// How many words a slot has for `left` more images: no wider than they fill at least half, one word for a few.
std::size_t lanes_for(std::size_t left, std::size_t lanes) {
  if (left <= 2 * kWordSamples) return 1;
  while (lanes > 8 && left <= lanes * (kWordSamples / 2)) lanes /= 2;
  return lanes;
}

// One thread's memory: the slots of a tile, and packed rows where the input comes as bytes.
class Worker {
 public:
  Worker(const CircuitProgram& program, const CircuitInput& input, const CircuitOutput& output, std::size_t lanes)
      : program_(program), input_(input), output_(output), lanes_(lanes), row_words_(word_count(program.inputs)) {
    const std::size_t widest = lanes_for(input.rows, lanes);
    // a slot is a whole number of cache lines, if the first one starts at a line
    const std::size_t words = std::max(program.slots * widest, word_count(8 * program.byte_image.slots));
    memory_ = std::make_unique_for_overwrite<std::uint64_t[]>(words + 8);
    slots_ = memory_.get() + (8 - reinterpret_cast<std::uintptr_t>(memory_.get()) / sizeof(std::uint64_t) % 8) % 8;
    if (input.thresholds)
      thresholds_ = input.thresholds->view();
    else if (input.bytes)
      packed_ = std::make_unique_for_overwrite<std::uint64_t[]>(widest * kWordSamples * row_words_);
  }

  // Images from `begin` to `end`, in tiles; the last ones run in narrower tiles.
  void run(std::size_t begin, std::size_t end) {
    while (begin < end) {
      const std::size_t lanes = lanes_for(end - begin, lanes_), rows = std::min(end - begin, lanes * kWordSamples);
      tile(begin, rows, lanes);
      begin += rows;
    }
  }

 private:
  void tile(std::size_t begin, std::size_t rows, std::size_t lanes) {
    ImagesView images{nullptr, nullptr, nullptr, rows};
    if (input_.bytes && rows == 1 && !input_.thresholds) {
      images.bytes = input_.bytes + begin * program_.inputs;
    } else if (input_.thresholds) {
      images.bytes = input_.bytes + begin * thresholds_.columns;
      images.thresholds = &thresholds_;
    } else if (input_.bytes) {
      pack(input_.bytes + begin * program_.inputs, rows, program_.inputs, packed_.get());
      images.words = packed_.get();
    } else {
      images.words = input_.words + begin * row_words_;
    }
    std::int32_t* scores = output_.scores ? output_.scores + begin * program_.classes : nullptr;
    std::int64_t* winners = output_.winners ? output_.winners + begin : nullptr;
    kernels().run_tile(program_.view(), images, lanes, slots_, scores, winners);
  }

  const CircuitProgram& program_;
  const CircuitInput& input_;
  const CircuitOutput& output_;
  std::size_t lanes_, row_words_;
  ThresholdsView thresholds_{};
  std::unique_ptr<std::uint64_t[]> memory_, packed_;
  std::uint64_t* slots_;
};

}  // namespace

ByteImageProgram byte_image_program(std::size_t slots, std::vector<Run> runs, const std::vector<Operation>& operations) {
  ByteImageProgram byte_image{slots, std::move(runs), {}, {}, {}};
  if (slots > std::size_t(UINT16_MAX) + 1) {
    byte_image.wide = operations;
    return byte_image;
  }
  for (const auto& [target, first, second] : operations)
    byte_image.narrow.push_back(
        {static_cast<std::uint16_t>(target), static_cast<std::uint16_t>(first), static_cast<std::uint16_t>(second)});
  return byte_image;
}

namespace {

Gates64 gates_of(const BitImageGate* gates, std::int32_t target, BitImageLines& lines) {
  Gates64 word{{}, {}, 0, 0, 0, 0, static_cast<std::uint32_t>(target), 0, 0};
  std::int32_t first[kWordSamples], second[kWordSamples];
  for (std::size_t i = 0; i < kWordSamples; ++i) {
    const GateMasks masks = gate_masks(gates[i].gate);
    const std::uint64_t here = std::uint64_t(1) << i;
    first[i] = gates[i].first, second[i] = gates[i].second;
    word.k0 |= masks.k0 & here, word.k1 |= masks.k1 & here, word.k2 |= masks.k2 & here, word.k3 |= masks.k3 & here;
  }
  word.first = operands_of(first), word.second = operands_of(second);
  lines = {lines_of(first), lines_of(second)};
  word.first_lines = static_cast<std::uint32_t>(lines.first.size());
  word.second_lines = static_cast<std::uint32_t>(lines.second.size());
  return word;
}

}  // namespace

BitImageProgram bit_image_program(std::size_t bits, std::size_t first_output, const std::vector<std::int32_t>& class_of,
                           std::size_t classes, const std::vector<BitImageWord>& words,
                           const std::vector<BitImageGate>& gates) {
  BitImageProgram program{{}, {}, {}, {}, bits / kLineBits + 1};
  if (!can_run_bit_image()) return program;
  std::vector<Gates64> made(words.size());
  std::vector<BitImageLines> lines(words.size());
  std::vector<std::size_t> order(words.size());
  for (std::size_t w = 0; w < words.size(); ++w) {
    made[w] = gates_of(&gates[w * kWordSamples], words[w].target, lines[w]);
    order[w] = w;
  }
  // inside a level, those that take equally many steps follow each other, so that hardly a branch is a surprise
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const auto key = [&](std::size_t w) {
      return std::tuple(words[w].level, made[w].first_lines, made[w].second_lines);
    };
    return key(a) < key(b);
  });
  for (const std::size_t w : order) {
    program.gates.push_back(made[w]);
    for (const auto* some : {&lines[w].first, &lines[w].second})
      program.lines.insert(program.lines.end(), some->begin(), some->end());
  }
  mask_classes(first_output, class_of, classes, program);
  return program;
}

Thresholds::Thresholds(std::size_t columns, std::size_t levels, std::vector<std::uint8_t> least,
                       std::vector<std::uint64_t> possible)
    : columns(columns), levels(levels), least(std::move(least)), possible(std::move(possible)) {
  const std::size_t words = word_count(columns * levels);
  column.resize(words * kWordSamples), flat.resize(words * kWordSamples), flat_possible.resize(words);
  for (std::size_t bit = 0; bit < columns * levels; ++bit) {
    const std::size_t c = bit / levels, level = bit % levels, w = bit / kWordSamples;
    const std::uint64_t can = this->possible[level * word_count(columns) + c / kWordSamples] >> c % kWordSamples & 1;
    column[bit] = static_cast<std::uint8_t>(c - w * kWordSamples / levels);
    flat[bit] = this->least[level * columns + c];
    flat_possible[w] |= can << bit % kWordSamples;
  }
}

void run_circuit(const CircuitProgram& program, const CircuitInput& input, const CircuitOutput& output,
                 std::size_t lanes, std::size_t threads) {
  if (input.rows == 1 && !program.bit_image.gates.empty()) return run_bit_image(program, input, output);
  const std::size_t tile = lanes * kWordSamples, tiles = (input.rows + tile - 1) / tile;
  threads = std::max<std::size_t>(1, std::min(threads, tiles));
  parallel_for(static_cast<int>(threads), static_cast<std::int64_t>(threads), [&](std::int64_t part, int) {
    const std::size_t begin = tiles * std::size_t(part) / threads * tile;
    const std::size_t end = std::min(input.rows, tiles * std::size_t(part + 1) / threads * tile);
    Worker(program, input, output, lanes).run(begin, end);
  });
}

}  // namespace hardwire
