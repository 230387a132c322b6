// A vector of 16 floats, whatever the instruction set of this compilation has: one 512-bit register, a pair of 256-bit
// ones, or a pair of pairs of 128-bit ones (any architecture; the compiler's own vector extension does the rest). In an
// unnamed namespace, and free of std:: templates, because every instruction set needs a copy of its own.
#pragma once
#include <cstdint>

#include "kernels.hpp"

#if defined(__AVX512F__) || defined(__AVX2__)
#include <immintrin.h>
#endif

namespace hardwire {
namespace {

template <class T>
struct Pair {
  T low, high;
};

// Ints are what a comparison of floats gives: int on most systems, long (32 bits as well) on Windows.
#define HARDWIRE_VECTORS(bytes)                                                        \
  typedef float PartFloats __attribute__((vector_size(bytes), aligned(bytes)));        \
  typedef decltype(PartFloats{} > PartFloats{}) PartInts;                              \
  typedef std::uint32_t PartWords __attribute__((vector_size(bytes), aligned(bytes))); \
  typedef std::uint64_t PartLongs __attribute__((vector_size(bytes), aligned(bytes)));
#if defined(__AVX512F__)
HARDWIRE_VECTORS(64)
template <class T>
using Sixteen = T;
#elif defined(__AVX2__)
HARDWIRE_VECTORS(32)
template <class T>
using Sixteen = Pair<T>;
#else
HARDWIRE_VECTORS(16)
template <class T>
using Sixteen = Pair<Pair<T> >;
#endif
#undef HARDWIRE_VECTORS
using Floats = Sixteen<PartFloats>;
using Ints = Sixteen<PartInts>;
using Words = Sixteen<PartWords>;

// What the compiler's vectors can do, pairs can do: each half for itself.
#define HARDWIRE_OPERATOR(op)                                                \
  template <class T>                                                         \
  inline auto operator op(const Pair<T>& a, const Pair<T>& b) {              \
    return Pair<decltype(a.low op b.low)>{a.low op b.low, a.high op b.high}; \
  }
#define HARDWIRE_SCALAR(op, Scalar)                             \
  template <class T>                                            \
  inline auto operator op(const Pair<T>& a, Scalar b) {         \
    return Pair<decltype(a.low op b)>{a.low op b, a.high op b}; \
  }                                                             \
  template <class T>                                            \
  inline auto operator op(Scalar a, const Pair<T>& b) {         \
    return Pair<decltype(a op b.low)>{a op b.low, a op b.high}; \
  }
HARDWIRE_OPERATOR(+)
HARDWIRE_OPERATOR(-)
HARDWIRE_OPERATOR(*)
HARDWIRE_OPERATOR(/)
HARDWIRE_OPERATOR(&)
HARDWIRE_OPERATOR(|)
HARDWIRE_OPERATOR(^)
HARDWIRE_OPERATOR(>)
HARDWIRE_OPERATOR(<)
HARDWIRE_OPERATOR(==)
HARDWIRE_OPERATOR(!=)
HARDWIRE_SCALAR(+, float)
HARDWIRE_SCALAR(-, float)
HARDWIRE_SCALAR(*, float)
HARDWIRE_SCALAR(/, float)
HARDWIRE_SCALAR(+, std::int32_t)
HARDWIRE_SCALAR(-, std::int32_t)
HARDWIRE_SCALAR(&, std::int32_t)
HARDWIRE_SCALAR(|, std::int32_t)
HARDWIRE_SCALAR(==, std::int32_t)
HARDWIRE_SCALAR(+, std::uint32_t)
HARDWIRE_SCALAR(^, std::uint32_t)
HARDWIRE_SCALAR(*, std::uint32_t)
#undef HARDWIRE_OPERATOR
#undef HARDWIRE_SCALAR
template <class T>
inline Pair<T> operator-(const Pair<T>& a) {
  return {-a.low, -a.high};
}
template <class T>
inline Pair<T> operator~(const Pair<T>& a) {
  return {~a.low, ~a.high};
}
template <class T>
inline Pair<T> operator<<(const Pair<T>& a, int n) {
  return {a.low << n, a.high << n};
}
template <class T>
inline Pair<T> operator>>(const Pair<T>& a, int n) {
  return {a.low >> n, a.high >> n};
}
template <class T>
inline Pair<T>& operator+=(Pair<T>& a, const Pair<T>& b) {
  return a = a + b;
}

// The same bits read as another type, conversion between numbers, and memory: on parts, and on pairs half by half.
inline PartInts as_ints(PartFloats x) { return (PartInts)x; }
inline PartInts as_ints(PartWords x) { return (PartInts)x; }
inline PartInts as_ints(PartInts x) { return x; }
inline PartWords as_words(PartInts x) { return (PartWords)x; }
inline PartFloats as_floats(PartInts x) { return (PartFloats)x; }
inline PartFloats to_floats(PartInts x) { return __builtin_convertvector(x, PartFloats); }
inline PartInts to_ints(PartFloats x) { return __builtin_convertvector(x, PartInts); }
#define HARDWIRE_HALVES(function)                                              \
  template <class T>                                                           \
  inline auto function(const Pair<T>& x) {                                     \
    return Pair<decltype(function(x.low))>{function(x.low), function(x.high)}; \
  }
HARDWIRE_HALVES(as_ints)
HARDWIRE_HALVES(as_words)
HARDWIRE_HALVES(as_floats)
HARDWIRE_HALVES(to_floats)
HARDWIRE_HALVES(to_ints)
#undef HARDWIRE_HALVES

template <class Part, class Element>
inline void read(const Element* p, Part& x) {
  __builtin_memcpy(&x, p, sizeof x);
}
template <class T, class Element>
inline void read(const Element* p, Pair<T>& x) {
  read(p, x.low);
  read(p + sizeof(T) / sizeof(Element), x.high);
}
inline void write(float* p, const PartFloats& x) { __builtin_memcpy(p, &x, sizeof x); }
template <class T>
inline void write(float* p, const Pair<T>& x) {
  write(p, x.low);
  write(p + sizeof(T) / sizeof(float), x.high);
}

inline Floats spread(float x) { return x + Floats{}; }
inline Words spread(std::uint32_t x) { return x + Words{}; }

// Values that are 0 to 1 but for rounding, brought back there; NaN stays.
inline PartFloats within_unit(const PartFloats& x) {
  const PartFloats zero = {}, one = zero + 1.0f, low = x < zero ? zero : x;
  return low > one ? one : low;
}
template <class T>
inline Pair<T> within_unit(const Pair<T>& x) {
  return {within_unit(x.low), within_unit(x.high)};
}

// Memory of ours is aligned to whole vectors; what comes from Python need not be.
inline Floats load_unaligned(const float* p) {
  Floats x;
  read(p, x);
  return x;
}
inline void store_unaligned(float* p, const Floats& x) { write(p, x); }
inline Floats load(const float* p) {
  return load_unaligned(static_cast<const float*>(__builtin_assume_aligned(p, 64)));
}
inline void store(float* p, const Floats& x) { write(static_cast<float*>(__builtin_assume_aligned(p, 64)), x); }

inline PartFloats choose(PartInts mask, PartFloats yes, PartFloats no) { return mask ? yes : no; }
template <class M, class T>
inline Pair<T> choose(const Pair<M>& mask, const Pair<T>& yes, const Pair<T>& no) {
  return {choose(mask.low, yes.low, no.low), choose(mask.high, yes.high, no.high)};
}
inline Floats only(Ints mask, Floats x) { return as_floats(mask & as_ints(x)); }
inline Floats larger(Floats a, Floats b) { return choose(a > b, a, b); }

// The lanes whose bit is set in the low 16 bits of a word, as this instruction set likes to have them.
#ifdef __AVX512F__
using Mask = __mmask16;
inline Mask mask_of(std::uint64_t bits) { return static_cast<Mask>(bits); }
inline Mask both(Mask a, Mask b) { return _kand_mask16(a, b); }
inline Floats only(Mask mask, Floats x) { return (Floats)_mm512_maskz_mov_ps(mask, (__m512)x); }
inline Floats choose(Mask mask, Floats yes, Floats no) {
  return (Floats)_mm512_mask_mov_ps((__m512)no, mask, (__m512)yes);
}
inline Floats add_where(Floats accumulator, Mask mask, Floats x) {
  return (Floats)_mm512_mask_add_ps((__m512)accumulator, mask, (__m512)accumulator, (__m512)x);
}
#else
using Mask = Ints;
inline Mask mask_of(std::uint64_t bits) {
  alignas(64) static constexpr std::uint32_t kLaneBits[16] = {1,   2,   4,    8,    16,   32,   64,    128,
                                                              256, 512, 1024, 2048, 4096, 8192, 16384, 32768};
  Words lane;
  read(kLaneBits, lane);
  return as_ints((spread(static_cast<std::uint32_t>(bits)) & lane) == lane);
}
inline Mask both(const Mask& a, const Mask& b) { return a & b; }
inline Floats add_where(Floats accumulator, Mask mask, Floats x) { return accumulator + only(mask, x); }
#endif

// The lanes of vector v of a word of 64 samples: its 16 bits are read from memory, which takes fewer instructions than
// shifting them down.
inline Mask mask_at(const std::uint64_t* word, int v) {
  std::uint16_t bits;
  __builtin_memcpy(&bits, reinterpret_cast<const char*>(word) + v * sizeof bits, sizeof bits);
  return mask_of(bits);
}

// The other way round: a bit for each lane where a comparison held.
#if defined(__AVX512F__)
inline std::uint32_t lane_bits(const Ints& mask) { return _mm512_test_epi32_mask((__m512i)mask, (__m512i)mask); }
#elif defined(__AVX2__)
inline std::uint32_t lane_bits(const Ints& mask) {
  return _mm256_movemask_ps((__m256)mask.low) | _mm256_movemask_ps((__m256)mask.high) << 8;
}
#else
inline std::uint32_t lane_bits(const Ints& mask) {
  std::int32_t lanes[kLanes];
  __builtin_memcpy(lanes, &mask, sizeof lanes);
  std::uint32_t bits = 0;
  for (int n = 0; n < kLanes; ++n) bits |= (lanes[n] & 1u) << n;
  return bits;
}
#endif

// Lane n of the result is table[index[n] % 16].
#if defined(__AVX512F__)
inline Floats look_up(const Floats& table, const Words& index) {
  return (Floats)_mm512_permutexvar_ps((__m512i)index, (__m512)table);
}
// The same for 32 numbers: table[index[n] % 32] of two tables of 16.
inline Floats look_up(const Floats& low, const Floats& high, const Words& index) {
  return (Floats)_mm512_permutex2var_ps((__m512)low, (__m512i)index, (__m512)high);
}
#elif defined(__AVX2__)
inline PartFloats look_up(const Floats& table, PartWords index) {
  const __m256 low = _mm256_permutevar8x32_ps((__m256)table.low, (__m256i)index);
  const __m256 high = _mm256_permutevar8x32_ps((__m256)table.high, (__m256i)index);
  return (PartFloats)_mm256_blendv_ps(low, high, (__m256)(index << 28));  // bit 3 becomes the sign
}
inline Floats look_up(const Floats& table, const Words& index) {
  return {look_up(table, index.low), look_up(table, index.high)};
}
#else
inline Floats look_up(const Floats& table, const Words& index) {
  alignas(64) float values[kLanes], picked[kLanes];
  alignas(64) std::uint32_t places[kLanes];
  __builtin_memcpy(values, &table, sizeof values);
  __builtin_memcpy(places, &index, sizeof places);
  for (int n = 0; n < kLanes; ++n) picked[n] = values[places[n] % kLanes];
  Floats result;
  __builtin_memcpy(&result, picked, sizeof result);
  return result;
}
#endif

#ifdef __AVX512F__
// Eight words in[index], loaded one by one, two to a register: left to itself, GCC runs out of registers for indices.
[[gnu::always_inline]] inline __m512i eight_words(const std::uint64_t* in, const std::int32_t* index) {
  const auto word = [&](int n) { return static_cast<long long>(in[index[n]]); };
  const auto two = [&](int n) { return _mm_insert_epi64(_mm_cvtsi64_si128(word(n)), word(n + 1), 1); };
  const auto four = [&](int n) { return _mm256_inserti128_si256(_mm256_castsi128_si256(two(n)), two(n + 2), 1); };
  return _mm512_inserti64x4(_mm512_castsi256_si512(four(0)), four(4), 1);
}
#endif

// The lower and upper halves of 16 words in[index]. kGather: by the processor's instruction for it, where it has one.
template <bool kGather>
[[gnu::always_inline]] inline void gather_words(const std::uint64_t* in, const std::int32_t* index, Words& low,
                                                Words& high) {
#ifdef __AVX512F__
  __m512i first, second;
  if (kGather) {
    const auto half = [&](int from) {
      return _mm512_i32gather_epi64(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(index + from)), in, 8);
    };
    first = half(0), second = half(8);
  } else {
    first = eight_words(in, index), second = eight_words(in, index + 8);
  }
  const __m512i even = _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
  low = (Words)_mm512_permutex2var_epi32(first, even, second);
  high = (Words)_mm512_permutex2var_epi32(first, _mm512_or_si512(even, _mm512_set1_epi32(1)), second);
#else
  alignas(64) std::uint32_t lower[kLanes], upper[kLanes];
  for (int n = 0; n < kLanes; ++n) {
    const std::uint64_t word = in[index[n]];
    lower[n] = static_cast<std::uint32_t>(word);
    upper[n] = static_cast<std::uint32_t>(word >> 32);
  }
  __builtin_memcpy(&low, lower, sizeof low);
  __builtin_memcpy(&high, upper, sizeof high);
#endif
}

typedef float Four __attribute__((vector_size(16)));

// The 16 lanes added up to 4.
#if defined(__AVX512F__) || defined(__AVX2__)
inline Four fold(PartFloats x) {
  typedef float Eight __attribute__((vector_size(32)));
#ifdef __AVX512F__
  const Eight y = __builtin_shufflevector(x, x, 0, 1, 2, 3, 4, 5, 6, 7) +
                  __builtin_shufflevector(x, x, 8, 9, 10, 11, 12, 13, 14, 15);
#else
  const Eight y = x;
#endif
  return __builtin_shufflevector(y, y, 0, 1, 2, 3) + __builtin_shufflevector(y, y, 4, 5, 6, 7);
}
#else
inline Four fold(PartFloats x) { return x; }
#endif
template <class T>
inline Four fold(const Pair<T>& x) {
  return fold(x.low + x.high);
}

inline void transpose4(Four& a, Four& b, Four& c, Four& d) {
  const Four ab = __builtin_shufflevector(a, b, 0, 4, 1, 5), cd = __builtin_shufflevector(c, d, 0, 4, 1, 5);
  const Four AB = __builtin_shufflevector(a, b, 2, 6, 3, 7), CD = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  a = __builtin_shufflevector(ab, cd, 0, 1, 4, 5);
  b = __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
  c = __builtin_shufflevector(AB, CD, 0, 1, 4, 5);
  d = __builtin_shufflevector(AB, CD, 2, 3, 6, 7);
}

// The sums of the 16 lanes of four vectors at once: out[0..3] += sum(a), sum(b), sum(c), sum(d).
inline void add_lane_sums(const Floats& a, const Floats& b, const Floats& c, const Floats& d, float* out) {
#ifdef __AVX512F__
  // interleave and add while the vectors are long: 7 shuffles for all four
  const Floats ab = __builtin_shufflevector(a, b, 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29) +
                    __builtin_shufflevector(a, b, 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31);
  const Floats cd = __builtin_shufflevector(c, d, 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29) +
                    __builtin_shufflevector(c, d, 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31);
  Four total = fold(__builtin_shufflevector(ab, cd, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29) +
                    __builtin_shufflevector(ab, cd, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31));
#else
  Four p = fold(a), q = fold(b), r = fold(c), s = fold(d);
  transpose4(p, q, r, s);
  Four total = (p + q) + (r + s);
#endif
  Four before;
  __builtin_memcpy(&before, out, sizeof before);
  total += before;
  __builtin_memcpy(out, &total, sizeof total);
}

// 16x16 transpose, in blocks of 4x4.
inline void transpose(Floats m[16]) {
  float* p = reinterpret_cast<float*>(m);
  for (int i = 0; i < 4; ++i)
    for (int j = i; j < 4; ++j) {
      Four x[4], y[4];
      for (int k = 0; k < 4; ++k) {
        __builtin_memcpy(&x[k], p + (4 * i + k) * 16 + 4 * j, sizeof(Four));
        __builtin_memcpy(&y[k], p + (4 * j + k) * 16 + 4 * i, sizeof(Four));
      }
      transpose4(x[0], x[1], x[2], x[3]);
      transpose4(y[0], y[1], y[2], y[3]);
      for (int k = 0; k < 4; ++k) {
        __builtin_memcpy(p + (4 * i + k) * 16 + 4 * j, &y[k], sizeof(Four));
        __builtin_memcpy(p + (4 * j + k) * 16 + 4 * i, &x[k], sizeof(Four));
      }
    }
}

// e^x for x <= 0, to about 1e-7 of its value, and zero below -32: beside the largest weight of a softmax, which is 1
// here, that is 1e-14, far below rounding; kept, such weights make gradients whose squares are denormal, and Adam
// crawls.
inline Floats exponential(Floats x) {
  const Ints kept = x > spread(-32.0f);
  x = larger(x, spread(-32.0f));
  const Ints n = to_ints(x * 1.44269504f - 0.5f);  // truncating a negative number minus a half rounds it
  const Floats whole = to_floats(n);
  const Floats r = (x - whole * 0.693359375f) + whole * 2.12194440e-4f;
  Floats p = spread(1.9875691500e-4f);
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  return only(kept, p * as_floats((n + 127) << 23));
}

// ln x for positive, normal x, to about 1e-7: the mantissa in [sqrt(1/2), sqrt(2)) by a polynomial, plus the exponent.
inline Floats logarithm(Floats x) {
  constexpr std::int32_t kLowest = 0x3F3504F3;  // sqrt(1/2), as bits
  const Ints above = as_ints(x) - kLowest;
  const Floats e = to_floats(above >> 23);
  const Floats m = as_floats((above & 0x007FFFFF) + kLowest) - 1.0f;
  Floats p = spread(7.0376836292e-2f);
  p = p * m - 1.1514610310e-1f;
  p = p * m + 1.1676998740e-1f;
  p = p * m - 1.2420140846e-1f;
  p = p * m + 1.4249322787e-1f;
  p = p * m - 1.6668057665e-1f;
  p = p * m + 2.0000714765e-1f;
  p = p * m - 2.4999993993e-1f;
  p = p * m + 3.3333331174e-1f;
  const Floats square = m * m;
  return m + (p * m * square - 2.12194440e-4f * e - 0.5f * square) + 0.693359375f * e;
}

// Philox4x32-10 for all lanes at once; see hardwire/noise.py. A product of 32-bit words fills 64 bits, so the even and
// the odd lanes go apart, each in the lower half of 64 bits; what stands in the upper half counts for nothing.
inline PartLongs multiply_lower(PartLongs a, std::uint32_t b) {
#if defined(__AVX512F__)
  return (PartLongs)_mm512_mul_epu32((__m512i)a, (__m512i)(PartLongs{} + b));
#elif defined(__AVX2__)
  return (PartLongs)_mm256_mul_epu32((__m256i)a, (__m256i)(PartLongs{} + b));
#else
  return (a & 0xFFFFFFFFu) * b;
#endif
}
inline void philox_round(PartLongs c[4], std::uint32_t key0, std::uint32_t key1) {
  const PartLongs product0 = multiply_lower(c[0], 0xD2511F53u), product1 = multiply_lower(c[2], 0xCD9E8D57u);
  c[0] = (product1 >> 32) ^ c[1] ^ key0;
  c[1] = product1;
  c[2] = (product0 >> 32) ^ c[3] ^ key1;
  c[3] = product0;
}
inline void philox(PartWords c[4], std::uint32_t key0, std::uint32_t key1) {
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the packed path reads words as little-endian"
#endif
  PartLongs even[4], odd[4];
  for (int i = 0; i < 4; ++i) {
    even[i] = (PartLongs)c[i];
    odd[i] = even[i] >> 32;
  }
  for (int round = 0; round < 10; ++round) {
    philox_round(even, key0, key1);
    philox_round(odd, key0, key1);
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  for (int i = 0; i < 4; ++i) c[i] = (PartWords)((even[i] & 0xFFFFFFFFu) | (odd[i] << 32));
}
template <class T>
inline void philox(Pair<T> c[4], std::uint32_t key0, std::uint32_t key1) {
  T low[4] = {c[0].low, c[1].low, c[2].low, c[3].low}, high[4] = {c[0].high, c[1].high, c[2].high, c[3].high};
  philox(low, key0, key1);
  philox(high, key0, key1);
  for (int i = 0; i < 4; ++i) c[i] = {low[i], high[i]};
}

// From random words to numbers: uniform ones between 0 and 1, exponential ones, and Gumbel's.
inline Floats uniform_draw(Words word) { return (to_floats(as_ints(word >> 9)) + 0.5f) * 0x1p-23f; }
inline Floats exponential_draw(Words word) { return -logarithm(uniform_draw(word)); }
inline Floats gumbel(Words word) { return -logarithm(exponential_draw(word)); }

}  // namespace
}  // namespace hardwire
