// Drives circuits without Python: random programs of odd shapes, packed words and bytes, scores and winners, in tiles
// of every width, against naive loops. Run by sanitize.sh.
#include "circuit.hpp"

#include <algorithm>
#include <vector>

#include "naive.hpp"
#include "packing.hpp"

using namespace hardwire;

namespace {

// The same for a single image, every output a copy; extra slots make it need wide numbers.
ByteImageProgram byte_image_of(const CircuitProgram& program, std::size_t extra) {
  const std::int32_t inputs = program.inputs, shift = program.outputs.size() + extra;
  const auto place = [&](std::int32_t slot) { return slot < inputs ? slot : slot + shift; };
  std::vector<Operation> operations;
  for (const Operation& operation : program.operations)
    operations.push_back({place(operation.target), place(operation.first), place(operation.second)});
  std::vector<Run> runs = program.runs;
  runs.push_back({3, std::int32_t(program.outputs.size())});
  for (std::int32_t output : program.outputs) {
    const std::int32_t target = inputs + std::int32_t(operations.size() - program.operations.size());
    operations.push_back({target, place(output), place(output)});
  }
  return byte_image_program(program.slots + shift, runs, operations);
}

// The same as bits, every gate in a word and level of its own, every output a copy, the classes in turns.
BitImageProgram bit_image_of(const CircuitProgram& program) {
  const std::int32_t inputs = program.inputs, base = word_count(program.inputs);
  const auto place = [&](std::int32_t slot) { return slot < inputs ? slot : (base + slot - inputs) * 64; };
  std::vector<BitImageGate> gates;
  for (const Run& run : program.runs)
    for (std::int32_t i = 0; i < run.count; ++i) {
      const Operation& operation = program.operations[gates.size() / 64];
      gates.push_back({run.gate, place(operation.first), place(operation.second)});
      gates.resize(gates.size() + 63);
    }
  const std::size_t first_output = base * 64 + gates.size();
  std::vector<std::int32_t> class_of;
  for (std::size_t i = 0; i < program.outputs.size(); ++i) {
    const std::size_t c = i % program.classes, group = program.outputs.size() / program.classes;
    gates.push_back({3, place(program.outputs[c * group + i / program.classes]), 0});
    class_of.push_back(c);
  }
  gates.resize(word_count(gates.size()) * 64);
  std::vector<BitImageWord> words;
  for (std::int32_t w = 0; w < std::int32_t(gates.size() / 64); ++w)
    words.push_back({base + w, std::min<std::int32_t>(w, program.operations.size())});
  return bit_image_program(base * 64 + gates.size(), first_output, class_of, program.classes, words, gates);
}

CircuitProgram random_program(Random& random) {
  CircuitProgram program{1 + random() % 200, 0, 1 + random() % 12, {}, {}, {}, {}, {}};
  const std::int32_t gates = random() % 300;
  program.slots = program.inputs + gates;
  for (std::int32_t target = program.inputs; target < std::int32_t(program.slots);) {
    const std::int32_t count = std::min<std::int32_t>(1 + random() % 20, program.slots - target);
    program.runs.push_back({std::int32_t(random() % 16), count});
    for (std::int32_t i = 0; i < count; ++i, ++target)
      program.operations.push_back({target, std::int32_t(random() % target), std::int32_t(random() % target)});
  }
  for (std::size_t i = program.classes * (1 + random() % 40); i > 0; --i)
    program.outputs.push_back(random() % program.slots);
  program.byte_image = byte_image_of(program, random() % 4 ? 0 : 1 << 16);
  program.bit_image = bit_image_of(program);
  return program;
}

// The class sums of one image by plain loops.
std::vector<std::int32_t> naive_scores(const CircuitProgram& program, const std::uint8_t* image) {
  std::vector<int> slots(image, image + program.inputs);
  slots.resize(program.slots);
  std::size_t next = 0;
  for (const Run& run : program.runs)
    for (std::int32_t i = 0; i < run.count; ++i, ++next) {
      const Operation& operation = program.operations[next];
      slots[operation.target] = int(gate_soft(run.gate, slots[operation.first], slots[operation.second]));
    }
  std::vector<std::int32_t> sums(program.classes);
  for (std::size_t i = 0; i < program.outputs.size(); ++i)
    sums[i * program.classes / program.outputs.size()] += slots[program.outputs[i]];
  return sums;
}

// As many levels as divide the inputs, some of them at both ends of the bytes, some impossible.
Thresholds random_thresholds(Random& random, std::size_t inputs) {
  std::size_t levels = 1 + random() % 4;
  while (inputs % levels) --levels;
  std::vector<std::uint8_t> least(inputs);
  for (auto& byte : least) byte = random() % 8 ? random() % 256 : random() % 2 * 255;
  std::vector<std::uint64_t> possible(levels * word_count(inputs / levels));
  for (auto& word : possible) word = random() % 2 ? ~std::uint64_t(0) : std::uint64_t(random()) * random();
  return {inputs / levels, levels, least, possible};
}

std::vector<std::uint8_t> naive_bits(const Thresholds& thresholds, const std::vector<std::uint8_t>& raw) {
  std::vector<std::uint8_t> bits;
  for (std::size_t i = 0; i < raw.size(); ++i)
    for (std::size_t level = 0; level < thresholds.levels; ++level) {
      const std::size_t column = i % thresholds.columns, words = word_count(thresholds.columns);
      const bool possible = thresholds.possible[level * words + column / 64] >> (column % 64) & 1;
      bits.push_back(possible && raw[i] >= thresholds.least[level * thresholds.columns + column]);
    }
  return bits;
}

void check(Random& random) {
  const CircuitProgram program = random_program(random);
  const std::size_t sizes[] = {1, 2, 64, 65, 200, 513, 1500, 2500}, rows = sizes[random() % 8];
  const std::size_t lanes = std::size_t(8) << random() % 3, threads = 1 + random() % 3;
  std::vector<std::uint8_t> bytes(rows * program.inputs);
  for (auto& byte : bytes) byte = random() % 2;
  std::vector<std::uint64_t> words(rows * word_count(program.inputs));
  pack(bytes.data(), rows, program.inputs, words.data());
  const bool packed = random() % 2;
  const Thresholds thresholds = random_thresholds(random, program.inputs);
  std::vector<std::uint8_t> raw(rows * thresholds.columns);
  for (auto& value : raw) value = random() % 256;
  const bool encoded = random() % 2;
  if (encoded) bytes = naive_bits(thresholds, raw);
  const CircuitInput input = encoded  ? CircuitInput{nullptr, raw.data(), &thresholds, rows}
                             : packed ? CircuitInput{words.data(), nullptr, nullptr, rows}
                                      : CircuitInput{nullptr, bytes.data(), nullptr, rows};
  std::vector<std::int32_t> scores(rows * program.classes, -1);
  std::vector<std::int64_t> winners(rows, -1);
  run_circuit(program, input, {scores.data(), nullptr}, lanes, threads);
  run_circuit(program, input, {nullptr, winners.data()}, lanes, threads);
  for (std::size_t row = 0; row < rows; ++row) {
    const auto expected = naive_scores(program, bytes.data() + row * program.inputs);
    require(std::equal(expected.begin(), expected.end(), scores.begin() + row * program.classes), "class sums");
    const auto best = std::max_element(expected.begin(), expected.end());  // the first of equals
    require(winners[row] == best - expected.begin(), "the winning class");
  }
}

}  // namespace

void test_circuits() {
  Random random(7);
  for (int round = 0; round < 60; ++round) check(random);
}
