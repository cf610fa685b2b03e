/*
 * checksum.c - eight bytes at once with the instruction, or zlib. Nothing here fails.
 */
#include "base/checksum.h"

#include <string.h>

#include <zlib.h>

#ifdef __x86_64__
__attribute__((target("sse4.2"))) static uint32_t crc32c(const void *bytes, size_t len)
{
    const unsigned char *at = bytes;
    uint64_t crc = ~0u, word;
    for (; len >= sizeof(word); len -= sizeof(word), at += sizeof(word)) {
        memcpy(&word, at, sizeof(word));
        crc = __builtin_ia32_crc32di(crc, word);
    }
    for (; len; len--)
        crc = __builtin_ia32_crc32qi((uint32_t)crc, *at++);
    return ~(uint32_t)crc;
}
#endif

uint32_t checksum(const void *bytes, size_t len)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("sse4.2"))
        return crc32c(bytes, len);
#endif
    return (uint32_t)crc32_z(0, bytes, len);
}
