/*
 * A list: a snapshot of the objects, written item by item as the client reads them. A list can be
 * requested at any version of the history; later pages use the version of the first page.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "base/alloc.h"
#include "base/base.h"
#include "page.h"
#include "table.h"

enum {
    BATCH = 32 * 1024,      /* bytes produced at a time */
    GZIP_FROM = 128 * 1024, /* lists below this are not compressed */
};

struct listing {
    struct producer producer;
    const struct resource *resource;
    struct snapshot s;
    size_t first; /* the first item of this page */
    size_t next;
    size_t end;
    enum form form;
    enum table_object table; /* with FORM_TABLE */
    bool custom;             /* in the format of custom resources: keys sorted */
    bool pretty;
    bool begun;
    bool truncate;
    bool plain; /* no selector: remainingItemCount is sent */
    bool garbage;
    struct buf token; /* token of the next page; empty if this is the last */
};

static void listing_free(struct producer *p)
{
    struct listing *l = container_of(p, struct listing, producer);
    snapshot_free(&l->s);
    buf_free(&l->token);
    free(l);
}

static void put_members(struct buf *out, const struct listing *l)
{
    bool more = l->token.len > 0;
    unsigned long long rv = l->s.rv;
    if (!l->custom)
        buf_printf(out, "\"resourceVersion\":\"%llu\"%s", rv, more ? "," : "");
    if (l->custom || more)
        buf_puts(out, "\"continue\":\"");
    if (more)
        buf_put(out, l->token.bytes, l->token.len);
    if (l->custom || more)
        buf_putc(out, '"');
    if (more && l->plain)
        buf_printf(out, ",\"remainingItemCount\":%zu", l->s.count - l->end);
    if (l->custom)
        buf_printf(out, ",\"resourceVersion\":\"%llu\"", rv);
}

static void put_begin(struct buf *out, const struct listing *l)
{
    const struct resource *r = l->resource;
    if (l->custom) {
        buf_printf(out, "{\"apiVersion\":\"%s\",\"items\":[", r->api_version);
        return;
    }
    if (l->form == FORM_METADATA)
        buf_puts(out, "{\"kind\":\"PartialObjectMetadataList\",\"apiVersion\":\"meta.k8s.io/v1\"");
    else if (l->form == FORM_TABLE)
        buf_puts(out, "{\"kind\":\"Table\",\"apiVersion\":\"meta.k8s.io/v1\"");
    else
        buf_printf(out, "{\"kind\":\"%sList\",\"apiVersion\":\"%s\"", r->kind, r->api_version);
    buf_puts(out, ",\"metadata\":{");
    put_members(out, l);
    buf_puts(out, "},");
    if (l->form == FORM_TABLE)
        table_put_columns(out, r, true);
    else
        buf_puts(out, "\"items\":[");
}

static void put_end(struct buf *out, const struct listing *l)
{
    if (l->custom) {
        buf_printf(out, "],\"kind\":\"%sList\",\"metadata\":{", l->resource->kind);
        put_members(out, l);
        buf_puts(out, "}}\n");
    } else {
        buf_puts(out, "]}\n");
    }
}

static void put_object(struct buf *out, const struct listing *l, const struct object *o)
{
    if (l->form == FORM_TABLE)
        table_put_row(out, o, l->table, 0);
    else
        object_put(out, o, l->form, 0);
}

static void put_item(struct buf *out, struct listing *l)
{
    const struct object *o = l->s.objects[l->next];
    struct buf text = {0};
    if (l->next > l->first)
        buf_putc(out, ',');
    if (!l->pretty) {
        put_object(out, l, o);
    } else {
        put_object(&text, l, o);
        buf_putc(out, '\n');
        json_put_pretty(out, text.bytes, text.len);
        buf_free(&text);
    }
    object_unref(l->s.objects[l->next]);
    l->s.objects[l->next++] = NULL; /* written: the store keeps its own reference */
}

static enum progress listing_more(struct producer *p, struct buf *body)
{
    struct listing *l = container_of(p, struct listing, producer);
    if (l->garbage) {
        buf_puts(body, "{\"kind\":\"List\",\"items\":[{\"metadata\":{]]\x01 not JSON");
        return MADE_ALL;
    }
    if (!l->begun)
        put_begin(body, l);
    l->begun = true;
    while (l->next < l->end && body->len < BATCH)
        put_item(body, l);
    if (l->next < l->end)
        return MADE_SOME;
    if (!l->truncate)
        put_end(body, l);
    return MADE_ALL;
}

