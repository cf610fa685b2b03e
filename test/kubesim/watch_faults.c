/*
 * Faults in watch events: too large, too deep, of unknown type, not JSON; and unexpected ERROR
 * events.
 */
#include <stdlib.h>
#include <string.h>

#include "watch.h"

bool watch_fault_due(const struct watch *w)
{
    const struct fault *f = &w->conn->reply.fault;
    switch (f->kind) {
    case FAULT_GARBAGE:
    case FAULT_HUGE:
    case FAULT_DEEP:
    case FAULT_UNKNOWN:
    case FAULT_ERROR: return !w->fault_done && w->sent >= f->events;
    case FAULT_NONE:
    case FAULT_REFUSE:
    case FAULT_RESET:
    case FAULT_HOLE:
    case FAULT_CUT:
    case FAULT_STALL:
    case FAULT_DRIP:
    case FAULT_EACH:
    case FAULT_BLIND:
    case FAULT_NO_END:
    case FAULT_STATUS:
    case FAULT_REDIRECT:
    case FAULT_HTML:
    case FAULT_TYPE:
    case FAULT_PRETTY:
    case FAULT_TRUNCATE:
    case FAULT_EXPIRE:
    case FAULT_WARNING:
    case FAULT_SECOND: break;
    }
    return false;
}

/* The start of an event with an object of the resource, up to and including its metadata. */
static void put_start(const struct watch *w, struct buf *body, const char *type, const char *name)
{
    const struct resource *r = w->resource;
    const char *ns = w->selection.ns[0] ? w->selection.ns : "default";
    char uid[UUID_SIZE];
    store_uuid(r->store, uid);
    buf_printf(body, "{\"type\":\"%s\",\"object\":{\"kind\":\"%s\",\"apiVersion\":\"%s\",", type,
               r->kind, r->api_version);
    buf_printf(body, "\"metadata\":{\"name\":\"%s\",", name);
    if (r->namespaced)
        buf_printf(body, "\"namespace\":\"%s\",", ns);
    buf_printf(body, "\"uid\":\"%s\",\"resourceVersion\":\"%llu\"}", uid,
               (unsigned long long)r->store->rv);
}

static void put_huge(const struct watch *w, struct buf *body, size_t size)
{
    put_start(w, body, "ADDED", "kubesim-huge");
    buf_puts(body, ",\"data\":{\"pad\":\"");
    memset(buf_room(body, size), 'x', size);
    body->len += size;
    buf_puts(body, "\"}}}\n");
}

static void put_deep(const struct watch *w, struct buf *body, size_t depth)
{
    put_start(w, body, "ADDED", "kubesim-deep");
    buf_puts(body, ",\"data\":");
    memset(buf_room(body, depth), '[', depth);
    body->len += depth;
    memset(buf_room(body, depth), ']', depth);
    body->len += depth;
    buf_puts(body, "}}\n");
}

static void put_error(const struct fault *f, struct buf *body)
{
    int code = (int)f->code;
    struct status s;
    status_set(&s, code, status_reason(code), "kubesim injects status %d", code);
    s.retry_after = (int)f->retry_after;
    buf_puts(body, "{\"type\":\"ERROR\",\"object\":");
    status_put(body, &s);
    buf_puts(body, "}\n");
}

bool watch_fault_inject(struct watch *w, struct buf *body)
{
    const struct fault *f = &w->conn->reply.fault;
    w->fault_done = true;
    if (f->kind == FAULT_HUGE) {
        put_huge(w, body, (size_t)f->size);
    } else if (f->kind == FAULT_DEEP) {
        put_deep(w, body, (size_t)f->size);
    } else if (f->kind == FAULT_UNKNOWN) {
        put_start(w, body, "RENAMED", "kubesim-unknown");
        buf_puts(body, "}}\n");
    } else if (f->kind == FAULT_ERROR) {
        put_error(f, body);
    } else {
        buf_puts(body, "{\"type\":\"ADDED\",\"object\":{]] not JSON\n");
    }
    return f->kind != FAULT_ERROR;
}
