/*
 * stream_id.c - makes, reads and compares the ids of streams.
 *
 * Ids of the last run are text from a file: a line that is missing matches nothing.
 */
#include "daemon/watch/stream_id.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "informer/state.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/siphash.h"
#include "daemon/watch/watcher.h"

enum {
    /* LIMIT: bytes of the cluster and of the form; each has a digest if it is longer. With the names,
     * which are shorter, an id has at most INF_STATE_ID_MAX. */
    PART_MAX = INF_STATE_ID_MAX / 4,
};

/* ---- making ---- */

/* A uid that is not known now may have been known in the last run. */
static struct str uid_of(const struct watch_stream *stream)
{
    const char *uid = stream->watcher->cluster->identity.uid;
    const struct inf_state_stream *saved = stream->saved.stream;
    if (uid)
        return str_of(uid);
    return saved ? stream_id_part(inf_state_stream_id(saved), "uid") : STR("-");
}

static void put_cluster(struct buf *id, const struct watch_stream *stream)
{
    const struct inf_client *client = stream->watcher->cluster->client;
    struct str uid = uid_of(stream);
    buf_printf(id, "uid %.*s\nserver %s\nca %016" PRIx64 "\n", STR_FMT(uid),
               inf_client_server(client), inf_client_ca_digest(client));
}

static void put_list(struct buf *id, const char *name, const char *const *items, size_t n)
{
    for (size_t i = 0; i < n; i++)
        buf_printf(id, "%s %s\n", name, items[i]);
}

/* What determines which objects are selected, and which of their fields are kept. */
static void put_shape(struct buf *id, const struct inf_watch *watch)
{
    if (watch->label_selector)
        buf_printf(id, "labels %s\n", watch->label_selector);
    if (watch->field_selector)
        buf_printf(id, "fields %s\n", watch->field_selector);
    put_list(id, "exclude", watch->exclude_ns, watch->n_exclude_ns);
    put_list(id, "drop", watch->drop, watch->n_drop);
    put_list(id, "redact", watch->redact, watch->n_redact);
    if (watch->reveal)
        buf_puts(id, "reveal\n");
    if (watch->metadata_only)
        buf_puts(id, "metadata\n");
    if (watch->shard_count > 1)
        buf_printf(id, "shard %" PRIu32 " of %" PRIu32 "\n", watch->shard_index,
                   watch->shard_count);
}

/* Replaces what follows @begin by a digest if it is longer than @max. */
static void shorten(struct buf *id, size_t begin, size_t max)
{
    static const struct siphash_key fixed = {UINT64_C(0x696e666f726d6572), 3};
    size_t len = id->len - begin;
    uint64_t digest;
    if (len <= max)
        return;
    digest = siphash13(&fixed, id->bytes + begin, len);
    id->len = begin;
    buf_printf(id, "digest %016" PRIx64 " of %zu bytes\n", digest, len);
}

char *stream_id_make(const struct watch_stream *stream)
{
    const struct watcher *w = stream->watcher;
    struct inf_watch watch = watch_stream_watch(w->conf, stream->ns);
    struct buf id = {0};
    size_t form;
    put_cluster(&id, stream);
    shorten(&id, 0, PART_MAX);
    buf_printf(&id, "watch %s\nresource %s\nnamespace %s\n\n", w->conf->name, w->conf->resource,
               stream->ns ? stream->ns : "*");
    form = id.len;
    put_shape(&id, &watch);
    shorten(&id, form, PART_MAX);
    buf_putc(&id, '\0');
    return id.bytes;
}

char *stream_id_track(const struct watch_stream *stream)
{
    static const struct siphash_key fixed = {UINT64_C(0x696e666f726d6572), 4};
    struct inf_watch watch = watch_stream_watch(stream->watcher->conf, stream->ns);
    struct buf form = {0};
    char *track;
    put_shape(&form, &watch);
    track = xasprintf("%s %08" PRIx32, stream->ns ? stream->ns : "*",
                      (uint32_t)siphash13(&fixed, form.bytes, form.len));
    buf_free(&form);
    return track;
}

/* ---- reading ---- */

struct str stream_id_part(const char *id, const char *name)
{
    size_t len = strlen(name);
    while (id && *id != '\n') { /* the form follows the empty line */
        if (strncmp(id, name, len) == 0 && id[len] == ' ')
            return (struct str){id + len + 1, strcspn(id + len + 1, "\n")};
        id = strchr(id, '\n');
        id = id ? id + 1 : NULL;
    }
    return STR("-");
}

const char *stream_id_form(const char *id)
{
    const char *empty = strstr(id, "\n\n");
    return empty ? empty + 2 : "";
}

/* ---- comparing ---- */

static bool part_is(const char *id, const char *name, const char *value)
{
    return str_eq(stream_id_part(id, name), str_of(value));
}

enum stream_match stream_id_match_cluster(const char *id, const struct cluster *c)
{
    const struct cluster_identity *identity = &c->identity;
    bool had_uid = !part_is(id, "uid", "-");
    char ca[17];
    if (had_uid && identity->uid)
        return part_is(id, "uid", identity->uid) ? STREAM_SAME : STREAM_OTHER;
    snprintf(ca, sizeof(ca), "%016" PRIx64, inf_client_ca_digest(c->client));
    if (part_is(id, "server", inf_client_server(c->client)) && part_is(id, "ca", ca))
        return STREAM_SAME;
    return had_uid && !identity->refused ? STREAM_UNDECIDED : STREAM_OTHER;
}

bool stream_id_names_watch(const char *id, const struct conf_watch *conf)
{
    return part_is(id, "watch", conf->name) && part_is(id, "resource", conf->resource);
}

enum stream_match stream_id_match_watch(const char *id, const struct watcher *w)
{
    return stream_id_names_watch(id, w->conf) ? stream_id_match_cluster(id, w->cluster)
                                              : STREAM_OTHER;
}

enum stream_match stream_id_match(const char *id, const struct watch_stream *stream)
{
    if (!part_is(id, "namespace", stream->ns ? stream->ns : "*"))
        return STREAM_OTHER;
    return stream_id_match_watch(id, stream->watcher);
}
