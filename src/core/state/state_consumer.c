/*
 * state_consumer.c - durable consumers (informer/consumer.h): a queue of the state as a log of records and
 * their ends, so that a record can end before older ones.
 *
 *     R ID LENGTH\n BYTES      a record
 *     D ID\n                   it is done
 *
 * The beginning of the log is confirmed up to the first record that is needed. If an old record prevents
 * that, all needed records are written again at the end. A log that can't be read to its end, which a
 * program with another format has written, counts up to there.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "informer/consumer.h"

#include "base/alloc.h"
#include "base/err.h"
#include "core/state/state_internal.h"

enum {
    BYTES_MAX = 64 * 1024 * 1024,
    SLACK = 64 * 1024, /* bytes of the log that are not needed, before it is rewritten */
};

struct consumer_record {
    struct list node;
    uint64_t id;
    uint64_t begin; /* of its entry in the log */
    uint64_t flush; /* number of its batch */
    bool taken;
    bool repeated;
    size_t len;
    char bytes[];
};

struct inf_consumer {
    struct inf_state *state;
    struct inf_state_queue *queue;
    struct list records; /* by id */
    size_t count, bytes, bytes_max;
    uint64_t next_id;
    struct buf entry;
};

/* ---- the log ---- */

static void put_record(struct inf_consumer *c, struct consumer_record *r)
{
    r->begin = inf_state_queue_end(c->queue);
    r->flush = c->state->flush + 1;
    buf_clear(&c->entry);
    buf_printf(&c->entry, "R %" PRIu64 " %zu\n", r->id, r->len);
    buf_put(&c->entry, r->bytes, r->len);
    inf_state_queue_add(c->queue, c->entry.bytes, c->entry.len);
}

void inf_consumer_save(struct inf_consumer *consumer)
{
    uint64_t before = inf_state_queue_end(consumer->queue);
    list_for_each(node, &consumer->records) {
        struct consumer_record *r = container_of(node, struct consumer_record, node);
        uint64_t flush = r->flush; /* that of its first batch: it may be handed out already */
        put_record(consumer, r);
        r->flush = flush;
    }
    inf_state_queue_confirm(consumer->queue, before);
}

static void confirm(struct inf_consumer *c)
{
    uint64_t end = inf_state_queue_end(c->queue);
    uint64_t begin = list_empty(&c->records)
                         ? end
                         : container_of(c->records.next, struct consumer_record, node)->begin;
    if (end - begin > 2 * c->bytes + SLACK)
        inf_consumer_save(c);
    else
        inf_state_queue_confirm(c->queue, begin);
}

/* ---- records ---- */

static struct consumer_record *add_record(struct inf_consumer *c, uint64_t id, const char *bytes,
                                          size_t len)
{
    struct consumer_record *r = xmalloc(sizeof(*r) + len);
    *r = (struct consumer_record){.id = id, .len = len};
    memcpy(r->bytes, bytes, len);
    list_push(&c->records, &r->node);
    c->count++;
    c->bytes += len;
    if (c->next_id <= id)
        c->next_id = id + 1;
    return r;
}

static void remove_record(struct inf_consumer *c, struct consumer_record *r)
{
    list_remove(&r->node);
    c->count--;
    c->bytes -= r->len;
    free(r);
}

static struct consumer_record *find_record(const struct inf_consumer *c, uint64_t id)
{
    if (id >= c->next_id)
        return NULL;
    list_for_each(node, &c->records) {
        struct consumer_record *r = container_of(node, struct consumer_record, node);
        if (r->id == id)
            return r;
    }
    return NULL;
}

/* ---- loading ---- */

static bool read_number(struct str *rest, char end, uint64_t *ret)
{
    size_t i = 0;
    *ret = 0;
    for (; i < rest->len && rest->at[i] >= '0' && rest->at[i] <= '9'; i++)
        if (__builtin_mul_overflow(*ret, 10, ret) ||
            __builtin_add_overflow(*ret, (uint64_t)(rest->at[i] - '0'), ret))
            return false;
    if (!i || i == rest->len || rest->at[i] != end)
        return false;
    *rest = (struct str){rest->at + i + 1, rest->len - i - 1};
    return true;
}

