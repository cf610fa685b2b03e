/*
 * positions.c - writes and reads the positions of handlers.
 *
 * Normal path of the leader: take, put; of a standby: publish. The text comes from a server: whatever cannot be read is
 * ignored, which can only lead to repetitions.
 */
#include "daemon/replica/positions.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "daemon/handler/handlers.h"

enum {
    FIELDS = 5,
    KEY_FIELD = 1, /* cluster, watch and stream are the key of a track */
    VERSION_FIELD = 4,
};

struct positions_part {
    struct list node;
    char *handler; /* owned */
    struct buf lines;
    bool taken;
};

void positions_init(struct positions *positions)
{
    list_init(&positions->parts);
}

static void free_part(struct positions_part *part)
{
    list_remove(&part->node);
    buf_free(&part->lines);
    free(part->handler);
    free(part);
}

void positions_free(struct positions *positions)
{
    list_for_each_safe(node, &positions->parts)
        free_part(container_of(node, struct positions_part, node));
}

/* ---- writing ---- */

static struct positions_part *part_of(struct positions *positions, const char *handler)
{
    struct positions_part *part;
    list_for_each(node, &positions->parts) {
        part = container_of(node, struct positions_part, node);
        if (strcmp(part->handler, handler) == 0)
            return part;
    }
    part = NEW(struct positions_part);
    part->handler = xstrdup(handler);
    list_init(&part->node);
    list_push(&positions->parts, &part->node);
    return part;
}

struct writer {
    struct positions_part *part;
    const char *before; /* the key of the line before */
};

/* Cluster and watch, each with its tab, are written unless they are those of the line before. */
static const char *put_if_other(struct buf *out, const char *key, const char **before)
{
    size_t len = strcspn(key, "\t") + 1;
    bool same = *before && strncmp(*before, key, len) == 0;
    if (!same)
        buf_put(out, key, len - 1);
    buf_putc(out, '\t');
    *before = same ? *before + len : NULL;
    return key + len;
}

static void put_line(void *ctx, const struct handler *handler, const char *key, uint64_t version)
{
    struct writer *w = ctx;
    const char *before = w->before, *rest = key;
    struct buf *out = &w->part->lines;
    if (!before)
        buf_puts(out, handler->name);
    buf_putc(out, '\t');
    rest = put_if_other(out, rest, &before);
    rest = put_if_other(out, rest, &before);
    buf_printf(out, "%s\t%" PRIu64 "\n", rest, version);
    w->before = key;
}

static void take_all(struct positions *positions, const struct list *handlers)
{
    list_for_each(node, handlers) {
        struct handler *h = container_of(node, struct handler, node);
        struct writer w = {.part = part_of(positions, h->name)};
        buf_clear(&w.part->lines);
        w.part->taken = true;
        handler_replica_each(h, put_line, &w);
    }
}

void positions_take(struct positions *positions, struct handlers *handlers, bool drop)
{
    list_for_each(node, &positions->parts)
        container_of(node, struct positions_part, node)->taken = false;
    take_all(positions, &handlers->leaving);
    take_all(positions, &handlers->handlers);
    list_for_each_safe(node, &positions->parts) {
        struct positions_part *part = container_of(node, struct positions_part, node);
        if (drop && !part->taken)
            free_part(part);
    }
}

void positions_put(const struct positions *positions, struct buf *out)
{
    list_for_each(node, &positions->parts) {
        const struct positions_part *part = container_of(node, struct positions_part, node);
        buf_put(out, part->lines.bytes, part->lines.len);
    }
}

/* ---- reading ---- */

/* The fields of the line before, for those that are empty. */
struct reader {
    char *fields[KEY_FIELD + 2]; /* owned; handler, cluster, watch */
};

static bool split_line(char *line, char *fields[FIELDS])
{
    for (size_t i = 0; i < FIELDS; i++) {
        fields[i] = line;
        if (i == FIELDS - 1)
            return true;
        line = strchr(line, '\t');
        if (!line)
            return false;
        *line++ = '\0';
    }
    return true;
}

static void read_line(struct reader *r, char *line, positions_fn *each, void *ctx)
{
    char *fields[FIELDS], *key;
    uint64_t version;
    if (!split_line(line, fields))
        return;
    for (size_t i = 0; i < ARRAY_LEN(r->fields); i++) {
        if (!fields[i][0])
            continue;
        free(r->fields[i]);
        r->fields[i] = xstrdup(fields[i]);
    }
    for (size_t i = 0; i < ARRAY_LEN(r->fields); i++)
        if (!r->fields[i])
            return;
    version = handler_track_version(fields[VERSION_FIELD]);
    if (!version)
        return;
    key = xasprintf("%s\t%s\t%s", r->fields[1], r->fields[2], fields[3]);
    each(ctx, r->fields[0], key, version);
    free(key);
}

void positions_read(const char *text, positions_fn *each, void *ctx)
{
    struct reader r = {{NULL}};
    char *copy = xstrdup(text), *rest = copy, *line;
    while ((line = strsep(&rest, "\n")))
        read_line(&r, line, each, ctx);
    for (size_t i = 0; i < ARRAY_LEN(r.fields); i++)
        free(r.fields[i]);
    free(copy);
}

static void publish(void *ctx, const char *handler, const char *key, uint64_t version)
{
    struct handler *found = handlers_find(ctx, handler);
    if (found)
        handler_replica_publish(found, key, version);
}

void positions_publish(const char *text, struct handlers *handlers)
{
    positions_read(text, publish, handlers);
    list_for_each(node, &handlers->handlers)
        handler_replica_tidy(container_of(node, struct handler, node));
}
