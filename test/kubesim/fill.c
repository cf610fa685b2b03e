/*
 * fill.c - creates and changes many objects, whose text is shared except for the metadata. Changes
 * with a rate are a background task with a timer.
 */
#include "fill.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"

enum {
    NODES = 16,      /* nodes of filled pods; each has its own tail */
    LABEL_SETS = 50, /* number of different sets of labels */
};

static void put_containers(struct buf *out, size_t bytes)
{
    buf_puts(out, "{\"name\":\"main\",\"image\":\"example.com/shop/main:1.4.2\",\"env\":[");
    for (unsigned i = 0; i == 0 || out->len < bytes; i++)
        buf_printf(out,
                   "%s{\"name\":\"SETTING_%u\",\"valueFrom\":{\"configMapKeyRef\":{\"name\":"
                   "\"settings-%u\",\"key\":\"value-%u\",\"optional\":false}}}",
                   i ? "," : "", i, i % 7, i * 7919 % 1000);
    buf_puts(out, "],\"resources\":{\"limits\":{\"cpu\":\"500m\",\"memory\":\"256Mi\"}},"
                  "\"imagePullPolicy\":\"IfNotPresent\"}");
}

static void put_pod(struct buf *out, size_t bytes, unsigned node)
{
    static const char status[] =
        "\"status\":{\"phase\":\"Running\",\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\","
        "\"lastTransitionTime\":\"2026-11-15T23:09:29Z\"}],\"containerStatuses\":[{\"name\":"
        "\"main\",\"ready\":true,\"restartCount\":0,\"image\":\"example.com/shop/main:1.4.2\"}]}}";
    buf_puts(out, ",\"spec\":{\"containers\":[");
    put_containers(out, bytes > sizeof(status) + 200 ? bytes - sizeof(status) - 200 : 0);
    buf_printf(out, "],\"restartPolicy\":\"Always\",\"nodeName\":\"node-%u\"},", node);
    buf_puts(out, status);
}

static void put_data(struct buf *out, size_t bytes, const char *member)
{
    buf_printf(out, ",\"%s\":{", member);
    for (unsigned i = 0; i == 0 || out->len < bytes; i++)
        buf_printf(out, "%s\"key-%04u\":\"value %u of many\"", i ? "," : "", i, i * 7919 % 1000);
    buf_puts(out, "}}");
}

static struct tail *make_tail(const struct resource *r, size_t bytes, unsigned node)
{
    struct buf text = {0};
    struct tail *tail;
    if (strcmp(r->plural, "pods") == 0)
        put_pod(&text, bytes, node);
    else
        put_data(&text, bytes, strcmp(r->plural, "configmaps") == 0 ? "data" : "spec");
    tail = tail_make(text.bytes, text.len);
    buf_free(&text);
    return tail;
}

struct filler {
    struct resource *resource;
    const char *ns;
    const char *name;
    uint64_t number;     /* selects the labels */
    uint64_t generation; /* incremented by each change */
    struct tail *tail;
};

static size_t put_version(struct buf *out, uint64_t rv)
{
    size_t at;
    buf_puts(out, "\"resourceVersion\":\"");
    at = out->len;
    buf_printf(out, "%llu\"", (unsigned long long)rv);
    return at;
}

static size_t put_builtin(struct buf *out, const struct filler *f, const struct stamp *s)
{
    size_t rv_at;
    buf_printf(out, "\"metadata\":{\"name\":\"%s\",", f->name);
    if (f->ns[0])
        buf_printf(out, "\"namespace\":\"%s\",", f->ns);
    buf_printf(out, "\"uid\":\"%s\",", s->uid);
    rv_at = put_version(out, s->rv);
    buf_printf(out, ",\"generation\":%llu,\"creationTimestamp\":\"%s\",",
               (unsigned long long)f->generation, s->created);
    buf_printf(out, "\"labels\":{\"app\":\"app-%llu\",\"tier\":\"%s\"}}",
               (unsigned long long)(f->number % LABEL_SETS), f->number % 2 ? "web" : "db");
    return rv_at;
}

static size_t put_custom(struct buf *out, const struct filler *f, const struct stamp *s)
{
    size_t rv_at;
    buf_printf(out, "\"apiVersion\":\"%s\",\"kind\":\"%s\",\"metadata\":{\"creationTimestamp\":",
               f->resource->api_version, f->resource->kind);
    buf_printf(out, "\"%s\",\"generation\":%llu,", s->created, (unsigned long long)f->generation);
    buf_printf(out, "\"labels\":{\"app\":\"app-%llu\",\"tier\":\"%s\"},\"name\":\"%s\",",
               (unsigned long long)(f->number % LABEL_SETS), f->number % 2 ? "web" : "db", f->name);
    if (f->ns[0])
        buf_printf(out, "\"namespace\":\"%s\",", f->ns);
    rv_at = put_version(out, s->rv);
    buf_printf(out, ",\"uid\":\"%s\"}", s->uid);
    return rv_at;
}

