// The packed path: activations are bits, 64 samples a word. On bits a gate's derivative by an input is -1, 0 or +1 and
// depends only on the other input, so a gradient row passes a gate as one masked addition and one masked subtraction.

// Gate g is k0 ^ (k1 & a) ^ (k2 & b) ^ (k3 & a & b); bits 0 to 3 of its code say which k are all ones.
struct GateCodes {
  std::uint8_t code[16];
};
constexpr bool truth(int gate, int a, int b) { return (gate >> (a ? (b ? 0 : 1) : (b ? 2 : 3))) & 1; }
constexpr GateCodes make_codes() {
  GateCodes codes{};
  for (int g = 0; g < 16; ++g) {
    const int k0 = truth(g, 0, 0), k1 = truth(g, 1, 0) ^ k0, k2 = truth(g, 0, 1) ^ k0;
    const int k3 = truth(g, 1, 1) ^ k0 ^ k1 ^ k2;
    codes.code[g] = static_cast<std::uint8_t>(k0 | k1 << 1 | k2 << 2 | k3 << 3);
  }
  return codes;
}
constexpr GateCodes kCodes = make_codes();

// The samples in which the derivative is +1: plus ^ (other & plus_flip); -1: minus ^ (other & minus_flip).
struct Derivative {
  std::uint64_t plus, plus_flip, minus, minus_flip;
};
struct Derivatives {
  Derivative of[16][2];  // by gate and side
};
constexpr Derivatives make_derivatives() {
  Derivatives table{};
  for (int g = 0; g < 16; ++g)
    for (int side = 0; side < 2; ++side) {
      int slope[2] = {0, 0};  // for the other input at 0 and at 1
      for (int other = 0; other < 2; ++other)
        slope[other] = side == 0 ? truth(g, 1, other) - truth(g, 0, other) : truth(g, other, 1) - truth(g, other, 0);
      const std::uint64_t p0 = slope[0] > 0 ? ~0ULL : 0, p1 = slope[1] > 0 ? ~0ULL : 0;
      const std::uint64_t m0 = slope[0] < 0 ? ~0ULL : 0, m1 = slope[1] < 0 ? ~0ULL : 0;
      table.of[g][side] = {p0, p0 ^ p1, m0, m0 ^ m1};
    }
  return table;
}
constexpr Derivatives kDerivatives = make_derivatives();

inline std::uint64_t ones_if(std::uint64_t bit) { return 0 - (bit & 1); }

void forward_bits(const LayerView& layer, const std::uint8_t* gates, const std::uint64_t* in, std::uint64_t* out,
                  std::uint64_t* pairs) {
  for (std::int64_t j = 0; j < layer.neurons; ++j) {
    const std::uint64_t a = in[layer.first[j]], b = in[layer.second[j]], code = kCodes.code[gates[j]];
    out[j] = ones_if(code) ^ (ones_if(code >> 1) & a) ^ (ones_if(code >> 2) & b) ^ (ones_if(code >> 3) & a & b);
    pairs[2 * j] = a;
    pairs[2 * j + 1] = b;
  }
}

// The same for rows of words: what the gate is has to be found out only once for all of them.
inline void rows_of(int words, const LayerView& layer, const std::uint8_t* gates, const std::uint64_t* in,
                    std::uint64_t* out) {
  for (std::int64_t j = 0; j < layer.neurons; ++j) {
    const std::uint64_t *a = in + std::int64_t(layer.first[j]) * kRowWords,
                        *b = in + std::int64_t(layer.second[j]) * kRowWords;
    const std::uint64_t code = kCodes.code[gates[j]];
    const std::uint64_t k0 = ones_if(code), k1 = ones_if(code >> 1), k2 = ones_if(code >> 2), k3 = ones_if(code >> 3);
    for (int w = 0; w < words; ++w) out[j * kRowWords + w] = k0 ^ (k1 & a[w]) ^ (k2 & b[w]) ^ (k3 & a[w] & b[w]);
  }
}

void forward_rows(int words, const LayerView& layer, const std::uint8_t* gates, const std::uint64_t* in,
                  std::uint64_t* out) {
  if (words == kRowWords)
    rows_of(kRowWords, layer, gates, in, out);  // a constant: the loop becomes vector operations
  else
    rows_of(words, layer, gates, in, out);
}

// Carry-save adders: a stream of words goes into bit planes, plane p counting 2^p, until at most 2^16 - 1 are in.
inline void add_word(std::uint64_t planes[16], int used, std::uint64_t carry) {
  for (int p = 0; p < used; ++p) {
    const std::uint64_t both = planes[p] & carry;
    planes[p] ^= carry;
    carry = both;
  }
}

inline void full_add(std::uint64_t a, std::uint64_t b, std::uint64_t c, std::uint64_t& sum, std::uint64_t& carry) {
  const std::uint64_t half = a ^ b;
  sum = half ^ c;
  carry = (a & b) | (half & c);
}

