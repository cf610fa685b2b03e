/*
 * lookup.c - reads discovery documents one after the other until the resource name is resolved.
 *
 * Normal path: take a document from the cache, or fetch it; add it to the table; choose the next
 * path; at the end search the table. A version that fails or does not respond in time is skipped
 * and counted. Failures that concern the whole server (network, 401, no /api/v1) end the lookup.
 */
#include "kube/discovery/lookup.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/buf.h"
#include "base/err.h"
#include "kube/source/warnings.h"

enum step {
    IN_CORE,   /* /api/v1 */
    IN_GROUP,  /* /apis/GROUP */
    IN_GROUPS, /* /apis */
    IN_LISTS,  /* the resources of a version */
};

/* ---- the end ---- */

static void lookup_finish(struct lookup *l, const struct api_resource *found,
                          const struct inf_error *why)
{
    struct discovery table = l->table; /* @found is in it */
    l->table = (struct discovery){.resources = NULL};
    lookup_stop(l);
    if (l->on_table)
        l->on_table(l, why ? NULL : &table, why);
    else
        l->on_end(l, found, why);
    discovery_free(&table);
}

static void put_silent(const struct lookup *l, struct buf *out)
{
    buf_printf(out, "%s does not respond (%s)", l->silent_version, l->silent_error.text);
    if (l->silent > 1)
        buf_printf(out, ", nor do %u other group versions", l->silent - 1);
    buf_putc(out, '\0');
}

/* The resource may be in a group that did not respond, so this is a server failure. Forbidden and
 * timeout keep their codes; other codes could make callers discard the objects they have. */
static void finish_unresolved(struct lookup *l)
{
    struct inf_error why, first = l->silent_error;
    bool keep = first.code == INF_EFORBIDDEN || first.code == INF_ETIMEOUT;
    struct buf silent = {0};
    put_silent(l, &silent);
    err_set(
        &why, keep ? first.code : INF_ESERVER, "resource '%s': %s%s", l->wanted->text, silent.bytes,
        l->wanted->group ? ""
                         : "; no other group has it; specify the group to query only that group");
    why.http_status = first.http_status;
    why.retry_after_ms = first.retry_after_ms;
    buf_free(&silent);
    lookup_finish(l, NULL, &why);
}

/* Another resource of this name may be in a group that did not respond. */
static void warn_about_silent_groups(const struct lookup *l, const struct api_resource *found)
{
    struct warnings *warnings = discovery_cache_server(l->discovery_cache)->warnings;
    struct buf silent = {0};
    char *text;
    if (!l->silent || l->wanted->group || !found->group[0] || !warnings)
        return;
    put_silent(l, &silent);
    text = xasprintf("resource '%s': using %s.%s/%s, but %s; specify the group to be certain",
                     l->wanted->text, found->name, found->group, found->version, silent.bytes);
    warnings_log(warnings, text);
    free(text);
    buf_free(&silent);
}

/* All documents of a lookup of all resources were read. */
static void finish_table(struct lookup *l)
{
    struct warnings *warnings = discovery_cache_server(l->discovery_cache)->warnings;
    if (l->silent && warnings) {
        struct buf text = {0};
        put_silent(l, &text);
        warnings_log(warnings, text.bytes);
        buf_free(&text);
    }
    lookup_finish(l, NULL, NULL);
}

/* All documents were read: resolves the name. */
static void resolve_name(struct lookup *l)
{
    const struct api_resource *found = NULL;
    struct inf_error why = {.code = 0};
    int rc;
    if (l->on_table) {
        finish_table(l);
        return;
    }
    rc = resource_name_find(l->wanted, &l->table, &found, &why);
    if (rc == -INF_ENOTFOUND && l->oldest_ms > LOOKUP_FRESH_MS) {
        lookup_start(l, l->discovery_cache, l->clock, l->wanted, LOOKUP_FRESH_MS);
        return;
    }
    if (rc == -INF_ENOTFOUND && l->silent) {
        finish_unresolved(l);
        return;
    }
    if (rc == 0)
        warn_about_silent_groups(l, found);
    lookup_finish(l, rc < 0 ? NULL : found, &why);
}