/* Returns false if there is no whole entry. A record that was written again replaces the earlier one. */
static bool load_entry(struct inf_consumer *c, struct str *rest)
{
    struct consumer_record *r;
    uint64_t id, len;
    char type = rest->len > 2 && rest->at[1] == ' ' ? rest->at[0] : '\0';
    *rest = type ? (struct str){rest->at + 2, rest->len - 2} : *rest;
    if ((type != 'R' && type != 'D') || !read_number(rest, type == 'R' ? ' ' : '\n', &id))
        return false;
    r = find_record(c, id);
    if (type == 'D') {
        if (r)
            remove_record(c, r);
        return true;
    }
    if (!read_number(rest, '\n', &len) || len > rest->len)
        return false;
    if (!r)
        add_record(c, id, rest->at, (size_t)len)->repeated = true;
    *rest = (struct str){rest->at + len, rest->len - (size_t)len};
    return true;
}

/* The log may be empty, but its end is kept: each entry is longer than 1, so no id was greater. */
static void raise_next_id(struct inf_consumer *c)
{
    uint64_t end = inf_state_queue_end(c->queue);
    if (c->next_id <= end)
        c->next_id = end + 1;
}

static void load(struct inf_consumer *c)
{
    struct str log;
    if (!inf_state_queue_pending(c->queue, &log.at, &log.len, &(uint64_t){0}))
        return;
    while (log.len && load_entry(c, &log))
        continue;
    inf_consumer_save(c); /* so that the state need not keep what it has read */
}

/* ---- the public functions ---- */

struct inf_consumer *inf_consumer_open(struct inf_state *state, const char *name,
                                       const struct inf_consumer_options *options,
                                       struct inf_error *err)
{
    static const struct inf_consumer_options none;
    struct inf_state_queue *queue;
    struct inf_consumer *c;
    options = options ? options : &none;
    for (size_t i = 0; i < sizeof(options->reserved) / sizeof(options->reserved[0]); i++)
        if (options->reserved[i]) {
            err_set(err, INF_EINVAL, "a reserved field of inf_consumer_options is not zero");
            return NULL;
        }
    queue = inf_state_queue(state, name);
    if (!queue) {
        err_set(err, INF_EINVAL, "the name of the consumer is longer than %d bytes",
                INF_STATE_ID_MAX);
        return NULL;
    }
    c = NEW(struct inf_consumer);
    *c = (struct inf_consumer){.state = state, .queue = queue, .next_id = 1};
    c->bytes_max = options->bytes_max ? options->bytes_max : BYTES_MAX;
    list_init(&c->records);
    load(c);
    raise_next_id(c); /* after it: ids above the last one need no search */
    return c;
}

void inf_consumer_close(struct inf_consumer *consumer)
{
    if (!consumer)
        return;
    list_for_each_safe(node, &consumer->records)
        free(container_of(node, struct consumer_record, node));
    buf_free(&consumer->entry);
    free(consumer);
}

int inf_consumer_add(struct inf_consumer *consumer, const char *bytes, size_t len)
{
    if (len > consumer->bytes_max || consumer->bytes > consumer->bytes_max - len)
        return -INF_ETOOBIG;
    put_record(consumer, add_record(consumer, consumer->next_id, bytes, len));
    return 0;
}

/* Those that were loaded have batch 0. */
bool inf_consumer_next(struct inf_consumer *consumer, struct inf_consumer_record *ret)
{
    list_for_each(node, &consumer->records) {
        struct consumer_record *r = container_of(node, struct consumer_record, node);
        if (r->taken)
            continue;
        if (r->flush > consumer->state->flushed)
            return false;
        r->taken = true;
        *ret = (struct inf_consumer_record){
            .id = r->id, .bytes = r->bytes, .len = r->len, .repeated = r->repeated};
        return true;
    }
    return false;
}

int inf_consumer_done(struct inf_consumer *consumer, uint64_t id)
{
    struct consumer_record *r = find_record(consumer, id);
    char entry[32];
    int len;
    if (!r)
        return -INF_ENOTFOUND;
    len = snprintf(entry, sizeof(entry), "D %" PRIu64 "\n", id);
    remove_record(consumer, r);
    inf_state_queue_add(consumer->queue, entry, (size_t)len);
    confirm(consumer);
    return 0;
}

int inf_consumer_return(struct inf_consumer *consumer, uint64_t id)
{
    struct consumer_record *r = find_record(consumer, id);
    if (!r || !r->taken)
        return -INF_ENOTFOUND;
    r->taken = false;
    r->repeated = true;
    return 0;
}

size_t inf_consumer_length(const struct inf_consumer *consumer)
{
    return consumer->count;
}
