/*
 * state_verify.h - what is done with a piece of a segment on the pool, while the loop applies earlier ones.
 *
 * The checksums of its records are verified, the images of objects are checked and their keys hashed, and a region
 * for the objects gets its memory (base/page_pool.h). Of 100,000 objects that is a third of the CPU time of a start
 * (test/bench/bench_state.c).
 * While a piece is read, only the pool uses this struct and the bytes after `verified` of the loader; the loop
 * does not move the bytes.
 */
#ifndef CORE_STATE_VERIFY_H
#define CORE_STATE_VERIFY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/siphash.h"

struct page_region;

enum {
    PIECE_IMAGES = 1024, /* that are checked of a piece; if there are more, the loop does it */
};

/* The image of an object that is not damaged (core/object/object_image.h). */
struct checked_image {
    uint64_t hash;   /* of its key */
    uint32_t offset; /* of its record in the file */
};

struct piece_work {
    struct siphash_key key;
    size_t offset;                /* of `bytes` in the file */
    const char *bytes;            /* from `at` on */
    size_t have;                  /* bytes there */
    size_t verified;              /* of those: whole records */
    size_t complete;              /* of those: whole batches; 0: no batch ends there */
    bool bad;                     /* the next record is damaged */
    struct page_region *region;   /* NULL: none */
    struct checked_image *images; /* ascending; room for PIECE_IMAGES */
    unsigned n_images;
};

/* For struct disk_op: @len more bytes were read. */
void piece_verify(void *piece_work, size_t len);

#endif
