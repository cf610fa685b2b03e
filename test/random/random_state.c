/*
 * random_state.c - state on disk against crashes, power losses and a disk that fails, with a model beside
 * it.
 *
 *     random_state [SEEDS]      runs that many stories, each from its own seed
 *     SEED=n random_state       runs one of them again
 *
 * The model has a copy for each flush. After a crash, what is loaded must equal one of these copies: not
 * an older one than the last flush that was reported, or, after a power loss, than the last one that
 * was reported when the file was synced. Small files make sure that there are many compactions.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "builders.h"
#include "core/object/object_packer.h"
#include "state_world.h"
#include "tier.h"

enum {
    UNUSED_MAX =
        128 * 1024, /* dictionaries that were written just before a crash, without a user */
    STREAMS = 3,
    KEYS = 9,
    QUEUES = 2,
    STEPS = 400,
};

struct stream_model {
    bool exists;
    bool rebuilding;
    unsigned variant; /* of its id */
    unsigned position;
    unsigned versions[KEYS]; /* 0: no such object */
};

struct queue_model {
    bool exists;
    uint64_t end, confirmed;
};

struct model {
    bool written; /* there are files */
    struct stream_model streams[STREAMS];
    struct queue_model queues[QUEUES];
};

struct story {
    uint64_t seed;
    struct rng rng;
    struct state_world w;
    struct model model;   /* with the notes of the current batch */
    struct model *copies; /* [n] after flush first + n */
    uint64_t first;       /* number of the flush before the first one */
    size_t n_copies;
    uint64_t durable; /* flush that survives a power loss */
    bool was_suspended;
    unsigned version;
    unsigned packings;
    uint64_t flushes, crashes, losses, suspensions, compactions;
};

static uint64_t dice(struct story *s, uint64_t n)
{
    return rng_below(&s->rng, n);
}

__attribute__((noreturn, format(printf, 2, 3))) static void fail_story(const struct story *s,
                                                                       const char *fmt, ...)
{
    va_list args;
    fprintf(stderr, "seed %" PRIu64 ": ", s->seed);
    va_start(args, fmt);
    vfprintf(stderr, fmt, args);
    va_end(args);
    fprintf(stderr, "\n");
    exit(1);
}

/* ---- the model as text ---- */

static void stream_id(char ret[32], unsigned stream, unsigned variant)
{
    snprintf(ret, 32, "s%u-%u", stream, variant);
}

static char queue_byte(unsigned queue, uint64_t at)
{
    return (char)('a' + (at * 7 + at / 26 + queue) % 26);
}

static void show_stream(struct buf *out, const struct stream_model *stream, unsigned number)
{
    char id[32];
    if (!stream->exists || stream->rebuilding)
        return;
    stream_id(id, number, stream->variant);
    buf_puts(out, id);
    if (stream->position)
        buf_printf(out, "@%u", stream->position);
    buf_putc(out, ':');
    for (unsigned key = 0; key < KEYS; key++)
        if (stream->versions[key])
            buf_printf(out, " ns/k%u=%u", key, stream->versions[key]);
    buf_putc(out, '\n');
}

static char *show_model(const struct model *model)
{
    struct buf out = {0};
    for (unsigned n = 0; model->written && n < QUEUES; n++) {
        const struct queue_model *queue = &model->queues[n];
        if (!queue->exists)
            continue;
        buf_printf(&out, "q%u[%" PRIu64 "..%" PRIu64 "]: \"", n, queue->confirmed, queue->end);
        for (uint64_t at = queue->confirmed; at < queue->end; at++)
            buf_putc(&out, queue_byte(n, at));
        buf_puts(&out, "\"\n");
    }
    for (unsigned n = 0; model->written && n < STREAMS; n++)
        show_stream(&out, &model->streams[n], n);
    buf_putc(&out, '\0');
    return out.bytes;
}

/* ---- notes ---- */

static struct inf_state_stream *stream_handle(struct story *s, unsigned n)
{
    char id[32];
    stream_id(id, n, s->model.streams[n].variant);
    return inf_state_stream(s->w.state, id);
}

