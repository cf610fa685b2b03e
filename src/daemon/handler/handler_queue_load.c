/*
 * handler_queue_load.c - reads the log of a handler's queue that an earlier run has left in the state.
 *
 * Normal path: read all entries, sort them by id, and add the record of each id that was not removed.
 * Reading ends at the first entry that is damaged; what comes before it counts.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "daemon/handler/handler_queue.h"

static bool read_number(struct str *rest, char end, uint64_t *ret)
{
    uint64_t value = 0;
    size_t i = 0;
    for (; i < rest->len && rest->at[i] >= '0' && rest->at[i] <= '9'; i++)
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(rest->at[i] - '0'), &value))
            return false;
    if (!i || i == rest->len || rest->at[i] != end)
        return false;
    *rest = (struct str){rest->at + i + 1, rest->len - i - 1};
    *ret = value;
    return true;
}

/* An entry as it was read. */
struct log_entry {
    uint64_t id;
    size_t nth; /* in the log */
    char type;
    int64_t time_us;
    struct str key, env, line;      /* R, S */
    uint64_t track, after, version; /* S */
    uint64_t runs;                  /* P */
    struct str why;                 /* P */
};

static bool take_bytes(struct str *rest, uint64_t len, struct str *ret)
{
    if (len > rest->len)
        return false;
    *ret = (struct str){rest->at, (size_t)len};
    *rest = (struct str){rest->at + len, rest->len - (size_t)len};
    return true;
}

/* Whether it can be used as environment: whole strings. */
static bool is_environment(struct str env)
{
    return !env.len || !env.at[env.len - 1];
}

/* After its type. */
static bool read_parked(struct str *rest, struct log_entry *ret)
{
    struct str before = *rest;
    uint64_t time, why;
    if (read_number(rest, '\n', &ret->id))
        return true; /* without a reason */
    *rest = before;
    if (!read_number(rest, ' ', &ret->id) || !read_number(rest, ' ', &ret->runs) ||
        !read_number(rest, ' ', &time) || !read_number(rest, '\n', &why))
        return false;
    ret->time_us = (int64_t)time;
    return why <= HANDLER_WHY_MAX && take_bytes(rest, why, &ret->why);
}

static bool read_span(struct str *rest, struct log_entry *ret)
{
    return read_number(rest, ' ', &ret->track) && read_number(rest, ' ', &ret->after) &&
           read_number(rest, '\n', &ret->version);
}

static bool read_entry(struct str *rest, struct log_entry *ret)
{
    uint64_t time, key, env, line;
    bool spanned;
    if (rest->len < 2 || rest->at[1] != ' ')
        return false;
    ret->type = rest->at[0];
    *rest = (struct str){rest->at + 2, rest->len - 2};
    if (ret->type == 'D')
        return read_number(rest, '\n', &ret->id);
    if (ret->type == 'P')
        return read_parked(rest, ret);
    spanned = ret->type == 'S';
    if (!(spanned || ret->type == 'R') || !read_number(rest, ' ', &ret->id) ||
        !read_number(rest, ' ', &time) || !read_number(rest, ' ', &key) ||
        !read_number(rest, ' ', &env) || !read_number(rest, spanned ? ' ' : '\n', &line) ||
        (spanned && !read_span(rest, ret)))
        return false;
    ret->time_us = (int64_t)time;
    return take_bytes(rest, key, &ret->key) && !memchr(ret->key.at, '\0', ret->key.len) &&
           take_bytes(rest, env, &ret->env) && is_environment(ret->env) &&
           take_bytes(rest, line, &ret->line);
}

static int compare_entries(const void *a, const void *b)
{
    const struct log_entry *x = a, *y = b;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return x->nth < y->nth ? -1 : 1;
}

static bool is_record(const struct log_entry *entry)
{
    return entry->type == 'R' || entry->type == 'S';
}

/* Adds the record of the @n entries with one id: the last ones count. */
static void restore_record(struct handler_queue *q, const struct log_entry *entries, size_t n)
{
    const struct log_entry *last = &entries[n - 1], *r = last;
    struct handler_record *record;
    while (r > entries && !is_record(r))
        r--;
    if (last->type == 'D' || !is_record(r))
        return;
    record = handler_queue_put(q, r->id, r->key, r->time_us, r->env, r->line);
    if (r->type == 'S')
        handler_queue_put_span(q, record, r->track, r->after, r->version);
    if (last->type == 'P')
        handler_queue_put_parked(q, record, (uint32_t)last->runs, last->time_us, last->why);
}

bool handler_queue_load(struct handler_queue *queue, struct str log)
{
    struct log_entry *entries = NULL;
    size_t n = 0, room = 0, same;
    bool intact = true;
    while (log.len && intact) {
        if (n == room) {
            room = room ? 2 * room : 64;
            entries = xrealloc(entries, room * sizeof(*entries));
        }
        entries[n] = (struct log_entry){.nth = n};
        intact = read_entry(&log, &entries[n]);
        n += intact;
    }
    if (n)
        qsort(entries, n, sizeof(*entries), compare_entries);
    for (size_t i = 0; i < n; i += same) {
        for (same = 1; i + same < n && entries[i + same].id == entries[i].id;)
            same++;
        restore_record(queue, &entries[i], same);
    }
    free(entries);
    return intact;
}
