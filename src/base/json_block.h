/*
 * json_block.h - JSON text sixty-four bytes at a time: which of them are brackets, and which are
 * blanks, outside of strings.
 *
 * Most of the work on an object is to find where its parts end. Looked at byte by byte, each byte
 * waits for the one before it: does it belong to a string? Here a block becomes a few words of 64
 * bits, one bit a byte, and the question is answered for all of them at once:
 *
 *     text       {"a\"b":[1]}
 *     quotes     .1.....1....       those that no backslash hides
 *     inside     .111111.....       from each opening one to before the closing one: the parity of
 *                                   the quotes so far
 *     brackets   1.......1.11       that are not inside
 *
 * With SSE2, which every x86-64 has, sixteen bytes are compared in one instruction. Where it is
 * missing JSON_BLOCK is 0, and users go byte by byte.
 */
#ifndef BASE_JSON_BLOCK_H
#define BASE_JSON_BLOCK_H

#include <stdint.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#define JSON_BLOCK 64
#else
#define JSON_BLOCK 0
#endif

/* What one block leaves for the next. A zeroed one begins outside of a string. */
struct json_carry {
    uint64_t inside;  /* all ones: the block ended within a string */
    uint64_t escaped; /* 1: its last byte hides the first of the next */
};

/* Bit i is byte i. */
struct json_marks {
    uint64_t open;  /* { [ */
    uint64_t close; /* } ] */
    uint64_t space; /* blanks, tabs, newlines and what else is no more than a blank */
};

#if JSON_BLOCK

struct json_bits {
    uint64_t quote, backslash, open, close, space;
};

/* The two kinds of brackets differ in one bit, 0x20. */
static inline void json_look(const char *at, int i, struct json_bits *bits)
{
    __m128i x = _mm_loadu_si128((const __m128i *)(const void *)(at + 16 * i));
    __m128i folded = _mm_or_si128(x, _mm_set1_epi8(0x20));
#define JSON_BITS(mask) ((uint64_t)(unsigned)_mm_movemask_epi8(mask) << (16 * i))
    bits->quote |= JSON_BITS(_mm_cmpeq_epi8(x, _mm_set1_epi8('"')));
    bits->backslash |= JSON_BITS(_mm_cmpeq_epi8(x, _mm_set1_epi8('\\')));
    bits->open |= JSON_BITS(_mm_cmpeq_epi8(folded, _mm_set1_epi8('{')));
    bits->close |= JSON_BITS(_mm_cmpeq_epi8(folded, _mm_set1_epi8('}')));
    bits->space |= JSON_BITS(_mm_cmpeq_epi8(_mm_min_epu8(x, _mm_set1_epi8(' ')), x));
#undef JSON_BITS
}

/* The bytes that a backslash hides: of a run of backslashes every second one, and what follows an
 * odd run. Runs are few and short, so each is followed. */
static inline uint64_t json_hidden(uint64_t backslash, struct json_carry *carry)
{
    uint64_t hidden = carry->escaped;
    backslash &= ~hidden;
    carry->escaped = 0;
    while (backslash) {
        uint64_t first = backslash & (~backslash + 1), next = first << 1;
        carry->escaped = next == 0;
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

/* Looks at the JSON_BLOCK bytes at @at. */
static inline struct json_marks json_block(const char *at, struct json_carry *carry)
{
    struct json_bits bits = {0};
    uint64_t inside;
    for (int i = 0; i < 4; i++)
        json_look(at, i, &bits);
    inside = json_parity(bits.quote & ~json_hidden(bits.backslash, carry)) ^ carry->inside;
    carry->inside = (uint64_t)0 - (inside >> 63);
    return (struct json_marks){bits.open & ~inside, bits.close & ~inside, bits.space & ~inside};
}

#endif

#endif
