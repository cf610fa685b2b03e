#include "kube/discovery/discovery_cache.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"
#include "kube/discovery/document.h"

/* A place for one document, that may be there, on its way, or both. */
struct place {
    struct list node;
    struct shelf *shelf;
    char *path;
    char *text;           /* NULL: none is kept, or the server has none */
    struct inf_error why; /* it has none; code 0: that is not known */
    uint64_t fetched_ms;
    struct document document; /* on its way, if it has readers */
    struct list readers;
};

struct shelf {
    const struct api_server *server;
    struct corpse corpse;
    struct list places;
    size_t kept;         /* bytes */
    struct timer expiry; /* of all that is there, counted from the last one that came */
};

/* ---- what is kept ---- */

static void forget(struct place *p)
{
    p->shelf->kept -= p->text ? strlen(p->text) : 0;
    free(p->text);
    p->text = NULL;
    p->why.code = 0;
}

static void remove_place(struct place *p)
{
    forget(p);
    document_stop(&p->document);
    list_remove(&p->node);
    free(p->path);
    free(p);
}

static bool is_on_its_way(const struct place *p)
{
    return p->document.source != NULL;
}

static void forget_all(struct shelf *s)
{
    list_for_each_safe(node, &s->places) {
        struct place *p = container_of(node, struct place, node);
        if (is_on_its_way(p))
            forget(p);
        else
            remove_place(p);
    }
}

void shelf_forget(struct shelf *s)
{
    forget_all(s);
}

static void shelf_on_expiry(struct timer *timer)
{
    forget_all(container_of(timer, struct shelf, expiry));
}

static void keep(struct place *p, const char *text, const struct inf_error *why)
{
    struct shelf *s = p->shelf;
    size_t len = text ? strlen(text) : 0;
    forget(p);
    if (len > SHELF_MAX || (!text && why->code != INF_ENOTFOUND))
        return;
    p->text = text ? xstrdup(text) : NULL;
    p->why = text ? (struct inf_error){.code = 0} : *why;
    p->fetched_ms = clock_now_ms(s->server->clock);
    s->kept += len;
    timer_start(s->server->clock, &s->expiry, SHELF_KEEP_MS);
}

/* Room for @len more, which may cost all that is there but @except. */
static void make_room(struct shelf *s, size_t len, const struct place *except)
{
    if (s->kept + len <= SHELF_MAX)
        return;
    list_for_each(node, &s->places) {
        struct place *p = container_of(node, struct place, node);
        if (p != except)
            forget(p);
    }
}

static struct place *find_place(const struct shelf *s, const char *path)
{
    list_for_each(node, &s->places) {
        struct place *p = container_of(node, struct place, node);
        if (strcmp(p->path, path) == 0)
            return p;
    }
    return NULL;
}

bool shelf_find(struct shelf *s, const char *path, uint64_t max_age_ms, struct page *ret)
{
    const struct place *p = find_place(s, path);
    uint64_t age = p ? clock_now_ms(s->server->clock) - p->fetched_ms : 0;
    if (!p || (!p->text && !p->why.code) || age > max_age_ms || age > SHELF_KEEP_MS)
        return false;
    *ret = (struct page){.text = p->text, .why = &p->why, .age_ms = age};
    return true;
}

/* ---- what is fetched ---- */

/* Who is told may ask for the same again, stop others, or close it all. */
static void shelf_on_end(struct document *document, const char *text, const struct inf_error *why)
{
    struct place *p = container_of(document, struct place, document);
    struct list telling, *node;
    list_init(&telling);
    list_move_all(&telling, &p->readers);
    make_room(p->shelf, text ? strlen(text) : 0, p);
    keep(p, text, why);
    while ((node = list_pop(&telling))) {
        struct shelf_reader *reader = container_of(node, struct shelf_reader, node);
        reader->place = NULL;
        reader->on_page(reader, &(struct page){.text = text, .why = why});
    }
}

static void shelf_on_progress(struct document *document)
{
    struct place *p = container_of(document, struct place, document);
    list_for_each_safe(node, &p->readers) {
        struct shelf_reader *reader = container_of(node, struct shelf_reader, node);
        reader->on_progress(reader);
    }
}

static struct place *new_place(struct shelf *s, const char *path)
{
    struct place *p = NEW(struct place);
    p->shelf = s;
    p->path = xstrdup(path);
    p->document.on_end = shelf_on_end;
    p->document.on_progress = shelf_on_progress;
    list_init(&p->readers);
    list_push(&s->places, &p->node);
    return p;
}

void shelf_fetch(struct shelf *s, const char *path, struct shelf_reader *reader)
{
    struct place *p = find_place(s, path);
    if (!p)
        p = new_place(s, path);
    list_push(&p->readers, &reader->node);
    reader->place = p;
    if (!is_on_its_way(p))
        document_start(&p->document, s->server, path, NULL);
}

/* What nobody waits for any more is given up: it may be stuck. */
void shelf_stop_reading(struct shelf_reader *reader)
{
    struct place *p = reader->place;
    if (!p)
        return;
    list_remove(&reader->node);
    reader->place = NULL;
    if (list_empty(&p->readers))
        document_stop(&p->document);
}

/* ---- life ---- */

struct shelf *shelf_new(const struct api_server *server)
{
    struct shelf *s = NEW(struct shelf);
    s->server = server;
    s->expiry.fire = shelf_on_expiry;
    list_init(&s->places);
    return s;
}

const struct api_server *shelf_server(const struct shelf *s)
{
    return s->server;
}

/* Inside a callback of a place: it has to last until that returns. */
static void shelf_bury(struct corpse *corpse)
{
    struct shelf *s = container_of(corpse, struct shelf, corpse);
    list_for_each_safe(node, &s->places)
        remove_place(container_of(node, struct place, node));
    free(s);
}

void shelf_close(struct shelf *s)
{
    if (!s)
        return;
    timer_stop(s->server->clock, &s->expiry);
    list_for_each(node, &s->places)
        document_stop(&container_of(node, struct place, node)->document);
    clock_bury(s->server->clock, &s->corpse, shelf_bury);
}
