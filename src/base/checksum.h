/*
 * checksum.h - a checksum of 32 bits for files that only the host that wrote them reads.
 *
 * CRC-32C with the instruction of x86-64 processors (SSE 4.2), three times as fast as the CRC-32 of zlib,
 * which took 15 % of a start with saved objects (test/bench/bench_state.c). Other processors use that one.
 */
#ifndef BASE_CHECKSUM_H
#define BASE_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

uint32_t checksum(const void *bytes, size_t len);

/* The checksums of three strings at once: half the time if they are of about the same length. */
void checksum_of_three(const struct str bytes[3], uint32_t ret_sums[3]);

#endif