/* ---- the next document ---- */

/* Counts the version that was requested last as silent, if it could have the resource. */
static void note_silent(struct lookup *l, const struct inf_error *why)
{
    const struct api_version *v = &l->table.versions[l->n_requested - 1];
    if (l->wanted->version && strcmp(l->wanted->version, v->version) != 0)
        return;
    if (!l->silent++) {
        l->silent_version = xasprintf("%s/%s", v->group, v->version);
        l->silent_error = *why;
    }
}

/* The next version that can have the resource; NULL if there is none. */
static const struct api_version *next_version(struct lookup *l)
{
    while (l->n_requested < l->table.n_versions) {
        const struct api_version *v = &l->table.versions[l->n_requested++];
        struct inf_error why;
        if (l->wanted->group && strcmp(l->wanted->group, v->group) != 0)
            continue;
        if (clock_now_ms(l->clock) < l->groups_until_ms)
            return v;
        err_set(&why, INF_ETIMEOUT, "skipped: discovery took longer than %d s",
                LOOKUP_GROUPS_MS / 1000);
        note_silent(l, &why);
    }
    return NULL;
}

/* NULL after the last document. */
static char *next_path(struct lookup *l)
{
    bool only_core = l->wanted->group && !l->wanted->group[0];
    const struct api_resource *found;
    const struct api_version *v;
    /* The core group takes precedence: if it has the resource, other groups need not be read. */
    if (l->step == IN_CORE && !l->on_table &&
        (only_core || resource_name_find(l->wanted, &l->table, &found, NULL) != -INF_ENOTFOUND))
        return NULL;
    if (l->step == IN_CORE || (l->step == IN_GROUP && l->group_404)) {
        l->step = IN_GROUPS;
        return xstrdup("/apis");
    }
    l->step = IN_LISTS;
    v = next_version(l);
    return v ? xasprintf("/apis/%s/%s", v->group, v->version) : NULL;
}

/* ---- reading ---- */

/* Adds the document to the table. Returns false if the lookup has ended with an error. */
static bool add_document(struct lookup *l, const struct discovery_page *page)
{
    struct inf_error why = {.code = 0};
    bool only_this_version;
    if (page->age_ms > l->oldest_ms)
        l->oldest_ms = page->age_ms;
    if (!page->text)
        why = *page->why;
    else
        discovery_add(&l->table, str_of(page->text), &why);
    if (!why.code)
        return true;
    if (l->step == IN_GROUP && why.code == INF_ENOTFOUND) {
        l->group_404 = true;
        return true;
    }
    /* A failure of one version is tolerated; one of the connection or of authentication is not. */
    only_this_version = why.code == INF_ESERVER || why.code == INF_ENOTFOUND ||
                        why.code == INF_EFORBIDDEN || why.code == INF_EDECODE ||
                        why.code == INF_ETIMEOUT;
    if (l->step == IN_LISTS && only_this_version) {
        note_silent(l, &why);
        return true;
    }
    if (why.code == INF_ENOTFOUND)
        why.code = INF_ESERVER; /* every API server has these documents */
    lookup_finish(l, NULL, &why);
    return false;
}

/* Polling costs one small request: the group of the name, or the list of groups if it has none. */
static uint64_t max_age_ms(const struct lookup *l)
{
    bool first =
        l->wanted->group ? l->step == IN_GROUP || l->step == IN_LISTS : l->step == IN_GROUPS;
    bool polls = first && l->max_age_ms <= LOOKUP_FRESH_MS && l->max_age_ms > LOOKUP_POLL_MS;
    return polls ? LOOKUP_POLL_MS : l->max_age_ms;
}