static void expired(struct status *ret, const char *after)
{
    struct buf token = {0};
    if (!after) {
        status_set(ret, 410, "Expired", "The resourceVersion for the provided list is too old.");
        return;
    }
    status_set(
        ret, 410, "Expired",
        "The provided continue parameter is too old to display a consistent list result. You can "
        "start a new list without the continue parameter, or use the continue token in this "
        "response to retrieve the remainder of the results. Continuing with the provided token "
        "results in an inconsistent list - objects that were created, modified, or deleted between "
        "the time the first chunk was returned and now may show up in the list.");
    page_put(&token, PAGE_ANY, after);
    if (token.len < sizeof(ret->next)) /* longer than any Kubernetes name */
        memcpy(ret->next, token.bytes, token.len);
    buf_free(&token);
}

/* Chooses the version. False, with @ret, if it is expired or in the future. */
static bool choose_version(struct conn *c, const struct resource *r, const struct page *page,
                           uint64_t *ret_rv, struct status *ret)
{
    const struct params *q = &c->request.query;
    uint64_t requested = params_number(q, "resourceVersion", 0), now = r->store->rv;
    const char *match = params_get(q, "resourceVersionMatch", "");
    bool exact =
        strcmp(match, "Exact") == 0 || (!match[0] && params_number(q, "limit", 0) && requested);
    bool stale = page && c->reply.fault.kind == FAULT_EXPIRE;
    if (page && page->rv != PAGE_ANY) {
        requested = (uint64_t)page->rv;
        exact = true;
    }
    *ret_rv = exact ? requested : now;
    if (requested > now)
        status_too_large(ret, requested, now);
    else if (stale || (exact && requested < r->history.floor))
        expired(ret, page ? page->after : NULL);
    else
        return true;
    return false;
}

static void choose_page(struct listing *l, struct conn *c, const struct page *page)
{
    const struct params *q = &c->request.query;
    bool any = strcmp(params_get(q, "resourceVersion", ""), "0") == 0; /* limit is ignored then */
    uint64_t limit = any ? 0 : params_number(q, "limit", 0);
    while (page && l->first < l->s.count && strcmp(l->s.objects[l->first]->key, page->after) <= 0)
        l->first++;
    l->next = l->first;
    l->end = limit && limit < l->s.count - l->first ? l->first + (size_t)limit : l->s.count;
    if (l->end < l->s.count)
        page_put(&l->token, (int64_t)l->s.rv, l->s.objects[l->end - 1]->key);
    if (c->reply.fault.kind == FAULT_TRUNCATE && c->reply.fault.events < l->end - l->first) {
        l->end = l->first + (size_t)c->reply.fault.events;
        l->truncate = true;
    }
}

static bool is_large(const struct listing *l)
{
    size_t size = 0;
    for (size_t i = l->first; i < l->end && size <= GZIP_FROM; i++)
        size += object_size(l->s.objects[i]);
    return size > GZIP_FROM;
}

static void answer_list(struct conn *c, const struct route *route,
                        const struct selection *selection, const struct page *page)
{
    struct listing *l;
    struct status s;
    struct head head = {.code = 200};
    enum table_object table;
    uint64_t rv;
    if (!table_object_read(&c->request, &table, &s) ||
        !choose_version(c, route->resource, page, &rv, &s)) {
        reply_status(c, &s);
        return;
    }
    l = NEW(struct listing);
    l->producer = (struct producer){listing_more, listing_free};
    l->resource = route->resource;
    l->form = accepted_form(&c->request, FORM_ITEM);
    l->table = table;
    l->custom = route->resource->custom && l->form == FORM_ITEM;
    l->pretty = requests_pretty(c);
    l->plain = selection_is_plain(selection);
    l->garbage = c->reply.fault.kind == FAULT_GARBAGE;
    snapshot_take(&l->s, route->resource, rv);
    snapshot_select(&l->s, selection);
    choose_page(l, c, page);
    head.gzip = c->request.gzip && c->sim->settings.gzip && is_large(l);
    reply_stream(c, &head, &l->producer);
}

void list_answer(struct conn *c, const struct route *route)
{
    const struct params *q = &c->request.query;
    const char *token = params_get(q, "continue", "");
    struct selection selection;
    struct page page = {0};
    struct status s;
    if (!options_check(c->sim, q, false, &s) ||
        !selection_read(&selection, route->resource, route->ns, q, &s)) {
        reply_status(c, &s);
        return;
    }
    if (token[0] && !page_read(&page, token)) {
        status_set(&s, 400, "BadRequest", "continue key is not valid: %s", token);
        reply_status(c, &s);
    } else {
        answer_list(c, route, &selection, token[0] ? &page : NULL);
    }
    selection_free(&selection);
    free(page.after);
}