static void add_filler(const struct filler *f, const char *uid, const char *created)
{
    struct stamp stamp = {store_next(f->resource->store), uid, created};
    struct buf head = {0};
    size_t rv_at =
        f->resource->custom ? put_custom(&head, f, &stamp) : put_builtin(&head, f, &stamp);
    store_add_object(f->resource,
                     object_make(f->resource, f->ns, f->name, &stamp, &head, rv_at, f->tail));
}

static void add_new(struct filler *f)
{
    char uid[UUID_SIZE], created[STORE_TIME_SIZE];
    store_uuid(f->resource->store, uid);
    store_now(created);
    f->generation = 1;
    add_filler(f, uid, created);
}

void fill_run(const struct fill *fill)
{
    struct tail *tails[NODES];
    char ns[32] = "", name[128];
    for (unsigned i = 0; i < NODES; i++)
        tails[i] = make_tail(fill->resource, (size_t)fill->bytes, i);
    for (uint64_t i = 0; i < fill->count; i++) {
        struct filler f = {.resource = fill->resource, .ns = ns, .name = name, .number = i};
        if (fill->resource->namespaced)
            snprintf(ns, sizeof(ns), "ns-%02llu", (unsigned long long)(i % fill->namespaces));
        snprintf(name, sizeof(name), "%.100s-%06llu", fill->prefix, (unsigned long long)i);
        f.tail = tails[i % NODES];
        add_new(&f);
    }
    for (unsigned i = 0; i < NODES; i++)
        tail_unref(tails[i]);
}

void job_start(struct job *job, struct kubesim *sim, void (*free)(struct job *job))
{
    job->sim = sim;
    job->free = free;
    job->timer.data = job;
    uv_timer_init(&sim->loop, &job->timer);
    list_push(&sim->jobs, &job->node);
}

static void on_job_closed(uv_handle_t *timer)
{
    struct job *job = timer->data;
    job->free(job);
}

void job_end(struct job *job)
{
    list_remove(&job->node);
    uv_close((uv_handle_t *)&job->timer, on_job_closed);
}

void jobs_end(struct kubesim *sim)
{
    list_for_each_safe(n, &sim->jobs)
        job_end(container_of(n, struct job, node));
}

struct churn {
    struct job job;
    struct resource *resource;
    uint64_t count;
    uint64_t rate;
    uint64_t done;
    uint64_t started; /* ms */
    char *at;         /* the key of the last changed object */
};

static int after_key(const void *key, const struct tree_node *node)
{
    return strcmp(key, container_of(node, struct object, node)->key);
}

/* The next filled object after the last one, or the first. */
static struct object *next_object(struct churn *ch)
{
    struct tree *tree = &ch->resource->objects;
    struct tree_node *n = tree_after(tree, after_key, ch->at);
    struct object *o = NULL;
    for (size_t i = 0; i < ch->resource->count && !o; i++) {
        if (!n)
            n = tree_first(tree);
        o = container_of(n, struct object, node);
        n = tree_next(n);
        o = o->tail ? o : NULL;
    }
    if (o)
        str_replace(&ch->at, o->key);
    return o;
}

static void change_one(struct churn *ch)
{
    struct object *o = next_object(ch);
    char name[64];
    struct status ignored;
    struct filler f = {.resource = ch->resource, .number = ch->done, .name = name};
    if (!o)
        return;
    f.ns = o->ns;
    f.tail = o->tail;
    snprintf(name, sizeof(name), "churn-%06llu", (unsigned long long)ch->resource->store->rv);
    if (ch->done % 10 == 4) {
        add_new(&f);
    } else if (ch->done % 10 == 9) {
        store_delete(ch->resource, o->ns, o->name, &ignored);
    } else {
        f.name = o->name;
        f.generation = o->rv; /* any value that differs */
        add_filler(&f, o->uid, o->created);
    }
}

static void churn_free(struct job *job)
{
    struct churn *ch = container_of(job, struct churn, job);
    free(ch->at);
    free(ch);
}

static void on_churn(uv_timer_t *timer)
{
    struct churn *ch = container_of((struct job *)timer->data, struct churn, job);
    uint64_t passed = uv_now(&ch->job.sim->loop) - ch->started;
    uint64_t due = ch->rate ? ch->rate * passed / 1000 : ch->count;
    while (ch->done < due && ch->done < ch->count) {
        change_one(ch);
        ch->done++;
    }
    if (ch->done >= ch->count)
        job_end(&ch->job);
}

void churn_start(struct kubesim *sim, struct resource *r, uint64_t count, uint64_t rate)
{
    enum {
        TICK_MS = 10
    };
    struct churn *ch = NEW(struct churn);
    ch->resource = r;
    ch->count = count;
    ch->rate = rate;
    ch->at = xstrdup("");
    ch->started = uv_now(&sim->loop);
    job_start(&ch->job, sim, churn_free);
    uv_timer_start(&ch->job.timer, on_churn, 0, TICK_MS);
}
