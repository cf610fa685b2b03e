/*
 * shard.h - splits the objects of a watch over several processes by a hash of their uid.
 *
 * The hash is FNV-1a with 64 bits, and shard i of n has the i-th of n equal ranges of it. That is the
 * hash of the API server (shardSelector, Kubernetes 1.36), so that a server which filters and a
 * client which filters by itself get the same objects.
 */
#ifndef CORE_SELECT_SHARD_H
#define CORE_SELECT_SHARD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

enum {
    SHARDS_MAX = 1024, /* LIMIT: shards of one watch */
};

/* Shard @index, from 0, of @count. A count of 0 or 1 means all objects. */
struct shard {
    uint32_t index;
    uint32_t count;
};

/* Whether objects are split at all. */
static inline bool shard_is_part(struct shard shard)
{
    return shard.count > 1;
}

uint64_t shard_hash(struct str uid);

/* Whether the object with @uid belongs to @shard. An object without a uid has the hash of "". */
bool shard_has(struct shard shard, struct str uid);

/* Appends the shardSelector of @shard, which must be a part. */
void shard_put_selector(struct buf *out, struct shard shard);

#endif
