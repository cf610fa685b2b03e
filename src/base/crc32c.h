/*
 * crc32c.h - CRC-32C (Castagnoli), the checksum that x86-64 processors compute with an instruction: three
 * times as fast as that of zlib, which took 15 % of a start with saved objects (test/bench/bench_state.c).
 */
#ifndef BASE_CRC32C_H
#define BASE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

uint32_t crc32c(const void *bytes, size_t len);

/* The same without the instruction, for processors that lack it. */
uint32_t crc32c_portable(const void *bytes, size_t len);

#endif
