/*
 * handler_queue.c - the lists of records, and the log of them in the state on disk.
 *
 * Normal path: add, save, release, run, remove. Adding to the state never fails; a state that is
 * suspended ignores it. handler_queue_load.c reads what an earlier run has left.
 */
#include "daemon/handler/handler_queue.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"

enum {
    HEAD_MAX = 192, /* bytes of the first line of an entry: six numbers */
};

/* ---- objects ---- */

static bool same_key(const void *key, const struct hash_node *node)
{
    return strcmp(container_of(node, struct handler_object, by_key)->key, key) == 0;
}

struct handler_object *handler_queue_find(const struct handler_queue *queue, const char *key)
{
    uint64_t hash = siphash13(&queue->hash_key, key, strlen(key));
    struct hash_node *node = hashmap_find(&queue->by_key, hash, same_key, key);
    return node ? container_of(node, struct handler_object, by_key) : NULL;
}

static struct handler_object *find_or_add_object(struct handler_queue *q, const char *key)
{
    struct handler_object *object = handler_queue_find(q, key);
    size_t size = strlen(key) + 1;
    if (object)
        return object;
    object = xcalloc(1, sizeof(*object) + size);
    memcpy(object->key, key, size);
    object->owner = q->owner;
    list_init(&object->ready);
    list_init(&object->records);
    list_init(&object->node);
    list_push(&q->objects, &object->node);
    hashmap_add(&q->by_key, &object->by_key, siphash13(&q->hash_key, key, size - 1));
    return object;
}

void handler_object_release(struct handler_queue *queue, struct handler_object *object)
{
    if (object->state != OBJECT_IDLE || !list_empty(&object->records))
        return;
    hashmap_remove(&queue->by_key, &object->by_key);
    list_remove(&object->node);
    free(object);
}

struct handler_record *handler_object_first(const struct handler_object *object)
{
    list_for_each(node, &object->records) {
        struct handler_record *r = container_of(node, struct handler_record, of_object);
        if (r->state != RECORD_PARKED)
            return r;
    }
    return NULL;
}

struct handler_record *handler_queue_first(const struct handler_queue *queue)
{
    list_for_each(node, &queue->records) {
        struct handler_record *r = container_of(node, struct handler_record, node);
        if (r->state != RECORD_PARKED)
            return r;
    }
    return NULL;
}

size_t handler_queue_length(const struct handler_queue *queue)
{
    size_t length = 0;
    for (int state = 0; state < RECORD_STATES; state++)
        length += state == RECORD_PARKED ? 0 : queue->counts[state];
    return length;
}

/* ---- records ---- */

static size_t record_size(const struct handler_record *r)
{
    return sizeof(*r) + strlen(r->object->key) + r->env_len + r->line_len;
}

/* Adds the size of the record to the right sum, or subtracts it. */
static void count_record(struct handler_queue *q, const struct handler_record *r, bool add)
{
    size_t *bytes = r->state == RECORD_PARKED ? &q->parked_bytes : &q->bytes;
    size_t size = record_size(r);
    *bytes = add ? *bytes + size : *bytes - size;
    q->counts[r->state] += add ? 1 : (size_t)-1;
}

/* The caller fills in the text. */
static struct handler_record *add_record(struct handler_queue *q, const char *key, uint64_t id,
                                         int64_t time_us, size_t env_len, size_t line_len)
{
    struct handler_record *r = xmalloc(sizeof(*r) + env_len + line_len);
    *r = (struct handler_record){.object = find_or_add_object(q, key),
                                 .state = RECORD_COLLECTED,
                                 .id = id,
                                 .time_us = time_us,
                                 .env_len = env_len,
                                 .line_len = line_len};
    list_init(&r->span.node);
    list_push(&q->records, &r->node);
    list_push(&r->object->records, &r->of_object);
    count_record(q, r, true);
    if (q->next_id <= id)
        q->next_id = id + 1;
    return r;
}

struct handler_record *handler_queue_add(struct handler_queue *queue, const char *key,
                                         int64_t time_us, struct str env, struct str line)
{
    struct handler_record *r = add_record(queue, key, queue->next_id, time_us, env.len, line.len);
    memcpy(r->text, env.at, env.len);
    memcpy(r->text + env.len, line.at, line.len);
    return r;
}

static void set_state(struct handler_queue *q, struct handler_record *r,
                      enum handler_record_state state)
{
    count_record(q, r, false);
    r->state = state;
    count_record(q, r, true);
}

struct handler_record *handler_queue_put(struct handler_queue *queue, uint64_t id, struct str key,
                                         int64_t time_us, struct str env, struct str line)
{
    char *name = xstrndup(key.at, key.len);
    struct handler_record *r = add_record(queue, name, id, time_us, env.len, line.len);
    memcpy(r->text, env.at, env.len);
    memcpy(r->text + env.len, line.at, line.len);
    set_state(queue, r, RECORD_WAITING);
    free(name);
    return r;
}

