// A vector of 16 floats by the compiler's own vector extension: one zmm, two ymm or four xmm registers, whatever the
// instruction set of this compilation has. Included only by kernels.cpp, inside its instruction set's namespace.

typedef float Floats __attribute__((vector_size(64), aligned(64)));
typedef std::int32_t Ints __attribute__((vector_size(64), aligned(64)));
typedef std::uint32_t Words __attribute__((vector_size(64), aligned(64)));
typedef std::uint64_t Doubles __attribute__((vector_size(64), aligned(64)));

inline Floats spread(float x) { return x - Floats{}; }
inline Words spread(std::uint32_t x) { return x - Words{}; }

inline Floats load(const float* p) { return *reinterpret_cast<const Floats*>(p); }
inline void store(float* p, Floats x) { *reinterpret_cast<Floats*>(p) = x; }

// For memory that comes from Python, whose alignment is nobody's promise.
inline Floats load_unaligned(const float* p) {
  Floats x;
  __builtin_memcpy(&x, p, sizeof x);
  return x;
}
inline void store_unaligned(float* p, Floats x) { __builtin_memcpy(p, &x, sizeof x); }

inline Floats choose(Ints mask, Floats yes, Floats no) {
  return (Floats)((mask & (Ints)yes) | (~mask & (Ints)no));
}
inline Floats larger(Floats a, Floats b) { return choose(a > b, a, b); }

// accumulator + x, or - x, in the lanes whose bit is set in the low 16 bits of `bits`.
#ifdef __AVX512F__
inline Floats add_where(Floats accumulator, std::uint64_t bits, Floats x) {
  return (Floats)_mm512_mask_add_ps((__m512)accumulator, static_cast<__mmask16>(bits), (__m512)accumulator, (__m512)x);
}
inline Floats subtract_where(Floats accumulator, std::uint64_t bits, Floats x) {
  return (Floats)_mm512_mask_sub_ps((__m512)accumulator, static_cast<__mmask16>(bits), (__m512)accumulator, (__m512)x);
}
#else
inline Ints lane_mask(std::uint64_t bits) {
  const Words lane = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768};
  return (Ints)((spread(static_cast<std::uint32_t>(bits)) & lane) == lane);
}
inline Floats add_where(Floats accumulator, std::uint64_t bits, Floats x) {
  return accumulator + (Floats)((Ints)x & lane_mask(bits));
}
inline Floats subtract_where(Floats accumulator, std::uint64_t bits, Floats x) {
  return accumulator - (Floats)((Ints)x & lane_mask(bits));
}
#endif

// The sums of the 16 lanes of four vectors at once: out[0..3] += sum(a), sum(b), sum(c), sum(d).
inline void add_lane_sums(Floats a, Floats b, Floats c, Floats d, float* out) {
#define HARDWIRE_LOW(x, y) \
  __builtin_shufflevector(x, y, 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29)
#define HARDWIRE_HIGH(x, y) \
  __builtin_shufflevector(x, y, 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31)
  const Floats ab = HARDWIRE_LOW(a, b) + HARDWIRE_HIGH(a, b);
  const Floats cd = HARDWIRE_LOW(c, d) + HARDWIRE_HIGH(c, d);
#undef HARDWIRE_LOW
#undef HARDWIRE_HIGH
  // each 128-bit quarter is now a b a b of a vector of pairs; bring a b c d together, then add the quarters
  const Floats left = __builtin_shufflevector(ab, cd, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
  const Floats right = __builtin_shufflevector(ab, cd, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31);
  const Floats quarters = left + right;
  typedef float Half __attribute__((vector_size(32)));
  typedef float Quarter __attribute__((vector_size(16)));
  const Half half = __builtin_shufflevector(quarters, quarters, 0, 1, 2, 3, 4, 5, 6, 7) +
                    __builtin_shufflevector(quarters, quarters, 8, 9, 10, 11, 12, 13, 14, 15);
  Quarter total = __builtin_shufflevector(half, half, 0, 1, 2, 3) + __builtin_shufflevector(half, half, 4, 5, 6, 7);
  Quarter before;
  __builtin_memcpy(&before, out, sizeof before);
  total += before;
  __builtin_memcpy(out, &total, sizeof total);
}

// 16x16 transpose by swapping ever larger blocks.
inline void transpose(Floats m[16]) {
#define HARDWIRE_STAGE(distance, lower, upper)                   \
  for (int i = 0; i < 16; ++i)                                   \
    if (!(i & distance)) {                                       \
      const Floats a = m[i], b = m[i + distance];                \
      m[i] = lower;                                              \
      m[i + distance] = upper;                                   \
    }
  HARDWIRE_STAGE(1, __builtin_shufflevector(a, b, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30),
                 __builtin_shufflevector(a, b, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31))
  HARDWIRE_STAGE(2, __builtin_shufflevector(a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29),
                 __builtin_shufflevector(a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31))
  HARDWIRE_STAGE(4, __builtin_shufflevector(a, b, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27),
                 __builtin_shufflevector(a, b, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31))
  HARDWIRE_STAGE(8, __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23),
                 __builtin_shufflevector(a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31))
#undef HARDWIRE_STAGE
}

