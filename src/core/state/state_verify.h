/*
 * state_verify.h - what is done with a piece of a segment on the pool, while the loop applies earlier ones.
 *
 * The checksums of its records are verified, and a region for the objects in it gets its memory
 * (base/page_pool.h). Of 100,000 objects that is a fifth of the time of a start (test/bench/bench_state.c).
 * While a piece is read, only the pool uses this struct and the bytes after `verified` of the loader; the loop
 * does not move the bytes.
 */
#ifndef CORE_STATE_VERIFY_H
#define CORE_STATE_VERIFY_H

#include <stdbool.h>
#include <stddef.h>

struct page_region;

struct piece_work {
    const char *bytes;          /* from `at` on */
    size_t have;                /* bytes there */
    size_t verified;            /* of those: whole records */
    size_t complete;            /* of those: whole batches; 0: no batch ends there */
    bool bad;                   /* the next record is damaged */
    struct page_region *region; /* NULL: none */
};

/* For struct disk_op: @len more bytes were read. */
void piece_verify(void *piece_work, size_t len);

#endif
