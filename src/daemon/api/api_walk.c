/*
 * api_walk.c - merges the store with the undo map. See api_walk.h.
 *
 * Normal path: the store's own walk visits the objects that match now. Before each of them, the kept
 * states with a smaller key are emitted; an object with a kept state is replaced by it, or left out if
 * it did not exist at the start. At the end the remaining kept states follow. If a requirement of the
 * field selector has an index, the store examines only the objects of its value.
 *
 * While a new list replaces the cache, readers see the new objects before the changes were reported:
 * a walk that began before waits for them. A walk over a store that is gone, or with too many changes,
 * is lost.
 */
#include "daemon/api/api_walk.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/str.h"
#include "daemon/api/api_feed.h"
#include "daemon/api/api_selector.h"

enum {
    EXAMINED = 256,          /* objects between two looks at the clock, if few are selected */
    EXAMINED_BY_FIELDS = 32, /* the same if each is expanded to compare its fields, ... */
    FIELDS_COMPARED = 512,   /* ... but fewer if this limit is less: a selector may have 128 */
};

/* The state of an object at the start of the walk. */
struct undo {
    struct tree_node node;
    const struct inf_object *old; /* a reference, as the cache held it; NULL: it did not exist */
    size_t len;
    char key[];
};

static struct str key_of(const struct undo *undo)
{
    return (struct str){undo->key, undo->len};
}

static int by_undo_key(const struct tree_node *a, const struct tree_node *b)
{
    return str_cmp(key_of(container_of(a, struct undo, node)),
                   key_of(container_of(b, struct undo, node)));
}

static int key_to_undo(const void *key, const struct tree_node *node)
{
    return str_cmp(*(const struct str *)key, key_of(container_of(node, struct undo, node)));
}

/* The key by which the store sorts: see informer/store.h. */
static void put_key(struct buf *out, const struct inf_object *object)
{
    const char *ns = inf_object_namespace(object);
    buf_clear(out);
    if (*ns) {
        buf_puts(out, ns);
        buf_putc(out, '/');
    }
    buf_puts(out, inf_object_name(object));
}

static struct str str_of_buf(const struct buf *b)
{
    return (struct str){b->bytes, b->len};
}

/* ---- life ---- */

/* The number of objects to examine between two looks at the clock. */
static size_t examined_at_once(const struct inf_selector *fields)
{
    size_t n = api_selector_count(fields);
    if (!n)
        return EXAMINED;
    return n < FIELDS_COMPARED / EXAMINED_BY_FIELDS ? EXAMINED_BY_FIELDS : FIELDS_COMPARED / n;
}

void api_walk_start(struct api_walk *w, struct api_feed *feed, const struct api_request *request,
                    void (*on_ready)(struct api_walk *walk))
{
    *w = (struct api_walk){
        .feed = feed,
        .version = xstrdup(inf_store_resource_version(feed->store)),
        .ns = request->ns ? request->ns : "",
        .labels = request->labels,
        .fields = request->fields,
        .examined = examined_at_once(request->fields),
        .replacements = feed->replacements,
        .cursor = INF_CURSOR_START,
        .on_ready = on_ready,
    };
    tree_init(&w->undo, by_undo_key);
    list_push(&feed->walks, &w->node);
}

static void forget_undo(struct api_walk *w, struct undo *undo)
{
    tree_remove(&w->undo, &undo->node);
    inf_object_unref(undo->old);
    free(undo);
}

static void forget_all(struct api_walk *w)
{
    struct tree_node *node;
    while ((node = tree_first(&w->undo)))
        forget_undo(w, container_of(node, struct undo, node));
}

void api_walk_stop(struct api_walk *w)
{
    if (!w->feed)
        return;
    list_remove(&w->node);
    forget_all(w);
    inf_cursor_end(&w->cursor);
    buf_free(&w->position);
    free(w->version);
    *w = (struct api_walk){.feed = NULL};
}

void api_walk_wake_all(struct api_feed *feed)
{
    list_for_each_safe(node, &feed->walks) {
        struct api_walk *w = container_of(node, struct api_walk, node);
        if (!feed->store || (w->waits && !feed->replacing)) {
            w->waits = false;
            w->on_ready(w);
        }
    }
}

/* ---- changes meanwhile ---- */

static bool is_passed(const struct api_walk *w, struct str key)
{
    return w->cursor.last && str_cmp(key, str_of_buf(&w->position)) <= 0;
}