// e^x for x <= 0, to about 1e-7 of its value; below -87 it is as good as zero.
inline Floats exponential(Floats x) {
  x = larger(x, spread(-87.0f));
  const Floats scaled = x * 1.44269504f - 0.5f;  // truncation of a negative number minus a half rounds it
  const Ints n = __builtin_convertvector(scaled, Ints);
  const Floats whole = __builtin_convertvector(n, Floats);
  const Floats r = (x - whole * 0.693359375f) + whole * 2.12194440e-4f;
  Floats p = spread(1.9875691500e-4f);
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  return p * (Floats)((n + 127) << 23);
}

// ln x for positive, normal x, to about 1e-7: the mantissa in [sqrt(1/2), sqrt(2)) by a polynomial, plus the exponent.
inline Floats logarithm(Floats x) {
  const Ints bits = (Ints)x;
  Ints exponent = (bits >> 23) - 126;
  Floats m = (Floats)((bits & 0x007FFFFF) | 0x3F000000);  // in [1/2, 1)
  const Ints small = m < spread(0.70710678f);
  exponent += small;  // the mask is -1
  m = m - 1.0f + (Floats)((Ints)m & small);
  Floats p = spread(7.0376836292e-2f);
  p = p * m - 1.1514610310e-1f;
  p = p * m + 1.1676998740e-1f;
  p = p * m - 1.2420140846e-1f;
  p = p * m + 1.4249322787e-1f;
  p = p * m - 1.6668057665e-1f;
  p = p * m + 2.0000714765e-1f;
  p = p * m - 2.4999993993e-1f;
  p = p * m + 3.3333331174e-1f;
  const Floats square = m * m, e = __builtin_convertvector(exponent, Floats);
  return m + (p * m * square - 2.12194440e-4f * e - 0.5f * square) + 0.693359375f * e;
}

// Philox4x32-10 for 16 counters that differ in their first word; see hardwire/noise.py.
inline Words high_half(Words a, std::uint32_t b) {
  typedef std::uint32_t HalfWords __attribute__((vector_size(32)));
  const HalfWords low = __builtin_shufflevector(a, a, 0, 1, 2, 3, 4, 5, 6, 7);
  const HalfWords top = __builtin_shufflevector(a, a, 8, 9, 10, 11, 12, 13, 14, 15);
  const Doubles p = (__builtin_convertvector(low, Doubles) * b) >> 32;
  const Doubles q = (__builtin_convertvector(top, Doubles) * b) >> 32;
  const HalfWords lower = __builtin_convertvector(p, HalfWords), upper = __builtin_convertvector(q, HalfWords);
  return __builtin_shufflevector(lower, upper, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
}

inline void philox(Words c[4], std::uint32_t key0, std::uint32_t key1) {
  for (int round = 0; round < 10; ++round) {
    const Words high0 = high_half(c[0], 0xD2511F53u), low0 = c[0] * 0xD2511F53u;
    const Words high1 = high_half(c[2], 0xCD9E8D57u), low1 = c[2] * 0xCD9E8D57u;
    c[0] = high1 ^ c[1] ^ key0;
    c[1] = low1;
    c[2] = high0 ^ c[3] ^ key1;
    c[3] = low0;
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
}

inline Floats gumbel(Words word) {
  const Floats uniform = (__builtin_convertvector((Ints)(word >> 9), Floats) + 0.5f) * 0x1p-23f;
  return -logarithm(-logarithm(uniform));
}
