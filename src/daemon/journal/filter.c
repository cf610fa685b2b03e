/*
 * filter.c - copies and parses the settings of a filter, and evaluates them for each event.
 *
 * Cheap conditions come first; the values at the `changed` paths are compared last. Only filter_make() can
 * fail: a path or selector that can't be parsed is named in the error.
 */
#include "daemon/journal/filter.h"

#include <stdlib.h>
#include <string.h>

#include "informer/path.h"
#include "informer/selector.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/glob.h"
#include "base/str.h"

struct filter_strings {
    char **at;
    size_t count;
};

struct filter {
    struct filter_strings watches;
    struct filter_strings namespaces;
    unsigned verbs;
    struct inf_path **changed;
    size_t n_changed;
    struct inf_selector *labels; /* NULL: all */
    bool initial;
};

/* ---- life ---- */

static void copy_strings(struct filter_strings *strings, const char *const *from, size_t count)
{
    strings->at = xcalloc(count ? count : 1, sizeof(*strings->at));
    strings->count = count;
    for (size_t i = 0; i < count; i++)
        strings->at[i] = xstrdup(from[i]);
}

static void free_strings(struct filter_strings *strings)
{
    for (size_t i = 0; i < strings->count; i++)
        free(strings->at[i]);
    free(strings->at);
}

static int parse_settings(struct filter *f, const struct filter_settings *s, struct inf_error *err)
{
    f->changed = xcalloc(s->n_changed ? s->n_changed : 1, sizeof(struct inf_path *));
    for (; f->n_changed < s->n_changed; f->n_changed++) {
        f->changed[f->n_changed] = inf_path_parse(s->changed[f->n_changed], err);
        if (!f->changed[f->n_changed])
            return err ? err_wrap(err, "changed") : -INF_EINVAL;
    }
    if (s->labels) {
        f->labels = inf_selector_parse_labels(s->labels, err);
        if (!f->labels)
            return err ? err_wrap(err, "label_selector") : -INF_EINVAL;
    }
    return 0;
}

struct filter *filter_make(const struct filter_settings *settings, struct inf_error *err)
{
    struct filter *f = NEW(struct filter);
    copy_strings(&f->watches, settings->watches, settings->n_watches);
    copy_strings(&f->namespaces, settings->namespaces, settings->n_namespaces);
    f->verbs = settings->verbs;
    f->initial = settings->initial;
    if (parse_settings(f, settings, err) < 0) {
        filter_free(f);
        return NULL;
    }
    return f;
}

void filter_free(struct filter *filter)
{
    if (!filter)
        return;
    free_strings(&filter->watches);
    free_strings(&filter->namespaces);
    for (size_t i = 0; i < filter->n_changed; i++)
        inf_path_free(filter->changed[i]);
    free(filter->changed);
    inf_selector_free(filter->labels);
    free(filter);
}

/* ---- changed paths ---- */

static bool collect_value(void *ctx, const char *json, size_t len)
{
    buf_put(ctx, (const char *)&(struct str){json, len}, sizeof(struct str));
    return true;
}

struct comparison {
    const struct buf *before; /* of struct str */
    size_t at;
    bool differs;
};

static bool compare_value(void *ctx, const char *json, size_t len)
{
    struct comparison *c = ctx;
    struct str old;
    if (c->at == c->before->len) {
        c->differs = true;
        return false;
    }
    memcpy(&old, c->before->bytes + c->at, sizeof(old));
    c->at += sizeof(old);
    c->differs = !str_eq(old, (struct str){json, len});
    return !c->differs;
}

/* Compares the values themselves: a diff may be truncated, and its paths name list items by key. */
static bool differs_at(const struct inf_path *path, const struct inf_event *event)
{
    struct buf before = {0};
    struct comparison c = {.before = &before};
    inf_path_each(path, event->old_object, collect_value, &before);
    inf_path_each(path, event->new_object, compare_value, &c);
    c.differs |= c.at < before.len;
    buf_free(&before);
    return c.differs;
}

/* ---- evaluation ---- */

bool filter_accepts_watch(const struct filter *filter, const char *name)
{
    for (size_t i = 0; i < filter->watches.count; i++)
        if (strcmp(filter->watches.at[i], name) == 0)
            return true;
    return !filter->watches.count;
}

bool filter_accepts(const struct filter *filter, const struct inf_event *event)
{
    const char *ns = inf_object_namespace(inf_event_object(event));
    const struct filter_strings *names = &filter->namespaces;
    bool matches;
    if ((event->origin == INF_INITIAL && !filter->initial) ||
        (filter->verbs && !(filter->verbs & 1u << event->verb)))
        return false;
    matches = !names->count || glob_any((const char *const *)names->at, names->count, ns);
    if (matches && filter->labels)
        matches = (event->new_object && inf_selector_matches(filter->labels, event->new_object)) ||
                  (event->old_object && inf_selector_matches(filter->labels, event->old_object));
    if (!matches || !filter->n_changed || event->verb != INF_MODIFIED)
        return matches;
    for (size_t i = 0; i < filter->n_changed; i++)
        if (differs_at(filter->changed[i], event))
            return true;
    return false;
}
