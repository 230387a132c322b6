// Look-up tables of up to six inputs on bits. The address of a sample is the number that a neuron's inputs spell, input
// j its bit j, and a table is a word whose bit `address` is the output. A tile of 64 samples turns the input words of a
// neuron into 64 address bytes once; the output, the sums of each entry and the gradients of the inputs are look-ups by
// these bytes.
#pragma once
#include "kernel_selection.hpp"
#include "kernel_wires.hpp"
#include "kernels.hpp"
#include "simd.hpp"
#include "words.hpp"

namespace hardwire {
namespace {

struct Addresses {
  alignas(64) std::uint8_t of[kWordSamples];
};

#ifdef __AVX512BW__
inline __m512i address_bytes(const std::uint64_t* inputs, int arity) {
  __m512i bytes = _mm512_setzero_si512();
  for (int j = 0; j < arity; ++j)
    bytes = _mm512_mask_add_epi8(bytes, inputs[j], bytes, _mm512_set1_epi8(static_cast<char>(1 << j)));
  return bytes;
}
inline void write_addresses(const std::uint64_t* inputs, int arity, Addresses& addresses) {
  _mm512_store_si512(addresses.of, address_bytes(inputs, arity));
}
#else
// Byte n of the result is bit n of the lowest byte of `bits`.
inline std::uint64_t spread_bits(std::uint64_t bits) {
  return ((bits & 0xFF) * 0x0101010101010101u & 0x8040201008040201u) + 0x7F7F7F7F7F7F7F7Fu >> 7 &
         0x0101010101010101u;
}
inline void write_addresses(const std::uint64_t* inputs, int arity, Addresses& addresses) {
  for (int byte = 0; byte < kWordSamples / 8; ++byte) {
    std::uint64_t eight = 0;
    for (int j = 0; j < arity; ++j) eight |= spread_bits(inputs[j] >> 8 * byte) << j;
    __builtin_memcpy(addresses.of + 8 * byte, &eight, sizeof eight);
  }
}
#endif

// The outputs of a table: a tree of multiplexers, whose leaves are pairs of entries, constant or the first input. V: a
// word, or a vector of them.
template <int kArity, class V>
struct Multiplexer {
  static V of(std::uint64_t table, const V* inputs) {
    constexpr int kHalf = 1 << (kArity - 1);
    const V low = Multiplexer<kArity - 1, V>::of(table, inputs),
            high = Multiplexer<kArity - 1, V>::of(table >> kHalf, inputs);
    return low ^ (inputs[kArity - 1] & (low ^ high));
  }
};
template <class V>
struct Multiplexer<1, V> {
  static V of(std::uint64_t table, const V* inputs) {
    return ones_if(table) ^ (ones_if(table ^ table >> 1) & inputs[0]);
  }
};

template <int kArity, class V>
inline V look_up_words(std::uint64_t table, const V* inputs) {
  return Multiplexer<kArity, V>::of(table, inputs);
}

#ifdef __AVX512BW__
// The same by the address bytes: bit `address` of the table for each of 64 samples.
__attribute__((target("avx512bitalg"))) inline void tables_by_shuffle(const TableView& level, int words,
                                                                      const std::uint64_t* tables,
                                                                      const std::uint64_t* in, std::uint64_t* out,
                                                                      std::uint64_t* kept) {
  for (std::int64_t j = 0; j < level.neurons; ++j) {
    const __m512i table = _mm512_set1_epi64(tables[level.row_of ? level.row_of[j] : j]);
    for (int w = 0; w < words; ++w) {
      __m512i address = _mm512_setzero_si512();
      for (int side = 0; side < level.arity; ++side) {
        const std::uint64_t input = in[std::int64_t(level.wires[side * level.neurons + j]) * words + w];
        if (kept) kept[j * level.arity + side] = input;
        address = _mm512_mask_add_epi8(address, input, address, _mm512_set1_epi8(static_cast<char>(1 << side)));
      }
      out[j * words + w] = _mm512_bitshuffle_epi64_mask(table, address);
    }
  }
}
#endif

// `words` words of a row of kWords; kept: the input words of each neuron, [neurons][arity], or null.
template <int kArity, int kWords>
void tables_forward(const TableView& level, const std::uint64_t* tables, const std::uint64_t* in, std::uint64_t* out,
                    std::uint64_t* kept) {
  typedef std::uint64_t V __attribute__((vector_size(kWords * sizeof(std::uint64_t))));
  for (std::int64_t j = 0; j < level.neurons; ++j) {
    V inputs[kArity];
    for (int side = 0; side < kArity; ++side)
      __builtin_memcpy(&inputs[side], in + std::int64_t(level.wires[side * level.neurons + j]) * kWords, sizeof(V));
    if (kept) __builtin_memcpy(kept + j * kArity, inputs, sizeof inputs);
    const V result = look_up_words<kArity>(tables[level.row_of ? level.row_of[j] : j], inputs);
    __builtin_memcpy(out + j * kWords, &result, sizeof result);
  }
}

inline void forward_tables(int words, const TableView& level, const std::uint64_t* tables, const std::uint64_t* in,
                           std::uint64_t* out, std::uint64_t* kept) {
  using Run = decltype(&tables_forward<2, 1>);
  constexpr Run kOne[] = {tables_forward<2, 1>, tables_forward<3, 1>, tables_forward<4, 1>, tables_forward<5, 1>,
                          tables_forward<6, 1>};
  constexpr Run kRow[] = {tables_forward<2, kRowWords>, tables_forward<3, kRowWords>, tables_forward<4, kRowWords>,
                          tables_forward<5, kRowWords>, tables_forward<6, kRowWords>};
#ifdef __AVX512BW__
  if (processor().bit_shuffle) return tables_by_shuffle(level, words, tables, in, out, kept);
#endif
  (words == 1 ? kOne : kRow)[level.arity - kLeastArity](level, tables, in, out, kept);
}

// Adds d of each sample to the sum of its entry. Four copies of the sums take turns, so that samples of one address do
// not wait for each other.
template <int kEntries>
inline void add_entry_sums(const float* d, const Addresses& addresses, bool fresh, float* sums) {
  constexpr int kCopies = 4, kWidth = kEntries < kLanes ? kLanes : kEntries;
  alignas(64) float copies[kCopies][kWidth];
  for (auto& copy : copies)
    for (int e = 0; e < kWidth; e += kLanes) store(copy + e, Floats{});
  for (int s = 0; s < kWordSamples; s += kCopies)
    for (int c = 0; c < kCopies; ++c) copies[c][addresses.of[s + c]] += d[s + c];
  for (int e = 0; e < kWidth; e += kLanes) {
    Floats total = (load(copies[0] + e) + load(copies[1] + e)) + (load(copies[2] + e) + load(copies[3] + e));
    if (kEntries < kLanes) {
      store(copies[0], total);
      for (int n = 0; n < kEntries; ++n) sums[n] = fresh ? copies[0][n] : sums[n] + copies[0][n];
    } else {
      store(sums + e, fresh ? total : total + load(sums + e));
    }
  }
}

// What an output would be at each address, hard entries or probabilities; and by how much it rises with an input.
template <int kEntries>
struct TableValues {
  alignas(64) float of[kEntries < kLanes ? kLanes : kEntries] = {};

#ifdef __AVX512F__
  Floats at(const Words& address) const {
    if (kEntries <= kLanes) return look_up(load(of), address);
    if (kEntries == 2 * kLanes) return look_up(load(of), load(of + kLanes), address);
    const Floats low = look_up(load(of), load(of + kLanes), address);
    const Floats high = look_up(load(of + 2 * kLanes % kEntries), load(of + 3 * kLanes % kEntries), address);
    return choose(static_cast<Mask>(_mm512_test_epi32_mask((__m512i)address, _mm512_set1_epi32(2 * kLanes))), high,
                  low);
  }
#endif
};

// The gradients of all inputs of a neuron, edges[arity][64]: d times the rise of the output with each.
template <int kArity>
inline void edge_gradients(const TableValues<1 << kArity>& values, const std::uint64_t* inputs,
                           const Addresses& addresses, const float* d, float* edges) {
#ifdef __AVX512F__
  for (int v = 0; v < kWordSamples / kLanes; ++v) {
    const Words address = (Words)_mm512_cvtepu8_epi32(
        _mm_load_si128(reinterpret_cast<const __m128i*>(addresses.of + v * kLanes)));
    const Floats here = values.at(address), row = load(d + v * kLanes);
    for (int side = 0; side < kArity; ++side) {
      const Floats change = values.at(address ^ static_cast<std::uint32_t>(1 << side)) - here;
      const Mask set = mask_of(inputs[side] >> (v * kLanes));
      store(edges + side * kWordSamples + v * kLanes, row * choose(set, -change, change));
    }
  }
#else
  (void)inputs;
  constexpr int kEntries = 1 << kArity;
  alignas(64) float rise[kArity][kEntries];
  for (int side = 0; side < kArity; ++side)
    for (int e = 0; e < kEntries; ++e) rise[side][e] = values.of[e | 1 << side] - values.of[e & ~(1 << side)];
  for (int side = 0; side < kArity; ++side)
    for (int s = 0; s < kWordSamples; ++s) edges[side * kWordSamples + s] = d[s] * rise[side][addresses.of[s]];
#endif
}

template <int kArity>
inline void load_values(std::uint64_t table, const float* probabilities, TableValues<1 << kArity>& values) {
  for (int e = 0; e < 1 << kArity; ++e)
    values.of[e] = probabilities ? probabilities[e] : static_cast<float>(table >> e & 1);
}

// The sums of every candidate of one wire, from the gradient row of the input that chooses.
template <bool kGather, bool kFresh>
inline void add_candidate_sums(const WireView& wires, std::int64_t side, std::int64_t j, const float* edge,
                               const std::uint64_t* in, float* sums) {
  SumTables tables;
  make_tables(edge, tables);
  const std::int32_t* candidates = wires.wires + (side * wires.neurons + j) * wires.stride;
  float* own = sums + (side * wires.rows + (wires.row_of ? wires.row_of[j] : j)) * wires.stride;
  const Slope all = {1.0f, 0.0f, ~0ULL, 0};
  for (std::int64_t k = 0; k < wires.stride; k += kLanes)
    add_wire_sums<kFresh, kGather>(tables, in, candidates + k, all, 0, own + k);
}

template <bool kGather, int kArity>
void tables_backward(const TableView& level, const TablesBackward& to, const std::uint64_t* kept,
                     const GradientRows& rows) {
  constexpr int kEntries = 1 << kArity;
  alignas(64) float edges[kArity * kWordSamples];
  TableValues<kEntries> values;
  Addresses addresses;
  const bool passes_down = to.below || to.wires;
  for (std::int64_t j = 0; j < level.neurons; ++j) {
    const std::int64_t row = level.row_of ? level.row_of[j] : j;
    const float* d = rows.rows + (rows.row_of ? rows.row_of[j] : j) * kWordSamples;
    const std::uint64_t* inputs = kept + j * kArity;
    write_addresses(inputs, kArity, addresses);
    if (to.entry_sums) add_entry_sums<kEntries>(d, addresses, to.fresh_entries, to.entry_sums + row * kEntries);
    if (!passes_down) continue;
    load_values<kArity>(to.tables[row], to.probabilities ? to.probabilities + row * kEntries : nullptr, values);
    edge_gradients<kArity>(values, inputs, addresses, d, edges);
    for (int side = 0; side < kArity; ++side) {
      const float* edge = edges + side * kWordSamples;
      if (to.wires)
        (to.fresh_wires ? add_candidate_sums<kGather, true> : add_candidate_sums<kGather, false>)(*to.wires, side, j,
                                                                                                 edge, to.in,
                                                                                                 to.wire_sums);
      if (!to.below) continue;
      float* below = to.below + std::int64_t(level.wires[side * level.neurons + j]) * kWordSamples;
      for (int v = 0; v < kWordSamples; v += kLanes) store(below + v, load(below + v) + load(edge + v));
    }
  }
}

template <bool kGather>
void tables_backward_by_arity(const TableView& level, const TablesBackward& to, const std::uint64_t* kept,
                              const GradientRows& rows) {
  using Run = decltype(&tables_backward<kGather, 2>);
  constexpr Run kByArity[] = {tables_backward<kGather, 2>, tables_backward<kGather, 3>, tables_backward<kGather, 4>,
                              tables_backward<kGather, 5>, tables_backward<kGather, 6>};
  kByArity[level.arity - kLeastArity](level, to, kept, rows);
}

inline void backward_tables(const TableView& level, const TablesBackward& to, const std::uint64_t* kept,
                            const GradientRows& rows) {
  (processor().fast_gather ? tables_backward_by_arity<true> : tables_backward_by_arity<false>)(level, to, kept, rows);
}

// 16 entries of a row from `entry` on: their logits, and the same plus logistic noise, which is the difference of two
// Gumbel variables.
inline void load_entries(const float* logits, int entries, std::int64_t row, int entry, const SelectionRule& rule,
                         Floats& z, Floats& noisy) {
  alignas(64) float padded[kLanes] = {};
  for (int e = 0; e < kLanes && entry + e < entries; ++e) padded[e] = logits[row * entries + entry + e];
  noisy = z = load(padded);
  if (!rule.noisy) return;
  alignas(64) std::uint32_t word[kPhiloxWords][kLanes];
  const Words four = lane_numbers();  // lane n: the counter of entries 4n to 4n + 3
  Words counter[kPhiloxWords] = {spread(static_cast<std::uint32_t>(row)),
                                 four + (static_cast<std::uint32_t>(entry / kPhiloxWords) + (rule.draw << 16)),
                                 spread(rule.step), spread(rule.noise_stream)};
  philox(counter, rule.seed_low, rule.seed_high);
  for (int w = 0; w < kPhiloxWords; ++w) __builtin_memcpy(word[w], &counter[w], sizeof word[w]);
  alignas(64) std::uint32_t own[kLanes];
  for (int e = 0; e < kLanes; ++e) own[e] = word[e % kPhiloxWords][e / kPhiloxWords];
  Words words;
  read(own, words);
  const Floats uniform = uniform_draw(words);
  noisy += logarithm(uniform) - logarithm(1.0f - uniform);
}

// 1 / (1 + exp(-z / tau)), by the smaller of both exponentials.
inline Floats sigmoid(Floats z, float tau) {
  const Floats size = choose(z > Floats{}, z, -z) * (1.0f / tau);
  const Floats small = exponential(-size), total = 1.0f + small;
  return choose(z > Floats{}, spread(1.0f), small) / total;
}

// Rows [begin, end) of a level: logits[rows][entries] -> a table of each, and unless null the probabilities of its
// entries by the rule's temperature.
inline SelectionResult select_tables(const float* logits, int entries, std::int64_t begin, std::int64_t end,
                                     const SelectionRule& rule, std::uint64_t* tables, float* probabilities) {
  SelectionResult result = {0.0, true};
  for (std::int64_t row = begin; row < end; ++row) {
    std::uint64_t table = 0;
    for (int entry = 0; entry < entries; entry += kLanes) {
      Floats z, noisy;
      load_entries(logits, entries, row, entry, rule, z, noisy);
      result.finite &= all_finite(&z, 1);
      const int count = entries - entry < kLanes ? entries - entry : kLanes;
      if (rule.confidence) {
        alignas(64) float share[kLanes];
        store(share, sigmoid(choose(z > Floats{}, z, -z), 1.0f));
        for (int e = 0; e < count; ++e) result.confidence += share[e];
      }
      if (tables) table |= std::uint64_t(lane_bits(noisy > Floats{}) & ((1u << count) - 1)) << entry;
      if (!probabilities) continue;
      alignas(64) float p[kLanes];
      store(p, sigmoid(noisy, rule.tau));
      for (int e = 0; e < count; ++e) probabilities[row * entries + entry + e] = p[e];
    }
    if (tables) tables[row] = table;
  }
  return result;
}

// Rows [begin, end): sums[rows][entries] -> gradient[rows][entries] of the logits, p (1 - p) / tau times the sum.
inline void table_gradient(const float* logits, int entries, std::int64_t begin, std::int64_t end,
                           const SelectionRule& rule, const SumParts& sums, float* gradient) {
  const float scale = 1.0f / rule.tau;
  for (std::int64_t row = begin; row < end; ++row)
    for (int entry = 0; entry < entries; entry += kLanes) {
      Floats z, noisy;
      load_entries(logits, entries, row, entry, rule, z, noisy);
      const Floats p = sigmoid(noisy, rule.tau);
      alignas(64) float slope[kLanes];
      store(slope, p * (1.0f - p) * scale);
      const float* first = sums.sums + row * entries + entry;
      float* to = gradient + row * entries + entry;
      if (entries >= kLanes) {
        Floats total = Floats{};
        for (std::int64_t part = 0; part < sums.parts; ++part) total += load(first + part * sums.stride);
        store_unaligned(to, load(slope) * total);
        continue;
      }
      for (int e = 0; e < entries; ++e) {
        float total = 0;
        for (std::int64_t part = 0; part < sums.parts; ++part) total += first[part * sums.stride + e];
        to[e] = slope[e] * total;
      }
    }
}

}  // namespace
}  // namespace hardwire
