// From 16 logits to a choice and back, 16 neurons at a time: lane n of every vector is neuron n of the block, vector g
// is gate g, so that maxima and sums over gates need no shuffling.

// The coefficients of the mixture of gates with these weights, one formula for each of c0, c1, c2, c3: the columns of
// the 16x4 matrix of hardwire/gates.py.
template <class Weights>
inline void mixture(const Weights& w, Floats c[4]) {
  c[0] = w[8] + w[9] + w[10] + w[11] + w[12] + w[13] + w[14] + w[15];
  c[1] = w[2] + w[3] + w[6] + w[7] - w[8] - w[9] - w[12] - w[13];
  c[2] = w[4] + w[5] + w[6] + w[7] - w[8] - w[9] - w[10] - w[11];
  c[3] = w[1] - w[2] - w[4] - w[7] + w[8] + w[11] + w[13] - w[14] + 2.0f * (w[9] - w[6]);
}

// Its transpose: the four sums over the batch -> the gradient of each gate's weight.
inline void gate_gradients(const Floats s[4], Floats g[16]) {
  g[0] = Floats{};
  g[1] = s[3];
  g[2] = s[1] - s[3];
  g[3] = s[1];
  g[4] = s[2] - s[3];
  g[5] = s[2];
  g[7] = s[1] + s[2] - s[3];
  g[6] = g[7] - s[3];
  for (int i = 8; i < 16; ++i) g[i] = s[0] - g[15 - i];  // gate 15 - i is the negation of gate i
}

struct Block {
  Floats z[16];    // logits
  Floats noisy[16];  // logits plus noise, the same as z for the methods without
};

