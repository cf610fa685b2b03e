/*
 * state_record.h - one record of a state file:
 *
 *     | len | crc | type | flags | 0 | owner | number | body ... |
 *       4     4     1      1      2    4       8
 *
 * `len` is the size of the whole record, `crc` the checksum (base/checksum.h) of everything after it. Numbers are
 * in the byte order of the machine: a state is read on the host that wrote it.
 *
 *     type         owner             number             body
 *     SEGMENT      number of file    id of the state    struct segment_body, epoch
 *     STREAM       stream            -                  id; flag RECORD_REBUILD: it is incomplete
 *     STREAM_DROP  stream            -                  -
 *     OBJECT       stream            struct object_refs image (core/object/object_image.h)
 *     TOMBSTONE    stream            -                  key
 *     POSITION     stream            time, microseconds resource version
 *     QUEUE        queue             confirmed bytes    name
 *     QUEUE_DROP   queue             -                  -
 *     LINES        queue             bytes before it    bytes
 *     CONFIRM      queue             confirmed bytes    -
 *     BATCH_END    records in batch  number of batch    struct batch_body
 *     DICTIONARY   dictionary        id of the state    bytes; alone in its file
 *     NONE         -                 -                  -; so that a batch has a record
 *     LABELS       label set         -                  text; the first of a file is 1, then 2, ...
 *
 * A definition (STREAM, QUEUE) that is repeated replaces the earlier one.
 */
#ifndef CORE_STATE_RECORD_H
#define CORE_STATE_RECORD_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

enum {
    RECORD_VERSION = 5,              /* of the format; files of another one are discarded */
    RECORD_HEAD = 24,                /* bytes before the body */
    RECORD_LABELS_MAX = 1024 * 1024, /* LIMIT: bytes of a label set; longer ones are not written */
};

/* Values are in files: append only. */
enum record_type {
    RECORD_SEGMENT = 1,
    RECORD_STREAM,
    RECORD_STREAM_DROP,
    RECORD_OBJECT,
    RECORD_TOMBSTONE,
    RECORD_POSITION,
    RECORD_QUEUE,
    RECORD_QUEUE_DROP,
    RECORD_LINES,
    RECORD_CONFIRM,
    RECORD_BATCH_END,
    RECORD_DICTIONARY,
    RECORD_NONE, /* ignored */
    RECORD_LABELS,
    RECORD_TYPES,
};

enum record_flag {
    RECORD_REBUILD = 1,
};

struct record {
    enum record_type type;
    unsigned flags;
    uint32_t owner;
    uint64_t number;
    struct str body;
};

/* The `number` of an object. */
struct object_refs {
    uint32_t dictionary; /* 0: it is not packed */
    uint32_t labels;     /* its label set, of the same file; 0: unknown */
};

static inline uint64_t object_refs_number(struct object_refs refs)
{
    return (uint64_t)refs.labels << 32 | refs.dictionary;
}

static inline struct object_refs object_refs_of(uint64_t number)
{
    return (struct object_refs){(uint32_t)number, (uint32_t)(number >> 32)};
}

struct segment_body {
    char magic[8];
    uint32_t version;
    uint32_t zero;
    uint64_t key[2]; /* of hashes in images */
};

struct batch_body {
    int64_t time_us;
    uint32_t oldest; /* number of the first file that is needed */
    uint32_t zero;
    uint64_t mark; /* inf_state_mark() */
};

extern const char record_magic[8];

/* Appends a record; returns its size. */
size_t record_put(struct buf *out, const struct record *record);

/* The same for a body that is appended to @out between the two calls. @record->body is not used.
 * record_end() gets what record_begin() returned. */
size_t record_begin(struct buf *out, const struct record *record);
size_t record_end(struct buf *out, size_t begin);

enum record_result {
    RECORD_OK,
    RECORD_SHORT, /* the bytes end within the record */
    RECORD_BAD,   /* damaged */
};

/* Up to three records at the beginning of some bytes that are not damaged. */
struct record_group {
    unsigned count;
    enum record_type types[3];
    size_t sizes[3];
};

/* Finds them; their checksums are computed together. Returns what is after them: RECORD_OK if that is not known
 * yet. */
enum record_result record_read_group(struct str bytes, struct record_group *ret_group);

/* Reads the record at the beginning of @bytes. Its body is borrowed from there. record_peek() does not
 * check the CRC, for records that were read before. */
enum record_result record_peek(struct str bytes, struct record *ret_record, size_t *ret_size);
enum record_result record_read(struct str bytes, struct record *ret_record, size_t *ret_size);

#endif
