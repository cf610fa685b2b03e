/*
 * json_block.h - scans JSON text in blocks of 64 bytes: finds brackets and spaces outside of
 * strings.
 *
 * Most of the work on an object is to find where its parts end. Byte by byte, each step depends on
 * the previous one: is this byte inside a string? Here a block becomes a few 64-bit words, one bit
 * per byte, and all bytes are classified at once:
 *
 *     text       {"a\"b":[1]}
 *     quotes     .1.....1....       quotes that are not escaped
 *     inside     .111111.....       from each opening quote to before the closing one: the parity of
 *                                   the quotes so far
 *     brackets   1.......1.11       brackets that are not inside
 *
 * With SSE2, which every x86-64 has, sixteen bytes are compared in one instruction, and with AVX2
 * thirty-two. Without SSE2 JSON_BLOCK is 0 and json.c scans byte by byte. The functions that depend on
 * the CPU are parameters: constants that the compiler inlines.
 *
 * Gain: 37 % of informerd's CPU per change (test/bench/replay, 11.6 KB pods, TLS, event log with
 * diffs), 32 % of the instructions of test/bench/bench_event. json_pass_block() alone: 4 % of the
 * instructions of an initial list. AVX2 alone: 7 % of the instructions of informerd per change.
 */
#ifndef BASE_JSON_BLOCK_H
#define BASE_JSON_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __SSE2__
#include <immintrin.h>
#define JSON_BLOCK 64
#define JSON_PIECE 16 /* bytes that are compared in one instruction */
#else
#define JSON_BLOCK 0
#endif

/* State carried from one block to the next. Zeroed: outside of a string. */
struct json_carry {
    uint64_t inside;  /* all ones: the block ended within a string */
    uint64_t escaped; /* 1: its last byte escapes the first of the next */
};

/* Bit i is byte i. */
struct json_marks {
    uint64_t open;  /* { [ */
    uint64_t close; /* } ] */
    uint64_t space; /* bytes up to ' ': spaces, tabs, newlines and control characters */
};

#if JSON_BLOCK

/* A function of one loop of json.c, which has one caller for each CPU. */
#define JSON_INLINE static inline __attribute__((always_inline))

/* For code that runs only if json_has_avx2(). */
#define JSON_AVX2 __attribute__((target("avx2,popcnt,pclmul")))

static inline bool json_has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt") &&
           __builtin_cpu_supports("pclmul");
}

struct json_bits {
    uint64_t quote, backslash, open, close, space;
};

typedef void json_classify_fn(const char *at, struct json_bits *bits);
typedef uint64_t json_parity_fn(uint64_t bits);
typedef size_t json_count_fn(uint64_t bits);

/* The two kinds of brackets differ in one bit, 0x20. */
static inline void json_classify(const char *at, struct json_bits *bits)
{
    for (int i = 0; i < JSON_BLOCK; i += 16) {
        __m128i x = _mm_loadu_si128((const __m128i *)(const void *)(at + i));
        __m128i folded = _mm_or_si128(x, _mm_set1_epi8(0x20));
#define JSON_BITS(mask) ((uint64_t)(unsigned)_mm_movemask_epi8(mask) << i)
        bits->quote |= JSON_BITS(_mm_cmpeq_epi8(x, _mm_set1_epi8('"')));
        bits->backslash |= JSON_BITS(_mm_cmpeq_epi8(x, _mm_set1_epi8('\\')));
        bits->open |= JSON_BITS(_mm_cmpeq_epi8(folded, _mm_set1_epi8('{')));
        bits->close |= JSON_BITS(_mm_cmpeq_epi8(folded, _mm_set1_epi8('}')));
        bits->space |= JSON_BITS(_mm_cmpeq_epi8(_mm_min_epu8(x, _mm_set1_epi8(' ')), x));
#undef JSON_BITS
    }
}

JSON_AVX2 static inline void json_classify_avx2(const char *at, struct json_bits *bits)
{
    for (int i = 0; i < JSON_BLOCK; i += 32) {
        __m256i x = _mm256_loadu_si256((const __m256i *)(const void *)(at + i));
        __m256i folded = _mm256_or_si256(x, _mm256_set1_epi8(0x20));
#define JSON_BITS(mask) ((uint64_t)(unsigned)_mm256_movemask_epi8(mask) << i)
        bits->quote |= JSON_BITS(_mm256_cmpeq_epi8(x, _mm256_set1_epi8('"')));
        bits->backslash |= JSON_BITS(_mm256_cmpeq_epi8(x, _mm256_set1_epi8('\\')));
        bits->open |= JSON_BITS(_mm256_cmpeq_epi8(folded, _mm256_set1_epi8('{')));
        bits->close |= JSON_BITS(_mm256_cmpeq_epi8(folded, _mm256_set1_epi8('}')));
        bits->space |= JSON_BITS(_mm256_cmpeq_epi8(_mm256_min_epu8(x, _mm256_set1_epi8(' ')), x));
#undef JSON_BITS
    }
}

/*
 * Whether the string that the JSON_PIECE bytes at @at are in ends there: its closing quote is at
 * *@ret_plain. Else this is how many of the bytes, up to the first backslash, are part of it.
 */