static struct inf_state_queue *queue_handle(struct story *s, unsigned n)
{
    char name[16];
    snprintf(name, sizeof(name), "q%u", n);
    s->model.queues[n].exists = true;
    return inf_state_queue(s->w.state, name);
}

enum {
    LABEL_SETS = 6, /* 0: none */
};

static struct str labels_of(unsigned version)
{
    static const char *const labels[LABEL_SETS] = {"",
                                                   "{\"app\":\"a\"}",
                                                   "{\"app\":\"b\"}",
                                                   "{\"app\":\"c\",\"tier\":\"front\"}",
                                                   "{\"tier\":\"front\"}",
                                                   "{\"tier\":\"back\"}"};
    return str_of(labels[version % LABEL_SETS]);
}

static struct inf_object *make_object(struct story *s, unsigned key, unsigned version)
{
    struct buf text = {0};
    struct inf_object *object;
    size_t size = 200 + dice(s, 3000);
    struct str labels = labels_of(version);
    buf_printf(&text,
               "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"k%u\",\"namespace\":\"ns\",\"uid\":"
               "\"u\",\"resourceVersion\":\"%u\"%s%.*s},\"list\":[",
               key, version, labels.len ? ",\"labels\":" : "", (int)labels.len, labels.at);
    for (unsigned n = 0; text.len < size; n++)
        buf_printf(&text, "{\"name\":\"main-%u\",\"image\":\"registry.example.com/web:%u\"},", n,
                   version % 7);
    buf_puts(&text, "0]}");
    buf_putc(&text, '\0');
    object = object_from(text.bytes);
    buf_free(&text);
    return object;
}

/* Packed with a dictionary of its own. */
static const struct inf_object *pack_alone(struct story *s, struct inf_object *object)
{
    static const struct pack_limits small = {.objects = 1, .window = 1000};
    const struct inf_object *packed = NULL;
    struct object_packer packer;
    object_packer_init(&packer, state_pack_context(s->w.state), &small, s->packings++);
    for (unsigned n = 0; n < 20; n++) {
        struct inf_object *sample = make_object(s, n, s->version + n);
        inf_object_unref(object_pack(&packer, sample, n));
        inf_object_unref(sample);
    }
    while (object_packer_continue(&packer))
        continue;
    packed = object_pack(&packer, object, 20);
    object_packer_free(&packer);
    return packed;
}

static void put_key(struct story *s, unsigned n, unsigned key, unsigned version)
{
    struct inf_object *object = make_object(s, key, version);
    const struct inf_object *packed =
        dice(s, 12) == 0 ? pack_alone(s, object) : inf_object_ref(object);
    struct str labels = labels_of(version);
    s->model.streams[n].exists = true;
    s->model.streams[n].versions[key] = version;
    state_put(stream_handle(s, n), packed, version % 5 ? &labels : NULL);
    inf_object_unref(packed);
    inf_object_unref(object);
}

static void delete_key(struct story *s, unsigned n, unsigned key)
{
    struct inf_object *object;
    if (!s->model.streams[n].exists)
        return;
    object = make_object(s, key, 1);
    s->model.streams[n].versions[key] = 0;
    state_delete(stream_handle(s, n), object);
    inf_object_unref(object);
}

static void set_position(struct story *s, unsigned n)
{
    char text[16];
    if (!s->model.streams[n].exists)
        return;
    s->model.streams[n].position = ++s->version;
    s->model.streams[n].rebuilding = false;
    snprintf(text, sizeof(text), "%u", s->version);
    inf_state_position(stream_handle(s, n), text);
}

static void add_lines(struct story *s, unsigned n, size_t len)
{
    struct queue_model *queue = &s->model.queues[n];
    struct inf_state_queue *handle = queue_handle(s, n);
    for (; len; len--) {
        char byte = queue_byte(n, queue->end++);
        inf_state_queue_add(handle, &byte, 1);
    }
}

