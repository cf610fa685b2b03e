/*
 * How actors write: JSON with few escapes, managedFields, and the store.
 */
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "demo.h"

void text_put(struct buf *out, const char *fmt, ...)
{
    va_list args;
    char *text;
    int len;
    va_start(args, fmt);
    len = vasprintf(&text, fmt, args);
    va_end(args);
    if (len < 0)
        abort();
    for (const char *c = text; *c; c++) {
        if (*c == '`')
            buf_putc(out, '\\');
        buf_putc(out, *c == '\'' || *c == '`' ? '"' : *c);
    }
    free(text);
}

void time_after(char ret[STORE_TIME_SIZE], int seconds)
{
    time_t then = time(NULL) + seconds;
    struct tm tm;
    gmtime_r(&then, &tm);
    strftime(ret, STORE_TIME_SIZE, "%Y-%m-%dT%H:%M:%SZ", &tm);
}

/* An entry is identified by manager and subresource; writing again makes it the latest. */
void managers_write(struct managers *managers, const char *manager, const char *subresource,
                    const char *fields)
{
    struct hand hand = {.manager = manager, .subresource = subresource, .fields = fields};
    unsigned kept = 0;
    store_now(hand.time);
    for (unsigned i = 0; i < managers->count; i++) {
        struct hand *h = &managers->hand[i];
        if (strcmp(h->manager, manager) != 0 || strcmp(h->subresource, subresource) != 0)
            managers->hand[kept++] = *h;
    }
    assert(kept < HANDS_MAX);
    managers->hand[kept] = hand;
    managers->count = kept + 1;
}

void managers_put(struct buf *out, const struct managers *managers, const char *api_version)
{
    text_put(out, ",'managedFields':[");
    for (unsigned i = 0; i < managers->count; i++) {
        const struct hand *h = &managers->hand[i];
        text_put(out, "%s{'manager':'%s','operation':'Update','apiVersion':'%s','time':'%s',",
                 i ? "," : "", h->manager, api_version, h->time);
        text_put(out, "'fieldsType':'FieldsV1','fieldsV1':%s", h->fields);
        if (h->subresource[0])
            text_put(out, ",'subresource':'%s'", h->subresource);
        text_put(out, "}");
    }
    text_put(out, "]");
}

static struct resource *named(struct demo *demo, const char *resource)
{
    struct resource *r = store_named(&demo->job.sim->store, resource);
    assert(r);
    return r;
}

void demo_put(struct demo *demo, const char *resource, const char *ns, const char *name,
              struct buf *text, char *ret_uid)
{
    struct status status = {0};
    struct object *o = store_put(named(demo, resource), PUT_EITHER, ns[0] ? ns : NULL, name,
                                 text->bytes, text->len, &status);
    if (!o) {
        fprintf(stderr, "kubesim: demo: %s %s/%s: %s\n", resource, ns, name, status.message);
        abort(); /* the demo writes valid objects, or it has a bug */
    }
    if (ret_uid)
        snprintf(ret_uid, UUID_SIZE, "%s", o->uid);
    buf_free(text);
}

/* The object may have been deleted already: clients may write to the demo, too. */
void demo_delete(struct demo *demo, const char *resource, const char *ns, const char *name)
{
    struct status ignored;
    store_delete(named(demo, resource), ns, name, &ignored);
}