static int group_timeout_ms(const struct lookup *l)
{
    return l->hung ? LOOKUP_GROUP_AGAIN_MS : LOOKUP_GROUP_MS;
}

/* Reads from the cache as far as possible, then from the server. Takes ownership of @path. */
static void read_documents(struct lookup *l, char *path)
{
    struct discovery_page page;
    while (path && discovery_cache_find(l->discovery_cache, path, max_age_ms(l), &page)) {
        free(path);
        if (!add_document(l, &page))
            return;
        path = next_path(l);
    }
    if (!path) {
        resolve_name(l);
        return;
    }
    if (l->step == IN_LISTS)
        timer_start(l->clock, &l->group_due, (uint64_t)group_timeout_ms(l));
    discovery_cache_fetch(l->discovery_cache, path, &l->reader);
    free(path);
}

static void lookup_on_group_due(struct timer *timer)
{
    struct lookup *l = container_of(timer, struct lookup, group_due);
    struct inf_error why;
    discovery_cache_stop_reading(&l->reader);
    err_set(&why, INF_ETIMEOUT, "no response within %d s", group_timeout_ms(l) / 1000);
    l->hung = true;
    note_silent(l, &why);
    read_documents(l, next_path(l));
}

static void lookup_on_page(struct discovery_reader *reader, const struct discovery_page *page)
{
    struct lookup *l = container_of(reader, struct lookup, reader);
    timer_stop(l->clock, &l->group_due);
    if (l->on_progress)
        l->on_progress(l);
    if (l->discovery_cache && add_document(l, page))
        read_documents(l, next_path(l));
}

static void lookup_on_progress(struct discovery_reader *reader)
{
    struct lookup *l = container_of(reader, struct lookup, reader);
    if (l->group_due.running)
        timer_start(l->clock, &l->group_due, LOOKUP_GROUP_MS);
    if (l->on_progress)
        l->on_progress(l);
}

static void lookup_on_start(struct timer *timer)
{
    struct lookup *l = container_of(timer, struct lookup, start);
    const char *group = l->wanted->group;
    l->step = group && group[0] ? IN_GROUP : IN_CORE;
    read_documents(l, l->step == IN_GROUP ? xasprintf("/apis/%s", group) : xstrdup("/api/v1"));
}

/* ---- life ---- */

static void lookup_reset(struct lookup *l)
{
    discovery_free(&l->table);
    free(l->silent_version);
    l->silent_version = NULL;
    l->n_requested = l->silent = 0;
    l->oldest_ms = 0;
    l->group_404 = l->hung = false;
}

void lookup_start(struct lookup *l, struct discovery_cache *discovery_cache, struct clock *clock,
                  const struct resource_name *wanted, uint64_t max_age_ms)
{
    lookup_reset(l);
    l->discovery_cache = discovery_cache;
    l->clock = clock;
    l->wanted = wanted;
    l->max_age_ms = max_age_ms;
    l->groups_until_ms = clock_now_ms(clock) + LOOKUP_GROUPS_MS;
    l->group_due.fire = lookup_on_group_due;
    l->reader.on_page = lookup_on_page;
    l->reader.on_progress = lookup_on_progress;
    l->start.fire = lookup_on_start;
    timer_start(clock, &l->start, 0);
}

void lookup_start_all(struct lookup *l, struct discovery_cache *discovery_cache,
                      struct clock *clock)
{
    static const struct resource_name any = {.name = NULL};
    lookup_start(l, discovery_cache, clock, &any, DISCOVERY_CACHE_KEEP_MS);
}

void lookup_stop(struct lookup *l)
{
    if (!l->discovery_cache)
        return;
    timer_stop(l->clock, &l->start);
    timer_stop(l->clock, &l->group_due);
    discovery_cache_stop_reading(&l->reader);
    lookup_reset(l);
    l->discovery_cache = NULL;
}
