/*
 * checksum.c - eight bytes at once with the instruction, or zlib. Nothing here fails.
 */
#include "base/checksum.h"

#include <string.h>

#include <zlib.h>

#ifdef __x86_64__
__attribute__((target("sse4.2"))) static uint64_t crc32c_word(uint64_t crc, const char *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof(word));
    return __builtin_ia32_crc32di(crc, word);
}

/* Continues with @bytes from @from on. */
__attribute__((target("sse4.2"))) static uint32_t crc32c(uint64_t crc, struct str bytes,
                                                         size_t from)
{
    for (; bytes.len - from >= sizeof(uint64_t); from += sizeof(uint64_t))
        crc = crc32c_word(crc, bytes.at + from);
    for (; from < bytes.len; from++)
        crc = __builtin_ia32_crc32qi((uint32_t)crc, (unsigned char)bytes.at[from]);
    return ~(uint32_t)crc;
}

/* The result of the instruction is ready after three cycles, but one can be started in each. */
__attribute__((target("sse4.2"))) static void crc32c_of_three(const struct str bytes[3],
                                                              uint32_t ret_sums[3])
{
    uint64_t a = ~0u, b = ~0u, c = ~0u;
    size_t common = bytes[0].len < bytes[1].len ? bytes[0].len : bytes[1].len, at = 0;
    common = common < bytes[2].len ? common : bytes[2].len;
    for (; common - at >= sizeof(uint64_t); at += sizeof(uint64_t)) {
        a = crc32c_word(a, bytes[0].at + at);
        b = crc32c_word(b, bytes[1].at + at);
        c = crc32c_word(c, bytes[2].at + at);
    }
    ret_sums[0] = crc32c(a, bytes[0], at);
    ret_sums[1] = crc32c(b, bytes[1], at);
    ret_sums[2] = crc32c(c, bytes[2], at);
}
#endif

uint32_t checksum(const void *bytes, size_t len)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("sse4.2"))
        return crc32c(~0u, (struct str){bytes, len}, 0);
#endif
    return (uint32_t)crc32_z(0, bytes, len);
}

void checksum_of_three(const struct str bytes[3], uint32_t ret_sums[3])
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("sse4.2")) {
        crc32c_of_three(bytes, ret_sums);
        return;
    }
#endif
    for (int i = 0; i < 3; i++)
        ret_sums[i] = checksum(bytes[i].at, bytes[i].len);
}