static void keep_old_state(struct api_walk *w, struct str key, const struct inf_object *old)
{
    size_t size = old ? inf_object_size(old) : 0;
    struct undo *undo;
    if (w->n_undo == API_UNDO_MAX || w->undo_bytes + size > API_UNDO_BYTES_MAX) {
        w->overflow = true;
        forget_all(w);
        return;
    }
    undo = xmalloc(sizeof(*undo) + key.len);
    *undo = (struct undo){.old = old ? inf_object_ref(old) : NULL, .len = key.len};
    memcpy(undo->key, key.at, key.len);
    tree_add(&w->undo, &undo->node);
    w->n_undo++;
    w->undo_bytes += size;
}

void api_walk_note(struct api_walk *w, const struct inf_store_change *change, bool replaced)
{
    const struct inf_object *object = inf_event_object(change->event);
    struct buf key = {0};
    struct tree_node *node;
    struct str k;
    bool known;
    if (w->overflow || w->walked || (replaced && w->replacements == w->feed->replacements) ||
        (*w->ns && strcmp(w->ns, inf_object_namespace(object)) != 0))
        return; /* if replaced: the walk began with the new list */
    put_key(&key, object);
    k = str_of_buf(&key);
    node = tree_at_least(&w->undo, key_to_undo, &k);
    known = node && str_eq(key_of(container_of(node, struct undo, node)), k);
    if (!known && !is_passed(w, k))
        keep_old_state(w, k, change->old_held);
    buf_free(&key);
}

/* ---- the walk ---- */

/* Returns whether to continue. */
static bool emit_if_selected(struct api_walk *w, const struct inf_object *object)
{
    if (!inf_selector_matches(w->labels, object) || !inf_selector_matches(w->fields, object))
        return true;
    return w->each(w->ctx, object);
}

static bool emit_undo(struct api_walk *w, struct undo *undo)
{
    const struct inf_object *old = undo->old ? inf_object_expand(undo->old) : NULL;
    bool more = !old || emit_if_selected(w, old);
    inf_object_unref(old);
    forget_undo(w, undo);
    return more;
}

/* Emits the kept states up to @key, which is included; NULL: all. Returns whether that key was one of
 * them. */
static bool emit_undo_to(struct api_walk *w, const struct str *key, bool *more)
{
    struct tree_node *node;
    while ((node = tree_first(&w->undo))) {
        struct undo *undo = container_of(node, struct undo, node);
        int order = key ? str_cmp(key_of(undo), *key) : -1;
        if (order > 0 || (!key && !*more))
            break;
        *more = emit_undo(w, undo) && *more;
        if (order == 0)
            return true;
    }
    return false;
}

static bool visit(void *ctx, const struct inf_object *object)
{
    struct api_walk *w = ctx;
    bool more = true;
    if (w->undo.root) {
        struct buf key = {0};
        struct str k;
        bool undone;
        put_key(&key, object);
        k = str_of_buf(&key);
        undone = emit_undo_to(w, &k, &more);
        buf_free(&key);
        if (undone)
            return more;
    }
    if (!inf_selector_matches(w->other, object))
        return more;
    return w->each(w->ctx, object) && more;
}

/* Continues the walk over the store with the selector for which it has an index: either the fields or
 * the label sets. It may differ from that of the last slice. Returns true at the end. */
static bool select_some(struct api_walk *w)
{
    const struct inf_store *store = w->feed->store;
    bool by_fields = !w->labels || inf_store_is_indexed(store, w->fields);
    w->other = by_fields ? w->labels : w->fields;
    return inf_store_select_some(store, w->ns, by_fields ? w->fields : w->labels, &w->cursor,
                                 w->examined, visit, w);
}

enum api_walk_result api_walk_some(struct api_walk *w, inf_object_fn *each, void *ctx)
{
    bool more = true;
    if (w->overflow || !w->feed->store)
        return API_WALK_LOST;
    w->waits = w->feed->replacing && w->replacements != w->feed->replacements;
    if (w->waits)
        return API_WALK_WAIT;
    w->each = each;
    w->ctx = ctx;
    if (!w->walked && !select_some(w)) {
        if (w->cursor.last)
            put_key(&w->position, w->cursor.last);
        return API_WALK_MORE;
    }
    w->walked = true; /* no more changes matter */
    emit_undo_to(w, NULL, &more);
    if (w->undo.root)
        return API_WALK_MORE;
    list_remove(&w->node);
    return API_WALK_END;
}