static inline bool json_piece_ends_string(const char *at, size_t *ret_plain)
{
    __m128i x = _mm_loadu_si128((const __m128i *)(const void *)at);
    unsigned quote = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(x, _mm_set1_epi8('"')));
    unsigned backslash = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(x, _mm_set1_epi8('\\')));
    unsigned both = quote | backslash;
    *ret_plain = both ? (size_t)__builtin_ctz(both) : JSON_PIECE;
    return both & (~both + 1) & quote;
}

/* The bytes that are escaped: every second backslash of a run, and the byte after an odd run. Runs
 * are few and short, so each is followed. @escaped is carry.escaped, before and after. */
static inline uint64_t json_hidden(uint64_t backslash, uint64_t *escaped)
{
    uint64_t hidden = *escaped;
    backslash &= ~hidden;
    *escaped = 0;
    while (backslash) {
        uint64_t first = backslash & (~backslash + 1), next = first << 1;
        *escaped = next == 0;
        hidden |= next;
        backslash &= ~(first | next);
    }
    return hidden;
}

/* Bit i becomes the parity of bits 0 to i. */
static inline uint64_t json_parity(uint64_t bits)
{
    for (int shift = 1; shift < 64; shift *= 2)
        bits ^= bits << shift;
    return bits;
}

/* The same as one multiplication without carries. Gain: 1 % of the instructions of informerd per change. */
JSON_AVX2 static inline uint64_t json_parity_avx2(uint64_t bits)
{
    __m128i product =
        _mm_clmulepi64_si128(_mm_set_epi64x(0, (long long)bits), _mm_set1_epi8(-1), 0);
    return (uint64_t)product[0];
}

/* Which bytes are inside of strings, byte by byte. (It gets no pointer to what the loops of json.c keep
 * in registers: with one, a block took 95 instructions instead of 65.) */
__attribute__((cold)) static inline uint64_t json_inside_bytewise(uint64_t quote,
                                                                  uint64_t backslash, bool in,
                                                                  uint64_t *ret_escaped)
{
    uint64_t inside = 0;
    bool escaped = *ret_escaped;
    for (uint64_t bit = 1; bit; bit <<= 1) {
        bool hidden = escaped;
        escaped = in && !hidden && (backslash & bit);
        in ^= (quote & bit) && !hidden;
        inside |= in ? bit : 0;
    }
    *ret_escaped = escaped;
    return inside;
}

/* Which bytes are inside of strings, in a block with backslashes. A backslash outside of a string,
 * which is not valid JSON, escapes nothing; json_hidden() can't know that, so such a block is
 * scanned byte by byte. */
JSON_INLINE uint64_t json_inside_escaped(json_parity_fn *parity, const struct json_bits *bits,
                                         struct json_carry *carry)
{
    uint64_t escaped = carry->escaped, hidden = json_hidden(bits->backslash, &escaped);
    uint64_t inside = parity(bits->quote & ~hidden) ^ carry->inside;
    if (bits->backslash & ~inside) {
        escaped = carry->escaped;
        inside = json_inside_bytewise(bits->quote, bits->backslash, carry->inside, &escaped);
    }
    carry->escaped = escaped;
    return inside;
}

/* Scans the JSON_BLOCK bytes at @at. Backslashes count only inside of strings, so that the end of a
 * value never depends on where blocks begin. */
JSON_INLINE struct json_marks json_block(json_classify_fn *classify, json_parity_fn *parity,
                                         const char *at, struct json_carry *carry)
{
    struct json_bits bits = {0};
    uint64_t inside;
    classify(at, &bits);
    if (bits.backslash) {
        inside = json_inside_escaped(parity, &bits, carry);
    } else {
        inside = parity(bits.quote & ~carry->escaped) ^ carry->inside;
        carry->escaped = 0;
    }
    carry->inside = (uint64_t)0 - (inside >> 63);
    return (struct json_marks){bits.open & ~inside, bits.close & ~inside, bits.space & ~inside};
}

/* The effect of the first bracket in @both on the depth: +1 or -1, without a branch, because it
 * can't be predicted. */
static inline size_t json_step(const struct json_marks *marks, uint64_t both)
{
    return 2 * (size_t)((marks->open & both & (~both + 1)) != 0) - 1;
}

/* The number of set bits. Not every x86-64 has an instruction for it; each that has AVX2 does. */
static inline size_t json_count(uint64_t bits)
{
    bits -= bits >> 1 & UINT64_C(0x5555555555555555);
    bits = (bits & UINT64_C(0x3333333333333333)) + (bits >> 2 & UINT64_C(0x3333333333333333));
    bits = (bits + (bits >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    return (size_t)(bits * UINT64_C(0x0101010101010101) >> 56);
}

JSON_AVX2 static inline size_t json_count_avx2(uint64_t bits)
{
    return (size_t)__builtin_popcountll(bits);
}

/*
 * Skips a block inside of a container whose @depth is not 0, if the block has too few closing
 * brackets to end the container. Then the brackets are only counted, which is much faster than
 * processing them one by one. `{}` pairs, frequent in managedFields, are ignored. Returns false if
 * the brackets must be processed one by one (@marks are then without those pairs).
 */
JSON_INLINE bool json_pass_block(json_count_fn *count, struct json_marks *marks, size_t *depth)
{
    uint64_t pairs = marks->open & marks->close >> 1;
    size_t closing;
    marks->open &= ~pairs;
    marks->close &= ~(pairs << 1);
    closing = count(marks->close);
    if (*depth <= closing)
        return false;
    *depth += count(marks->open) - closing;
    return true;
}

#endif

#endif
