/*
 * handler_track.c - the arithmetic of positions, and tracks in the state on disk.
 *
 * Normal path: place, add, reach; then publish on a standby, or remove and position on the leader. What is
 * saved is a table of lines "NUMBER BASE KEY" (a question mark instead of the first blank: no base), written again as a whole when a base changes, which is rare.
 * Lines that can't be read are ignored: their records then have no track, and are delivered.
 */
#include "daemon/handler/handler_track.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/buf.h"

#define for_each_track(item, tracks)                                        \
    for (struct handler_track *item =                                       \
             container_of((tracks)->list.next, struct handler_track, node); \
         &(item)->node != &(tracks)->list;                                  \
         (item) = container_of((item)->node.next, struct handler_track, node))

uint64_t handler_track_version(const char *text)
{
    char *end;
    uint64_t version = text && *text >= '1' && *text <= '9' ? strtoull(text, &end, 10) : 0;
    return version && !*end && version < UINT64_MAX ? version : 0;
}

/* ---- the set ---- */

static bool same_key(const void *key, const struct hash_node *node)
{
    return strcmp(container_of(node, struct handler_track, by_key)->key, key) == 0;
}

static struct handler_track *add_track(struct handler_tracks *tracks, const char *key,
                                       uint64_t hash)
{
    size_t size = strlen(key) + 1;
    struct handler_track *track = xcalloc(1, sizeof(*track) + size);
    memcpy(track->key, key, size);
    track->number = tracks->next_number++;
    list_init(&track->node);
    list_init(&track->records);
    list_push(&tracks->list, &track->node);
    tracks->changed = true;
    hashmap_add(&tracks->by_key, &track->by_key, hash);
    return track;
}

struct handler_track *handler_tracks_get(struct handler_tracks *tracks, const char *key)
{
    uint64_t hash = siphash13(&tracks->hash_key, key, strlen(key));
    struct hash_node *node = hashmap_find(&tracks->by_key, hash, same_key, key);
    return node ? container_of(node, struct handler_track, by_key) : add_track(tracks, key, hash);
}

struct handler_track *handler_tracks_numbered(struct handler_tracks *tracks, uint64_t number)
{
    for_each_track(track, tracks) if (track->number == number) return track;
    return NULL;
}

void handler_tracks_drop(struct handler_tracks *tracks, struct handler_track *track)
{
    hashmap_remove(&tracks->by_key, &track->by_key);
    list_remove(&track->node);
    free(track);
    tracks->changed = true;
}

/* ---- the state on disk ---- */

void handler_tracks_save(struct handler_tracks *tracks, bool again)
{
    struct buf table = {0};
    uint64_t before;
    if (!tracks->on_disk || !(tracks->changed || again))
        return;
    for_each_track(track, tracks) buf_printf(&table, "%" PRIu64 "%c%" PRIu64 " %s\n", track->number,
                                             track->based ? ' ' : '?', track->base, track->key);
    before = inf_state_queue_end(tracks->on_disk);
    inf_state_queue_add(tracks->on_disk, table.bytes, table.len);
    inf_state_queue_confirm(tracks->on_disk, before);
    tracks->changed = false;
    buf_free(&table);
}

static void load_line(struct handler_tracks *tracks, const char *line)
{
    uint64_t number, base;
    struct handler_track *track;
    bool based;
    char *end;
    number = strtoull(line, &end, 10);
    based = *end == ' ';
    if (end == line || !(based || *end == '?'))
        return;
    line = end + 1;
    base = strtoull(line, &end, 10);
    if (end == line || *end != ' ')
        return;
    track = handler_tracks_get(tracks, end + 1);
    track->number = number;
    track->base = base;
    track->based = based;
    if (tracks->next_number <= number)
        tracks->next_number = number + 1;
}

