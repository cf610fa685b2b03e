/*
 * crc32c.c - with the instruction of SSE 4.2 if the processor has it, otherwise with tables: eight of 256
 * entries, so that eight bytes are one step. Nothing here fails.
 */
#include "base/crc32c.h"

#include <stdbool.h>
#include <string.h>

enum {
    STEP = 8, /* bytes */
};

/* ---- with tables ---- */

static uint32_t tables[STEP][256];

/* tables[k][b]: what the byte @b contributes when k more bytes follow it. */
static void make_tables(void)
{
    for (uint32_t b = 0; b < 256; b++) {
        uint32_t crc = b;
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0);
        tables[0][b] = crc;
    }
    for (int k = 1; k < STEP; k++)
        for (uint32_t b = 0; b < 256; b++)
            tables[k][b] = tables[k - 1][b] >> 8 ^ tables[0][tables[k - 1][b] & 255];
}

uint32_t crc32c_portable(const void *bytes, size_t len)
{
    const unsigned char *at = bytes;
    uint32_t crc = ~0u;
    if (!tables[0][1])
        make_tables();
    for (; len >= STEP; len -= STEP, at += STEP) {
        uint32_t next = 0;
        for (unsigned k = 0; k < STEP; k++) {
            uint32_t byte = k < 4 ? (at[k] ^ crc >> 8 * k) & 255 : at[k];
            next ^= tables[STEP - 1 - k][byte];
        }
        crc = next;
    }
    for (; len; len--)
        crc = crc >> 8 ^ tables[0][(crc ^ *at++) & 255];
    return ~crc;
}

/* ---- with the instruction ---- */

#ifdef __x86_64__
__attribute__((target("sse4.2"))) static uint32_t crc32c_sse42(const void *bytes, size_t len)
{
    const unsigned char *at = bytes;
    uint64_t crc = ~0u;
    for (; len >= STEP; len -= STEP, at += STEP) {
        uint64_t word;
        memcpy(&word, at, sizeof(word));
        crc = __builtin_ia32_crc32di(crc, word);
    }
    for (; len; len--)
        crc = __builtin_ia32_crc32qi((uint32_t)crc, *at++);
    return ~(uint32_t)crc;
}

uint32_t crc32c(const void *bytes, size_t len)
{
    return __builtin_cpu_supports("sse4.2") ? crc32c_sse42(bytes, len)
                                            : crc32c_portable(bytes, len);
}
#else
uint32_t crc32c(const void *bytes, size_t len)
{
    return crc32c_portable(bytes, len);
}
#endif
