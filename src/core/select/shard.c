/*
 * shard.c - the hash of a uid, and the range of hashes that belongs to a shard.
 */
#include "core/select/shard.h"

#include <inttypes.h>

uint64_t shard_hash(struct str uid)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < uid.len; i++)
        hash = (hash ^ (unsigned char)uid.at[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* The first hash of shard @index. The ranges are 2^64/count, rounded up; the last one is shorter. */
static uint64_t shard_start(struct shard shard)
{
    return (UINT64_MAX / shard.count + 1) * shard.index;
}

static bool shard_is_last(struct shard shard)
{
    return shard.index + 1 == shard.count;
}

static struct shard next_shard(struct shard shard)
{
    return (struct shard){shard.index + 1, shard.count};
}

bool shard_has(struct shard shard, struct str uid)
{
    uint64_t hash;
    if (!shard_is_part(shard))
        return true;
    hash = shard_hash(uid);
    return hash >= shard_start(shard) &&
           (shard_is_last(shard) || hash < shard_start(next_shard(shard)));
}

void shard_put_selector(struct buf *out, struct shard shard)
{
    buf_printf(out, "shardRange(object.metadata.uid, '0x%016" PRIx64 "', ", shard_start(shard));
    if (shard_is_last(shard))
        buf_puts(out, "'0x10000000000000000')");
    else
        buf_printf(out, "'0x%016" PRIx64 "')", shard_start(next_shard(shard)));
}