void handler_queue_put_parked(struct handler_queue *queue, struct handler_record *record,
                              uint32_t runs, int64_t parked_us, struct str why)
{
    set_state(queue, record, RECORD_PARKED);
    handler_track_remove(&record->span);
    record->span.track = NULL; /* also if it is delivered again: it is of this process alone */
    record->runs = runs;
    record->parked_us = parked_us;
    record->why = why.len ? xstrndup(why.at, why.len) : NULL;
}

void handler_queue_set_span(struct handler_record *record, const struct handler_span *span)
{
    record->span = *span;
    list_init(&record->span.node);
    handler_track_add(&record->span);
}

void handler_queue_put_span(struct handler_queue *queue, struct handler_record *record,
                            uint64_t track, uint64_t after, uint64_t version)
{
    struct handler_span span = {.after = after, .version = version};
    span.track = queue->tracks ? handler_tracks_numbered(queue->tracks, track) : NULL;
    handler_queue_set_span(record, &span);
}

const char *handler_record_variable(const struct handler_record *record, const char *name)
{
    size_t prefix_len = strlen("INFORMERD_"), name_len = strlen(name);
    for (size_t at = 0; at < record->env_len; at += strlen(record->text + at) + 1) {
        const char *variable = record->text + at;
        if (strncmp(variable, "INFORMERD_", prefix_len) == 0 &&
            strncmp(variable + prefix_len, name, name_len) == 0 &&
            variable[prefix_len + name_len] == '=')
            return variable + prefix_len + name_len + 1;
    }
    return "";
}

uint64_t handler_record_seq(const struct handler_record *record)
{
    return strtoull(handler_record_variable(record, "SEQ"), NULL, 10);
}

static void free_record(struct handler_queue *q, struct handler_record *r)
{
    struct handler_object *object = r->object;
    count_record(q, r, false);
    list_remove(&r->node);
    list_remove(&r->of_object);
    handler_track_remove(&r->span);
    free(r->why);
    free(r);
    handler_object_release(q, object);
}

/* ---- the log on disk: writing ---- */

static void put_entry(const struct handler_queue *q, char type, uint64_t id)
{
    char head[HEAD_MAX];
    int len = snprintf(head, sizeof(head), "%c %" PRIu64 "\n", type, id);
    if (q->on_disk)
        inf_state_queue_add(q->on_disk, head, (size_t)len);
}

static void put_parked(const struct handler_queue *q, const struct handler_record *r)
{
    char head[HEAD_MAX];
    size_t why_len = r->why ? strlen(r->why) : 0;
    int len = snprintf(head, sizeof(head), "P %" PRIu64 " %" PRIu32 " %" PRId64 " %zu\n", r->id,
                       r->runs, r->parked_us, why_len);
    if (!q->on_disk)
        return;
    inf_state_queue_add(q->on_disk, head, (size_t)len);
    inf_state_queue_add(q->on_disk, r->why ? r->why : "", why_len);
}

static void put_record(struct handler_queue *q, struct handler_record *r)
{
    size_t key_len = strlen(r->object->key);
    if (!q->on_disk)
        return;
    r->begin = inf_state_queue_end(q->on_disk);
    buf_clear(&q->entry);
    buf_printf(&q->entry, "%c %" PRIu64 " %" PRId64 " %zu %zu %zu", r->span.track ? 'S' : 'R',
               r->id, r->time_us, key_len, r->env_len, r->line_len);
    if (r->span.track)
        buf_printf(&q->entry, " %" PRIu64 " %" PRIu64 " %" PRIu64, r->span.track->number,
                   r->span.after, r->span.version);
    buf_printf(&q->entry, "\n%s", r->object->key);
    buf_put(&q->entry, r->text, r->env_len + r->line_len);
    inf_state_queue_add(q->on_disk, q->entry.bytes, q->entry.len); /* one piece of the state */
    if (r->state == RECORD_PARKED)
        put_parked(q, r);
}

void handler_queue_rewrite(struct handler_queue *queue)
{
    uint64_t before = queue->on_disk ? inf_state_queue_end(queue->on_disk) : 0;
    if (!queue->on_disk)
        return;
    list_for_each(node, &queue->records) {
        struct handler_record *r = container_of(node, struct handler_record, node);
        if (r->state != RECORD_COLLECTED)
            put_record(queue, r);
    }
    inf_state_queue_confirm(queue->on_disk, before);
}

/* The records on disk are in the order of the list: the first one that is needed limits what can be
 * confirmed. */