void handler_tracks_init(struct handler_tracks *tracks, const struct siphash_key *hash_key,
                         struct inf_state_queue *on_disk)
{
    const char *bytes;
    size_t len;
    *tracks = (struct handler_tracks){.hash_key = *hash_key, .next_number = 1, .on_disk = on_disk};
    list_init(&tracks->list);
    if (!on_disk || !inf_state_queue_pending(on_disk, &bytes, &len, &(uint64_t){0}))
        return;
    while (len) {
        const char *newline = memchr(bytes, '\n', len);
        char *line = xstrndup(bytes, newline ? (size_t)(newline - bytes) : 0);
        size_t used = newline ? (size_t)(newline - bytes) + 1 : len;
        load_line(tracks, line);
        free(line);
        bytes += used;
        len -= used;
    }
    handler_tracks_save(tracks,
                        /* again= */ true); /* so that the state need not keep what was read */
}

void handler_tracks_free(struct handler_tracks *tracks)
{
    list_for_each_safe(node, &tracks->list)
        handler_tracks_drop(tracks, container_of(node, struct handler_track, node));
    hashmap_free(&tracks->by_key);
}

/* ---- versions ---- */

static uint64_t max_of(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

bool handler_track_place(struct handler_track *track, const struct handler_track_change *change,
                         struct handler_span *ret)
{
    bool listed = change->deleted || (change->relist && !track->reached);
    bool exact = change->version > track->reached && (change->live || !listed);
    uint64_t version = exact ? change->version : max_of(change->listed, track->reached + 1);
    *ret = (struct handler_span){.track = track, .version = version};
    list_init(&ret->node);
    if (!change->live)
        track->mixed = true;
    if (change->live && exact && !track->mixed) {
        ret->after = max_of(change->version - 1, track->covered);
        track->reached = change->version;
    } else {
        ret->after = max_of(track->reached, track->covered);
    }
    return !track->published || version > track->covered;
}

void handler_track_add(struct handler_span *span)
{
    if (span->track)
        list_push(&span->track->records, &span->node);
}

void handler_track_remove(struct handler_span *span)
{
    if (span->track)
        list_remove(&span->node);
}

void handler_track_reach(struct handler_tracks *tracks, struct handler_track *track,
                         uint64_t version)
{
    track->mixed = false;
    track->reached = max_of(track->reached, version);
    if (track->based || !version)
        return;
    track->base = version;
    track->based = true;
    tracks->changed = true;
}

void handler_track_lose(struct handler_tracks *tracks, const struct handler_span *span)
{
    struct handler_track *track = span->track;
    if (!track || (track->based && track->base >= span->version))
        return;
    track->base = span->version;
    track->based = true;
    tracks->changed = true;
}

void handler_track_rewind(struct handler_tracks *tracks, struct handler_track *track)
{
    list_for_each_safe(node, &track->records) {
        list_remove(node);
        container_of(node, struct handler_span, node)->track = NULL;
    }
    if (!track->lowered_from) { /* else the leader has noticed it first: its positions are of now */
        track->stale = track->published ? track->covered : track->stale;
        track->covered = 0;
        track->published = false;
    }
    track->reached = track->base = track->lowered_from = 0;
    track->number = tracks->next_number++; /* records on disk have the former one */
    track->mixed = true;
    tracks->changed = true;
}

void handler_track_publish(struct handler_track *track, uint64_t version)
{
    if (track->stale && version >= track->stale)
        return;
    if (track->published && version < track->covered)
        track->lowered_from = max_of(track->lowered_from, track->covered);
    else if (version >= track->lowered_from)
        track->lowered_from = 0;
    track->stale = 0;
    track->covered = version;
    track->published = true;
}

/* Records before `covered` begin at the first one; one that a list found may stay among them. */
void handler_track_each_covered(struct handler_track *track,
                                void (*each)(void *ctx, struct handler_span *span), void *ctx)
{
    if (!track->published)
        return;
    list_for_each_safe(node, &track->records) {
        struct handler_span *span = container_of(node, struct handler_span, node);
        if (span->after >= track->covered)
            return;
        if (span->version <= track->covered)
            each(ctx, span);
    }
}

uint64_t handler_track_position(const struct handler_track *track)
{
    uint64_t version = track->reached;
    if (!list_empty(&track->records))
        version = container_of(track->records.next, struct handler_span, node)->after;
    return max_of(version, track->published ? track->covered : 0);
}

bool handler_track_has_gap(const struct handler_track *track)
{
    return track->published && track->based && track->base > track->covered;
}
