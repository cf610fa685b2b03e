/*
 * state_verify.h - what is done with a piece of a segment on the pool, while the loop applies earlier ones.
 *
 * The checksums of its records are verified, the images of objects are checked, their keys hashed, and packed
 * objects made in memory that is lent to the pool (core/object/text_packer.h). A region for what the loop needs gets its
 * memory (base/page_pool.h). The loop then does not touch the bytes of these objects: they are in the cache of another
 * processor.
 *
 * While a piece is read, only the pool uses this struct, the dictionaries that are lent and the bytes after `verified` of
 * the loader; the loop does not move the bytes.
 */
#ifndef CORE_STATE_VERIFY_H
#define CORE_STATE_VERIFY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/page_pool.h"
#include "base/siphash.h"

struct inf_object;
struct pack_dictionary;

enum {
    LENT_MAX = 8, /* dictionaries; the loop makes the objects of others */
};

/* A dictionary that is lent. */
struct lent_dictionary {
    uint32_t number;
    unsigned made; /* objects of the piece */
    struct pack_dictionary *dictionary;
};

/* The record of an object whose image is not damaged (core/object/object_image.h). */
struct checked_image {
    uint64_t hash;                   /* of its key */
    const struct inf_object *object; /* a reference; NULL: not made */
    uint64_t number;                 /* of the record */
    uint32_t owner;                  /* of the record */
    uint32_t offset;                 /* in the file */
    uint32_t len;                    /* of the record */
};

struct piece_work {
    struct siphash_key key;
    size_t offset;              /* of `bytes` in the file */
    const char *bytes;          /* from `at` on */
    size_t have;                /* bytes there */
    size_t verified;            /* of those: whole records */
    size_t complete;            /* of those: whole batches; 0: no batch ends there */
    bool bad;                   /* the next record is damaged */
    struct page_region *region; /* NULL: none */
    struct page_stock stock;    /* for the objects */
    bool checks_images;         /* else all is left to the loop */
    struct lent_dictionary lent[LENT_MAX];
    unsigned n_lent;
    struct buf images; /* of struct checked_image, ascending */
};

/* For struct disk_op: @len more bytes were read. */
void piece_verify(void *piece_work, size_t len);

#endif
