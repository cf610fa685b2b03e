#include "state_world.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/json/json_text.h"
#include "builders.h"
#include "core/object/object_packer.h"

/* ---- callbacks ---- */

static struct state_world *world_of(struct inf_state *state)
{
    return inf_state_data(state);
}

static void on_loaded(struct inf_state *state)
{
    world_of(state)->loaded++;
}

static void on_flushed(struct inf_state *state, uint64_t flush)
{
    struct state_world *w = world_of(state);
    assert(flush >= w->flushed);
    w->flushed = flush;
    w->flushes++;
    if (w->on_flushed)
        w->on_flushed(w, flush);
}

static void on_suspended(struct inf_state *state, const char *why)
{
    struct state_world *w = world_of(state);
    if (!why) {
        w->returns++;
        return;
    }
    w->suspensions++;
    snprintf(w->why, sizeof(w->why), "%s", why);
}

static void on_log(struct inf_state *state, enum inf_log_level level, const char *line)
{
    struct state_world *w = world_of(state);
    if (level < INF_LOG_WARN)
        return;
    buf_puts(&w->log, line);
    buf_putc(&w->log, '\n');
}

static void on_closed(void *ctx)
{
    struct state_world *w = ctx;
    w->closed++;
}

/* ---- life ---- */

void state_world_init(struct state_world *w)
{
    *w = (struct state_world){0};
    sim_init(&w->sim);
    memory_disk_init(&w->disks[0], &w->sim);
    memory_disk_init(&w->disks[1], &w->sim);
    w->disk = &w->disks[0];
    w->settings = (struct inf_state_settings){
        .dir = "state",
        .data = w,
        .on_loaded = on_loaded,
        .on_flushed = on_flushed,
        .on_suspended = on_suspended,
        .on_log = on_log,
    };
}

void state_world_start(struct state_world *w)
{
    struct inf_error err;
    assert(!w->state);
    w->flushed = 0;
    w->state = state_new(&w->disk->disk, &w->sim.clock, &(struct siphash_key){3, 4}, &w->settings,
                         NULL, NULL, &err);
    assert(w->state);
}

static int set_up(void **state, uint64_t segment_bytes)
{
    struct state_world *w = NEW(struct state_world);
    state_world_init(w);
    w->settings.segment_bytes = segment_bytes;
    state_world_open(w);
    *state = w;
    return 0;
}

int state_world_setup(void **state)
{
    return set_up(state, 0);
}

int state_world_setup_small(void **state)
{
    return set_up(state, 64 * 1024);
}

int state_world_teardown(void **state)
{
    struct state_world *w = *state;
    state_world_done(w);
    free(w);
    return 0;
}

void state_world_flush(struct state_world *w)
{
    uint64_t number = inf_state_flush(w->state);
    assert(w->flushed < number); /* never before it returns */
    sim_run(&w->sim);
    assert(w->flushed >= number);
}

void state_world_open(struct state_world *w)
{
    unsigned before = w->loaded;
    state_world_start(w);
    sim_run(&w->sim);
    assert(w->loaded == before + 1);
}

void state_world_close(struct state_world *w)
{
    unsigned before = w->closed;
    if (!w->state)
        return;
    inf_state_close(w->state, on_closed, w);
    w->state = NULL;
    sim_advance(&w->sim, 10 * 1000);
    assert(w->closed == before + 1);
}

void state_world_done(struct state_world *w)
{
    state_world_close(w);
    memory_disk_done(&w->disks[0]);
    memory_disk_done(&w->disks[1]);
    sim_done(&w->sim);
    buf_free(&w->log);
}

static void move_to_other_disk(struct state_world *w, struct rng *rng, bool power)
{
    struct memory_disk *other = w->disk == &w->disks[0] ? &w->disks[1] : &w->disks[0];
    memory_disk_crash(other, w->disk, rng);
    if (power)
        memory_disk_power_loss(other, rng);
    memory_disk_settle(other);
    w->disk->stuck = false;
    state_world_close(w); /* on the disk that is not used any more */
    w->disk = other;
    state_world_open(w);
}

void state_world_crash(struct state_world *w, struct rng *rng)
{
    move_to_other_disk(w, rng, false);
}

void state_world_power_loss(struct state_world *w, struct rng *rng)
{
    move_to_other_disk(w, rng, true);
}

/* ---- notes ---- */

void state_world_put(struct inf_state_stream *stream, const char *key, uint64_t version)
{
    struct inf_object *object = pod(key, "uid-1", version, 0);
    state_put(stream, object, NULL);
    inf_object_unref(object);
}