void group_counts(const std::uint64_t* words, std::int64_t stride, std::int64_t neurons, std::int64_t classes,
                  float* counts) {
  const std::int64_t size = neurons / classes;
  for (std::int64_t c = 0; c < classes; ++c) {
    const auto word = [&](std::int64_t i) { return words[(c * size + i) * stride]; };
    std::uint32_t total[kWordSamples] = {};
    for (std::int64_t start = 0; start < size; start += 32768) {  // 16 planes hold no more
      const std::int64_t stop = start + 32768 < size ? start + 32768 : size;
      std::uint64_t planes[16] = {};
      std::int64_t i = start;
      for (; i + 7 <= stop; i += 7) {  // seven words make one three-bit number a sample
        std::uint64_t s1, s2, ones, c1, c2, c3, twos, fours;
        full_add(word(i), word(i + 1), word(i + 2), s1, c1);
        full_add(word(i + 3), word(i + 4), word(i + 5), s2, c2);
        full_add(s1, s2, word(i + 6), ones, c3);
        full_add(c1, c2, c3, twos, fours);
        std::uint64_t carry, sum;
        sum = planes[0] ^ ones, carry = planes[0] & ones, planes[0] = sum;
        full_add(planes[1], twos, carry, planes[1], carry);
        full_add(planes[2], fours, carry, planes[2], carry);
        add_word(planes + 3, 13, carry);
      }
      for (; i < stop; ++i) add_word(planes, 16, word(i));
      for (int p = 0; p < 16; ++p)
        for (int sample = 0; sample < kWordSamples; ++sample)
          total[sample] += static_cast<std::uint32_t>((planes[p] >> sample) & 1) << p;
    }
    for (int sample = 0; sample < kWordSamples; ++sample)
      counts[c * kWordSamples + sample] = static_cast<float>(total[sample]);
  }
}

constexpr int kVectors = kWordSamples / kLanes;  // of a gradient row

// Adds one consumer's gradient row, seen through its gate, to the row of an input.
inline void add_through_gate(const float* row, const Derivative& slope, std::uint64_t other, Floats acc[kVectors]) {
  const std::uint64_t plus = slope.plus ^ (other & slope.plus_flip);
  const std::uint64_t minus = slope.minus ^ (other & slope.minus_flip);
  for (int v = 0; v < kVectors; ++v) {
    const Floats d = load(row + v * kLanes);
    acc[v] = add_where(acc[v], plus >> (v * kLanes), d);
    acc[v] = subtract_where(acc[v], minus >> (v * kLanes), d);
  }
}

inline void add_sums(const Floats row[kVectors], std::uint64_t a, std::uint64_t b, float* sums) {
  Floats all = row[0], with_a = Floats{}, with_b = Floats{}, with_both = Floats{};
  for (int v = 0; v < kVectors; ++v) {
    if (v) all += row[v];
    with_a = add_where(with_a, a >> (v * kLanes), row[v]);
    with_b = add_where(with_b, b >> (v * kLanes), row[v]);
    with_both = add_where(with_both, (a & b) >> (v * kLanes), row[v]);
  }
  add_lane_sums(all, with_a, with_b, with_both, sums);
}

// kRows: the gradient row of consumer j is row_of[j] (class rows), else row j. kSums: reduce to the four sums as well.
template <bool kRows, bool kSums>
void backward(const LayerView& layer, const std::uint8_t* gates, const std::uint64_t* pairs, const float* rows,
              const std::int32_t* row_of, float* in_rows, const std::uint64_t* in_pairs, float* sums) {
  constexpr std::int64_t kAhead = 8;
  const std::int64_t edge_count = 2 * layer.neurons;
  for (std::int64_t i = 0; i < layer.inputs; ++i) {
    Floats acc[kVectors];
    for (int v = 0; v < kVectors; ++v) acc[v] = Floats{};
    for (std::int64_t e = layer.offsets[i]; e < layer.offsets[i + 1]; ++e) {
      if (!kRows && e + kAhead < edge_count) {  // the second input's consumers lie anywhere: ask for them early
        const std::int64_t ahead = layer.edges[e + kAhead] >> 1;
        for (int v = 0; v < kVectors; ++v) __builtin_prefetch(rows + ahead * kWordSamples + v * kLanes);
        __builtin_prefetch(pairs + 2 * ahead);
      }
      const std::uint32_t edge = layer.edges[e];
      const std::int64_t j = edge >> 1;
      const float* row = rows + (kRows ? row_of[j] : j) * kWordSamples;
      add_through_gate(row, kDerivatives.of[gates[j]][edge & 1], pairs[edge ^ 1], acc);
    }
    if (kSums) add_sums(acc, in_pairs[2 * i], in_pairs[2 * i + 1], sums + 4 * i);
    if (in_rows)
      for (int v = 0; v < kVectors; ++v) store(in_rows + i * kWordSamples + v * kLanes, acc[v]);
  }
}

void backward_bits(const LayerView& layer, const std::uint8_t* gates, const std::uint64_t* pairs, const float* rows,
                   const std::int32_t* row_of, float* in_rows, const std::uint64_t* in_pairs, float* sums) {
  if (row_of && sums)
    backward<true, true>(layer, gates, pairs, rows, row_of, in_rows, in_pairs, sums);
  else if (row_of)
    backward<true, false>(layer, gates, pairs, rows, row_of, in_rows, in_pairs, sums);
  else if (sums)
    backward<false, true>(layer, gates, pairs, rows, row_of, in_rows, in_pairs, sums);
  else
    backward<false, false>(layer, gates, pairs, rows, row_of, in_rows, in_pairs, sums);
}

void top_sums_bits(std::int64_t neurons, const std::uint64_t* pairs, const float* rows, const std::int32_t* row_of,
                   float* sums) {
  for (std::int64_t j = 0; j < neurons; ++j) {
    const float* row = rows + (row_of ? row_of[j] : j) * kWordSamples;
    Floats d[kVectors];
    for (int v = 0; v < kVectors; ++v) d[v] = load(row + v * kLanes);
    add_sums(d, pairs[2 * j], pairs[2 * j + 1], sums + 4 * j);
  }
}