static void confirm_lines(struct story *s, unsigned n)
{
    struct queue_model *queue = &s->model.queues[n];
    if (!queue->exists)
        return;
    queue->confirmed += dice(s, queue->end - queue->confirmed + 1);
    inf_state_queue_confirm(queue_handle(s, n), queue->confirmed);
}

static void note_rare(struct story *s)
{
    unsigned n = (unsigned)dice(s, STREAMS), queue = (unsigned)dice(s, QUEUES);
    struct stream_model *stream = &s->model.streams[n];
    char id[32];
    if (dice(s, 4) == 0 && s->model.queues[queue].exists) {
        inf_state_queue_drop(queue_handle(s, queue));
        s->model.queues[queue] = (struct queue_model){0};
    } else if (stream->exists && dice(s, 2)) {
        struct inf_state_stream *handle = stream_handle(s, n);
        stream_id(id, n, ++stream->variant);
        inf_state_stream_rename(handle, id);
    } else if (stream->exists) {
        inf_state_stream_drop(stream_handle(s, n));
        *stream = (struct stream_model){.variant = stream->variant};
    }
}

static void note_something(struct story *s)
{
    unsigned n = (unsigned)dice(s, STREAMS), key = (unsigned)dice(s, KEYS);
    switch (dice(s, 16)) {
    case 0:
    case 1:
    case 2: delete_key(s, n, key); break;
    case 3:
    case 4: set_position(s, n); break;
    case 5:
    case 6: add_lines(s, (unsigned)dice(s, QUEUES), 1 + dice(s, 5)); break;
    case 7:
    case 8: confirm_lines(s, (unsigned)dice(s, QUEUES)); break;
    case 9:
        if (dice(s, 8) == 0)
            note_rare(s);
        break;
    default: put_key(s, n, key, ++s->version); break;
    }
}

/* ---- flushes ---- */

static void keep_copy(struct story *s)
{
    s->copies = xrealloc(s->copies, (s->n_copies + 1) * sizeof(*s->copies));
    s->copies[s->n_copies++] = s->model;
}

/* The state on disk is the model: nothing before it is of interest. */
static void restart_copies(struct story *s, uint64_t flush)
{
    s->n_copies = 0;
    s->first = s->durable = flush;
    keep_copy(s);
}

static void flush(struct story *s)
{
    uint64_t number;
    add_lines(s, 0, 1); /* no batch is empty */
    s->model.written = true;
    number = inf_state_flush(s->w.state);
    s->flushes++;
    keep_copy(s);
    if (!s->was_suspended && number != s->first + s->n_copies - 1)
        fail_story(s, "flush %" PRIu64 " is not the next one", number);
}

static void crash(struct story *s);

/* After a suspension: everything is noted again, in two batches. After a crash between them no stream counts. */
static void note_again(struct story *s)
{
    for (unsigned half = 0; half < 2; half++) {
        for (unsigned n = 0; n < STREAMS; n++)
            for (unsigned key = half; key < KEYS; key += 2)
                if (s->model.streams[n].versions[key])
                    put_key(s, n, key, s->model.streams[n].versions[key]);
        for (unsigned n = 0; half && n < STREAMS; n++)
            set_position(s, n);
        flush(s);
        for (unsigned ticks = (unsigned)dice(s, 8); ticks; ticks--)
            sim_tick(&s->w.sim);
        if (half == 0 && dice(s, 3) == 0) {
            crash(s);
            return;
        }
    }
}

static void check_return(struct story *s)
{
    struct model truth = s->model;
    if (!s->was_suspended || !inf_state_is_active(s->w.state))
        return;
    s->was_suspended = false;
    for (unsigned n = 0; n < STREAMS; n++) {
        s->model.streams[n].rebuilding = s->model.streams[n].exists;
        s->model.streams[n].position = 0;
        memset(s->model.streams[n].versions, 0, sizeof(s->model.streams[n].versions));
    }
    for (unsigned n = 0; n < QUEUES; n++)
        s->model.queues[n].confirmed = s->model.queues[n].end;
    s->model.written = false;
    restart_copies(s, s->w.flushed);
    for (unsigned n = 0; n < STREAMS; n++)
        memcpy(s->model.streams[n].versions, truth.streams[n].versions,
               sizeof(truth.streams[n].versions));
    note_again(s);
}

