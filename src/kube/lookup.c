#include "kube/lookup.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"

enum step {
    IN_CORE,   /* /api/v1 is read */
    IN_GROUPS, /* /apis, or one of its groups */
    IN_LISTS,  /* the resources of a version */
    IN_ALL,    /* there is no more to read */
};

/* ---- the end ---- */

static void end(struct lookup *l, const struct api_resource *found, const struct inf_error *why)
{
    struct discovery table = l->table; /* @found is in it */
    l->table = (struct discovery){.resources = NULL};
    lookup_stop(l);
    l->on_end(l, found, why);
    discovery_free(&table);
}

static void mention_silent(const struct lookup *l, struct inf_error *why)
{
    struct inf_error plain = *why;
    err_set(why, INF_ENOTFOUND, "%s; of its groups, %u did not answer", plain.text, l->silent);
}

/* All that could be read was; what does the word mean? */
static void settle(struct lookup *l)
{
    const struct api_resource *found = NULL;
    struct inf_error why = {.code = 0};
    int rc = resource_word_find(l->word, &l->table, &found, &why);
    if (rc == -INF_ENOTFOUND && l->oldest_ms > LOOKUP_FRESH_MS) {
        lookup_start(l, l->shelf, l->clock, l->word, LOOKUP_FRESH_MS);
        return;
    }
    if (rc == -INF_ENOTFOUND && l->silent)
        mention_silent(l, &why);
    end(l, rc < 0 ? NULL : found, &why);
}

/* ---- what to read ---- */

static char *first_path(struct lookup *l)
{
    const struct resource_word *w = l->word;
    bool group = w->group && w->group[0];
    l->step = group ? IN_GROUPS : IN_CORE;
    return group ? xasprintf("/apis/%s", w->group)
                 : xasprintf("/api/%s", w->version ? w->version : "v1");
}

/* The core group goes before all others: if it is there, they need not be read. */
static bool is_of_core(const struct lookup *l)
{
    const struct api_resource *found;
    bool only_core = l->word->group && !l->word->group[0];
    return only_core || resource_word_find(l->word, &l->table, &found, NULL) != -INF_ENOTFOUND;
}

/* NULL: there is no more. */
static char *next_path(struct lookup *l)
{
    const struct api_version *v;
    if (l->step == IN_CORE && !is_of_core(l)) {
        l->step = IN_GROUPS;
        return xstrdup("/apis");
    }
    if (l->step == IN_CORE || l->step == IN_ALL || l->asked == l->table.n_versions)
        return NULL;
    l->step = IN_LISTS;
    v = &l->table.versions[l->asked++];
    return xasprintf("/apis/%s/%s", v->group, v->version);
}

/* ---- what they say ---- */

/* One version of one group may be missing; the way to the server and who we are may not. */
static bool can_do_without(const struct lookup *l, int code)
{
    return l->step == IN_LISTS && (code == INF_ESERVER || code == INF_ENOTFOUND ||
                                   code == INF_EFORBIDDEN || code == INF_EDECODE);
}

/* Whether there is reason to go on; if not, it is over. */
static bool take(struct lookup *l, const struct page *page)
{
    struct inf_error why = {.code = 0};
    if (page->age_ms > l->oldest_ms)
        l->oldest_ms = page->age_ms;
    if (!page->text)
        why = *page->why;
    else
        discovery_add(&l->table, str_of(page->text), &why);
    if (!why.code)
        return true;
    if (can_do_without(l, why.code)) {
        l->silent++;
        return true;
    }
    l->step = IN_ALL;
    if (why.code == INF_ENOTFOUND)
        return true; /* no such group: said in the words of who asked */
    end(l, NULL, &why);
    return false;
}

/* As far as the shelf reaches, then by the server. Takes over @path. */
static void read_from(struct lookup *l, char *path)
{
    struct page page;
    while (path && shelf_find(l->shelf, path, l->max_age_ms, &page)) {
        free(path);
        if (!take(l, &page))
            return;
        path = next_path(l);
    }
    if (path)
        shelf_fetch(l->shelf, path, &l->reader);
    else
        settle(l);
    free(path);
}

static void lookup_on_page(struct shelf_reader *reader, const struct page *page)
{
    struct lookup *l = container_of(reader, struct lookup, reader);
    if (l->on_progress)
        l->on_progress(l);
    if (l->shelf && take(l, page))
        read_from(l, next_path(l));
}

static void lookup_on_progress(struct shelf_reader *reader)
{
    struct lookup *l = container_of(reader, struct lookup, reader);
    if (l->on_progress)
        l->on_progress(l);
}

static void lookup_on_start(struct timer *timer)
{
    struct lookup *l = container_of(timer, struct lookup, start);
    read_from(l, first_path(l));
}

/* ---- life ---- */

void lookup_start(struct lookup *l, struct shelf *shelf, struct clock *clock,
                  const struct resource_word *word, uint64_t max_age_ms)
{
    discovery_free(&l->table);
    l->shelf = shelf;
    l->clock = clock;
    l->word = word;
    l->max_age_ms = max_age_ms;
    l->asked = l->silent = 0;
    l->oldest_ms = 0;
    l->reader.on_page = lookup_on_page;
    l->reader.on_progress = lookup_on_progress;
    l->start.fire = lookup_on_start;
    timer_start(clock, &l->start, 0);
}

void lookup_stop(struct lookup *l)
{
    if (!l->shelf)
        return;
    timer_stop(l->clock, &l->start);
    shelf_stop_reading(&l->reader);
    discovery_free(&l->table);
    l->shelf = NULL;
}
