/*
 * nats_position.c - the comparison, and a table in which each subject has one place: one that has the same place
 * replaces it.
 */
#include "daemon/nats/nats_position.h"

#include <stdlib.h>

#include "base/alloc.h"

uint64_t nats_version_read(struct str text)
{
    uint64_t version = 0;
    for (size_t i = 0; i < text.len; i++) {
        unsigned digit = (unsigned char)text.at[i] - (unsigned)'0';
        if (digit > 9 || __builtin_mul_overflow(version, 10, &version) ||
            __builtin_add_overflow(version, digit, &version))
            return 0;
    }
    return version;
}

bool nats_position_is_newer(const struct nats_position *record, const struct nats_position *last)
{
    bool newer = !record->version || !last->version || record->version > last->version;
    if (record->log == last->log)
        return record->seq > last->seq;
    if (record->uid != last->uid)
        return newer;
    if (last->verb == INF_DELETED)
        return record->verb == INF_ADDED && newer;
    if (record->verb == INF_DELETED && !record->final)
        return true;
    return newer;
}

void nats_last_init(struct nats_last *last, const struct siphash_key *key)
{
    *last = (struct nats_last){.key = *key};
    nats_last_clear(last);
}

void nats_last_free(struct nats_last *last)
{
    free(last->entries);
    last->entries = NULL;
}

uint64_t nats_last_hash(const struct nats_last *last, struct str text)
{
    uint64_t hash = siphash13(&last->key, text.at, text.len);
    return hash ? hash : 1;
}

static struct nats_last_entry *place_of(const struct nats_last *last, uint64_t subject)
{
    return &last->entries[subject % NATS_LAST_ENTRIES];
}

const struct nats_last_entry *nats_last_find(const struct nats_last *last, uint64_t subject)
{
    const struct nats_last_entry *entry = place_of(last, subject);
    return entry->subject == subject ? entry : NULL;
}

void nats_last_put(struct nats_last *last, uint64_t subject, uint64_t seq,
                   const struct nats_position *position)
{
    *place_of(last, subject) =
        (struct nats_last_entry){.subject = subject, .seq = seq, .position = *position};
}

void nats_last_forget(struct nats_last *last, uint64_t subject)
{
    if (nats_last_find(last, subject))
        place_of(last, subject)->subject = 0;
}

void nats_last_clear(struct nats_last *last)
{
    free(last->entries);
    last->entries = xcalloc(NATS_LAST_ENTRIES,
                            sizeof(*last->entries)); /* pages that are not used take no memory */
}