/* ---- crashes ---- */

static void adopt(struct story *s, const struct model *model)
{
    s->model = *model;
    for (unsigned n = 0; n < STREAMS; n++)
        if (s->model.streams[n].rebuilding)
            s->model.streams[n] = (struct stream_model){.variant = s->model.streams[n].variant};
    if (!s->model.written)
        s->model = (struct model){.written = false};
    s->was_suspended = false;
    restart_copies(s, 0);
}

/* Compares what was loaded with the copies from @lowest on, the newest first. */
static void check_loaded(struct story *s, uint64_t lowest, bool may_be_gone)
{
    char *shown = state_world_show(&s->w);
    struct inf_state_info info;
    size_t from = lowest > s->first ? (size_t)(lowest - s->first) : 0;
    inf_state_info(s->w.state, &info);
    if (info.reason && !may_be_gone)
        fail_story(s, "discarded: %s", info.reason);
    if (info.disk_bytes != memory_disk_size(s->w.disk) && !info.reason &&
        info.disk_bytes + UNUSED_MAX < memory_disk_size(s->w.disk))
        fail_story(s, "sizes: %" PRIu64 " and %" PRIu64, info.disk_bytes,
                   memory_disk_size(s->w.disk));
    for (size_t n = s->n_copies; n-- > from;) {
        char *expected = show_model(&s->copies[n]);
        bool same = strcmp(shown, expected) == 0;
        struct model model = s->copies[n];
        free(expected);
        if (!same)
            continue;
        free(shown);
        adopt(s, &model);
        return;
    }
    if (!may_be_gone || shown[0]) {
        char *expected = show_model(&s->copies[from]);
        fail_story(s, "of %zu copies from %zu none equals what was loaded:\n%s\nthe first:\n%s",
                   s->n_copies, from, shown, expected);
    }
    free(shown);
    adopt(s, &(struct model){.written = false});
}

static void heal(struct story *s)
{
    for (unsigned n = 0; n < 2; n++) {
        struct memory_disk *disk = &s->w.disks[n];
        memset(disk->fail, 0, sizeof(disk->fail));
        disk->space = UINT64_MAX;
        disk->stuck = false;
        disk->stuck_call = MEMORY_CALLS;
    }
}

/* covers: crash/suspended crash/power-lost crash/compacting crash/dictionary */
static void crash(struct story *s)
{
    bool gone = s->was_suspended, power = dice(s, 2);
    uint64_t lowest = gone || power ? s->durable : s->w.flushed;
    struct inf_state_info info;
    inf_state_info(s->w.state, &info);
    s->compactions += info.compactions;
    heal(s);
    if (power)
        state_world_power_loss(&s->w, &s->rng);
    else
        state_world_crash(&s->w, &s->rng);
    s->crashes += !power;
    s->losses += power;
    check_loaded(s, lowest, gone);
}

static void watch_suspension(struct story *s)
{
    if (s->was_suspended || inf_state_is_active(s->w.state))
        return;
    s->was_suspended = true;
    s->suspensions++;
}

static void restart(struct story *s)
{
    heal(s);
    sim_run(&s->w.sim); /* operations that have failed before end */
    watch_suspension(s);
    if (!s->was_suspended)
        flush(s);
    state_world_close(&s->w);
    memory_disk_settle(s->w.disk);
    state_world_open(&s->w);
    check_loaded(s, s->was_suspended ? 0 : s->first + s->n_copies - 1, s->was_suspended);
}

/* ---- the story ---- */

/* A file was synced: what was reported before survives a power loss. */
static void on_sync(struct memory_disk *disk)
{
    struct story *s = disk->data;
    if (disk == s->w.disk && !s->was_suspended)
        s->durable = s->w.flushed;
}