static void confirm(struct handler_queue *q)
{
    struct handler_record *first =
        list_empty(&q->records) ? NULL : container_of(q->records.next, struct handler_record, node);
    uint64_t end, begin;
    if (!q->on_disk)
        return;
    end = inf_state_queue_end(q->on_disk);
    begin = first && first->state != RECORD_COLLECTED ? first->begin : end;
    if (end - begin > 2 * (q->bytes + q->parked_bytes) + HANDLER_QUEUE_SLACK)
        handler_queue_rewrite(q);
    else
        inf_state_queue_confirm(q->on_disk, begin);
}

/* The first record in one of the last two states before waiting; these are at the end of the list. */
static struct list *first_unreleased(const struct handler_queue *q)
{
    const struct list *node = &q->records;
    while (node->prev != &q->records &&
           container_of(node->prev, struct handler_record, node)->state < RECORD_WAITING)
        node = node->prev;
    return (struct list *)(uintptr_t)node;
}

void handler_queue_save(struct handler_queue *queue)
{
    if (!queue->counts[RECORD_COLLECTED])
        return;
    for (struct list *node = first_unreleased(queue); node != &queue->records; node = node->next) {
        struct handler_record *r = container_of(node, struct handler_record, node);
        if (r->state != RECORD_COLLECTED)
            continue;
        put_record(queue, r);
        set_state(queue, r, RECORD_SAVING);
    }
}

void handler_queue_release(struct handler_queue *queue,
                           void (*each)(void *ctx, struct handler_record *record), void *ctx)
{
    if (!queue->counts[RECORD_SAVING])
        return;
    for (struct list *node = first_unreleased(queue); node != &queue->records; node = node->next) {
        struct handler_record *r = container_of(node, struct handler_record, node);
        if (r->state != RECORD_SAVING)
            break;
        set_state(queue, r, RECORD_WAITING);
        each(ctx, r);
    }
}

void handler_queue_remove(struct handler_queue *queue, struct handler_record *record)
{
    bool was_saved = record->state != RECORD_COLLECTED;
    uint64_t id = record->id;
    free_record(queue, record);
    if (!was_saved)
        return;
    put_entry(queue, 'D', id);
    confirm(queue);
}

void handler_queue_move(struct handler_queue *queue, struct handler_record *record,
                        enum handler_record_state state)
{
    assert(record->state == RECORD_WAITING || record->state == RECORD_RUNNING);
    set_state(queue, record, state);
}

void handler_queue_park(struct handler_queue *queue, struct handler_record *record, const char *why,
                        int64_t now_us)
{
    assert(record->state == RECORD_RUNNING);
    handler_queue_put_parked(queue, record, record->runs, now_us,
                             (struct str){why, strnlen(why, HANDLER_WHY_MAX)});
    put_parked(queue, record);
}

static bool is_parked_as(const struct handler_record *record, uint64_t seq)
{
    return record->state == RECORD_PARKED && (!seq || handler_record_seq(record) == seq);
}

size_t handler_queue_unpark(struct handler_queue *queue, uint64_t seq,
                            void (*each)(void *ctx, struct handler_record *record), void *ctx)
{
    size_t count = 0;
    list_for_each(node, &queue->records) {
        struct handler_record *r = container_of(node, struct handler_record, node);
        if (!is_parked_as(r, seq))
            continue;
        free(r->why);
        r->why = NULL;
        r->failures = 0;
        set_state(queue, r, RECORD_WAITING);
        each(ctx, r);
        count++;
    }
    if (count)
        handler_queue_rewrite(queue); /* a record without P after it replaces the earlier one */
    return count;
}

size_t handler_queue_drop_parked(struct handler_queue *queue, uint64_t seq)
{
    size_t count = 0;
    list_for_each_safe(node, &queue->records) {
        struct handler_record *r = container_of(node, struct handler_record, node);
        if (!is_parked_as(r, seq))
            continue;
        handler_queue_remove(queue, r);
        count++;
    }
    return count;
}

bool handler_queue_restore(struct handler_queue *queue, struct inf_state_queue *on_disk)
{
    struct str log;
    bool intact = true;
    queue->on_disk = on_disk;
    if (inf_state_queue_pending(on_disk, &log.at, &log.len, &(uint64_t){0})) {
        intact = handler_queue_load(queue, log);
        handler_queue_rewrite(queue); /* so that the state need not keep what it has read */
    }
    return intact;
}

/* ---- life ---- */

void handler_queue_init(struct handler_queue *queue, const struct siphash_key *hash_key)
{
    *queue = (struct handler_queue){.hash_key = *hash_key, .next_id = 1};
    list_init(&queue->records);
    list_init(&queue->objects);
}

void handler_queue_free(struct handler_queue *queue)
{
    list_for_each_safe(node, &queue->records)
        free_record(queue, container_of(node, struct handler_record, node));
    list_for_each_safe(node, &queue->objects) {
        struct handler_object *object = container_of(node, struct handler_object, node);
        object->state = OBJECT_IDLE;
        handler_object_release(queue, object);
    }
    hashmap_free(&queue->by_key);
    buf_free(&queue->entry);
}