void state_world_put_large(struct inf_state_stream *stream, const char *key, uint64_t version,
                           size_t size)
{
    const char *slash = strchr(key, '/');
    struct buf text = {0};
    struct inf_object *object;
    buf_printf(&text,
               "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"namespace\":\"%.*s\","
               "\"name\":\"%s\",\"uid\":\"u\",\"resourceVersion\":\"%llu\"},\"list\":[",
               (int)(slash - key), key, slash + 1, (unsigned long long)version);
    for (unsigned n = 0; text.len < size; n++)
        buf_printf(&text,
                   "{\"container\":\"main-%u\",\"image\":\"registry.example.com/web:%llu\"},", n,
                   (unsigned long long)version);
    buf_puts(&text, "0]}");
    buf_putc(&text, '\0');
    object = object_from(text.bytes);
    buf_free(&text);
    state_put(stream, object, NULL);
    inf_object_unref(object);
}

void state_world_delete(struct inf_state_stream *stream, const char *key)
{
    struct inf_object *object = pod(key, "uid-1", 1, 0);
    state_delete(stream, object);
    inf_object_unref(object);
}

void state_world_add(struct inf_state_queue *queue, const char *text)
{
    inf_state_queue_add(queue, text, strlen(text));
}

/* ---- show ---- */

struct lines {
    char **lines;
    size_t count;
};

static void add_line(struct lines *lines, char *line)
{
    lines->lines = xrealloc(lines->lines, (lines->count + 1) * sizeof(*lines->lines));
    lines->lines[lines->count++] = line;
}

static int compare_lines(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Appends them sorted, and frees them. */
static void put_lines(struct buf *out, struct lines *lines)
{
    if (lines->count)
        qsort(lines->lines, lines->count, sizeof(*lines->lines), compare_lines);
    for (size_t i = 0; i < lines->count; i++) {
        buf_puts(out, lines->lines[i]);
        free(lines->lines[i]);
    }
    free(lines->lines);
}

/* Whether @labels, if they are known, are those of @ordinary. */
static bool are_labels_of(const struct inf_object *ordinary, const struct str *labels)
{
    struct str text, metadata, found = {"", 0};
    text.at = inf_object_json(ordinary, &text.len);
    if (json_member_get(text, STR("metadata"), &metadata))
        json_member_get(metadata, STR("labels"), &found);
    return !labels || str_eq(found, *labels);
}

/* The text is readable, too. */
static void on_object(void *ctx, const struct inf_object *object, const struct str *labels)
{
    const struct inf_object *ordinary = object_unpack(object);
    char *version = xasprintf("\"resourceVersion\":\"%s\"", inf_object_resource_version(object));
    assert(strstr(inf_object_json(ordinary, NULL), version));
    add_line(ctx, xasprintf(" %s/%s=%s%s", inf_object_namespace(object), inf_object_name(object),
                            inf_object_resource_version(object),
                            are_labels_of(ordinary, labels) ? "" : " with other labels"));
    free(version);
    inf_object_unref(ordinary);
    inf_object_unref(object);
}

static char *show_stream(struct inf_state_stream *stream)
{
    struct lines objects = {0};
    struct buf out = {0};
    const char *version = inf_state_stream_version(stream);
    size_t count = inf_state_stream_count(stream);
    while (state_stream_take(stream, 3, on_object, &objects))
        continue;
    assert(objects.count == count);
    buf_printf(&out, "%s%s%s:", inf_state_stream_id(stream), version[0] ? "@" : "", version);
    put_lines(&out, &objects);
    buf_puts(&out, "\n");
    buf_putc(&out, '\0');
    return out.bytes;
}

static char *show_queue(struct inf_state_queue *queue)
{
    const char *bytes = "";
    size_t len = 0;
    uint64_t end = inf_state_queue_end(queue);
    if (inf_state_queue_pending(queue, &bytes, &len, &end))
        assert(end == inf_state_queue_end(queue));
    return xasprintf("%s[%llu..%llu]: \"%.*s\"\n", inf_state_queue_name(queue),
                     (unsigned long long)(end - len), (unsigned long long)end, (int)len, bytes);
}

char *state_world_show(struct state_world *w)
{
    struct lines lines = {0};
    struct buf out = {0};
    struct inf_state_stream *stream = NULL;
    struct inf_state_queue *queue = NULL;
    while ((stream = inf_state_stream_next(w->state, stream)))
        add_line(&lines, show_stream(stream));
    while ((queue = inf_state_queue_next(w->state, queue)))
        add_line(&lines, show_queue(queue));
    put_lines(&out, &lines);
    buf_putc(&out, '\0');
    return out.bytes;
}