static void break_disk(struct story *s)
{
    static const enum memory_call calls[] = {MEMORY_OPEN, MEMORY_READ,   MEMORY_WRITE,
                                             MEMORY_SYNC, MEMORY_REMOVE, MEMORY_WRITE};
    switch (dice(s, 4)) {
    case 0: s->w.disk->space = dice(s, 5000); break;
    case 1: s->w.disk->stuck = true; break;
    default: s->w.disk->fail[calls[dice(s, ARRAY_LEN(calls))]] = -5; break;
    }
}

static void pass_time(struct story *s)
{
    uint64_t ticks = dice(s, 12);
    switch (dice(s, 6)) {
    case 0: sim_advance(&s->w.sim, dice(s, 1500)); break;
    case 1: sim_run(&s->w.sim); break;
    default:
        for (; ticks; ticks--)
            sim_tick(&s->w.sim);
    }
}

/* The retry after a suspension has removed some of the files. */
static void crash_while_clearing(struct story *s)
{
    s->w.sim.now_ms += 400 * 1000;
    for (uint64_t ticks = dice(s, 20); ticks; ticks--)
        sim_tick(&s->w.sim);
    if (!inf_state_is_active(s->w.state))
        crash(s);
}

static void step(struct story *s)
{
    for (uint64_t notes = dice(s, 5); notes; notes--)
        note_something(s);
    if (dice(s, 3))
        flush(s);
    s->w.sim.budget = dice(s, 3) ? 0 : 1 + (unsigned)dice(s, 3);
    if (dice(s, 40) == 0)
        break_disk(s);
    if (dice(s, 12) == 0 && !s->w.disk->stuck)
        s->w.disk->stuck_call = dice(s, 2) ? MEMORY_WRITE : MEMORY_SYNC;
    pass_time(s);
    watch_suspension(s);
    if (dice(s, 30) == 0)
        crash(s);
    else if (dice(s, 100) == 0)
        restart(s);
    s->w.disk->stuck_call = MEMORY_CALLS;
    if (dice(s, s->was_suspended ? 4 : 10) == 0) {
        heal(s);
        if (s->was_suspended && dice(s, 4))
            crash_while_clearing(s);
        else if (s->was_suspended)
            sim_advance(&s->w.sim, dice(s, 400 * 1000));
    }
    watch_suspension(s);
    check_return(s);
}

static void play(uint64_t seed, uint64_t totals[5])
{
    struct story *s = NEW(struct story);
    s->seed = seed;
    s->rng.state = seed;
    state_world_init(&s->w);
    for (unsigned n = 0; n < 2; n++) {
        s->w.disks[n].data = s;
        s->w.disks[n].on_sync = on_sync;
    }
    s->w.settings.segment_bytes = 64 * 1024;
    state_world_open(&s->w);
    restart_copies(s, 0);
    for (unsigned n = 0; n < STEPS; n++)
        step(s);
    heal(s);
    crash(s);
    state_world_done(&s->w);
    totals[0] += s->flushes;
    totals[1] += s->crashes;
    totals[2] += s->losses;
    totals[3] += s->suspensions;
    totals[4] += s->compactions;
    free(s->copies);
    free(s);
}

int main(int argc, char **argv)
{
    const char *one = getenv("SEED");
    uint64_t seeds = argc > 1 ? strtoull(argv[1], NULL, 10) : tier_is_full() ? 800 : 100;
    uint64_t first = one ? strtoull(one, NULL, 10) : 1, totals[5] = {0};
    if (one)
        seeds = 1;
    for (uint64_t seed = first; seed < first + seeds; seed++)
        play(seed, totals);
    printf("%" PRIu64 " seeds: %" PRIu64 " flushes, %" PRIu64 " crashes, %" PRIu64
           " power losses, %" PRIu64 " suspensions, %" PRIu64 " compactions\n",
           seeds, totals[0], totals[1], totals[2], totals[3], totals[4]);
    return 0;
}