inline void load_block(const float* logits, std::int64_t neuron, int count, const SelectionRule& rule, Block& block) {
  for (int n = 0; n < count; ++n) block.z[n] = load_unaligned(logits + (neuron + n) * kGates);
  for (int n = count; n < kLanes; ++n) block.z[n] = Floats{};
  transpose(block.z);
  if (!rule.noisy) {
    for (int g = 0; g < kGates; ++g) block.noisy[g] = block.z[g];
    return;
  }
  alignas(64) static constexpr std::uint32_t kLaneNumbers[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  Words lane;
  read(kLaneNumbers, lane);
  for (std::uint32_t part = 0; part < 4; ++part) {
    Words counter[4] = {lane + static_cast<std::uint32_t>(neuron), spread(part + (rule.draw << 16)), spread(rule.step),
                        spread(rule.place)};
    philox(counter, rule.seed_low, rule.seed_high);
    for (int word = 0; word < 4; ++word) block.noisy[4 * part + word] = block.z[4 * part + word] + gumbel(counter[word]);
  }
}

inline Floats maximum(const Floats v[16]) {
  Floats m = v[0];
  for (int g = 1; g < kGates; ++g) m = larger(v[g], m);
  return m;
}

// w = softmax(v / tau)
inline void softmax(const Floats v[16], float tau, Floats w[16]) {
  const Floats top = maximum(v);
  const float scale = 1.0f / tau;
  Floats total = Floats{};
  for (int g = 0; g < kGates; ++g) total += w[g] = exponential((v[g] - top) * scale);
  const Floats share = 1.0f / total;
  for (int g = 0; g < kGates; ++g) w[g] = w[g] * share;
}

inline bool all_finite(const Floats v[16]) {
  Floats rest = Floats{};
  for (int g = 0; g < kGates; ++g) rest += v[g] - v[g];  // only a finite number leaves zero
  const Four folded = fold(rest);
  return folded[0] + folded[1] + folded[2] + folded[3] == 0.0f;
}

// The sum over the block's neurons of max softmax(z), which is 1 / sum exp(z - max z).
inline double block_confidence(const Floats z[16], int count) {
  const Floats top = maximum(z);
  Floats total = Floats{};
  for (int g = 0; g < kGates; ++g) total += exponential(z[g] - top);
  alignas(64) float share[kLanes];
  store(share, 1.0f / total);
  double sum = 0;
  for (int n = 0; n < count; ++n) sum += share[n];
  return sum;
}

// The largest of the 16, ties to the lowest: a later gate must be strictly larger.
inline Ints first_largest(const Floats v[16]) {
  Floats best = v[0];
  Ints place = Ints{};
  for (int g = 1; g < kGates; ++g) {
    const Ints better = v[g] > best;
    best = choose(better, v[g], best);
    place = (better & g) | (~better & place);
  }
  return place;
}

inline void store_coefficients(const Floats c[4], int count, float* out) {
  alignas(64) float rows[4][kLanes];
  for (int k = 0; k < 4; ++k) store(rows[k], c[k]);
  for (int n = 0; n < count; ++n)
    for (int k = 0; k < 4; ++k) out[n * 4 + k] = rows[k][n];
}

SelectionResult select(const float* logits, std::int64_t begin, std::int64_t end, const SelectionRule& rule,
                       std::uint8_t* gates, float* coefficients) {
  SelectionResult result = {0.0, true};
  Block block;
  Floats w[16], c[4];
  for (std::int64_t neuron = begin; neuron < end; neuron += kLanes) {
    const int count = static_cast<int>(end - neuron < kLanes ? end - neuron : kLanes);
    load_block(logits, neuron, count, rule, block);
    result.finite &= all_finite(block.z);
    result.confidence += block_confidence(block.z, count);
    if (rule.hard) {
      const Ints place = first_largest(block.noisy);
      if (gates) {
        std::int32_t places[kLanes];
        __builtin_memcpy(places, &place, sizeof places);
        for (int n = 0; n < count; ++n) gates[neuron + n] = static_cast<std::uint8_t>(places[n]);
      }
      if (!coefficients) continue;
      for (int g = 0; g < kGates; ++g) w[g] = only(place == g, spread(1.0f));
    } else {
      softmax(block.noisy, rule.tau, w);
    }
    mixture(w, c);
    if (coefficients) store_coefficients(c, count, coefficients + neuron * 4);
  }
  return result;
}

// The sums of `count` neurons over all parts: s[k] holds sum k of each neuron.
inline void load_sums(const float* sums, std::int64_t parts, std::int64_t stride, int count, Floats s[4]) {
  alignas(64) float total[4 * kLanes] = {};
  for (std::int64_t part = 0; part < parts; ++part)
    for (int i = 0; i < 4 * count; ++i) total[i] += sums[part * stride + i];
  alignas(64) float columns[4][kLanes];
  for (int n = 0; n < kLanes; ++n)
    for (int k = 0; k < 4; ++k) columns[k][n] = total[4 * n + k];
  for (int k = 0; k < 4; ++k) s[k] = load(columns[k]);
}

void logit_gradient(const float* logits, std::int64_t begin, std::int64_t end, const SelectionRule& rule,
                    const float* sums, std::int64_t parts, std::int64_t stride, float* gradient) {
  Block block;
  Floats w[16], s[4], g[16];
  for (std::int64_t neuron = begin; neuron < end; neuron += kLanes) {
    const int count = static_cast<int>(end - neuron < kLanes ? end - neuron : kLanes);
    load_block(logits, neuron, count, rule, block);
    softmax(block.noisy, rule.tau, w);
    load_sums(sums + 4 * neuron, parts, stride, count, s);
    gate_gradients(s, g);
    Floats mean = Floats{};
    for (int i = 0; i < kGates; ++i) mean += w[i] * g[i];
    const float scale = 1.0f / rule.tau;
    for (int i = 0; i < kGates; ++i) g[i] = w[i] * (g[i] - mean) * scale;
    transpose(g);
    for (int n = 0; n < count; ++n) store_unaligned(gradient + (neuron + n) * kGates, g[n]);
  }
}
