/*
 * filter.c - copies and parses the settings of a filter, and evaluates them for each event.
 *
 * Cheap conditions come first; the values at the `changed` paths are compared last.
 */
#include "daemon/journal/filter.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "informer/path.h"
#include "informer/selector.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/err.h"
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

static void copy_strings(struct filter_strings *words, const char *const *from, size_t count)
{
    words->at = xcalloc(count ? count : 1, sizeof(*words->at));
    words->count = count;
    for (size_t i = 0; i < count; i++)
        words->at[i] = xstrdup(from[i]);
}

static void free_strings(struct filter_strings *words)
{
    for (size_t i = 0; i < words->count; i++)
        free(words->at[i]);
    free(words->at);
}

static int parse_paths(struct filter *f, const struct filter_settings *s, struct inf_error *err)
{
    f->changed = xcalloc(s->n_changed ? s->n_changed : 1, sizeof(struct inf_path *));
    for (size_t i = 0; i < s->n_changed; i++) {
        f->changed[i] = inf_path_parse(s->changed[i], err);
        if (!f->changed[i])
            return err ? err_wrap(err, "changed") : -INF_EINVAL;
        f->n_changed++;
    }
    return 0;
}

static int parse_labels(struct filter *f, const struct filter_settings *s, struct inf_error *err)
{
    if (!s->labels)
        return 0;
    f->labels = inf_selector_parse_labels(s->labels, err);
    if (f->labels)
        return 0;
    return err ? err_wrap(err, "label_selector") : -INF_EINVAL;
}

struct filter *filter_make(const struct filter_settings *settings, struct inf_error *err)
{
    struct filter *f = NEW(struct filter);
    copy_strings(&f->watches, settings->watches, settings->n_watches);
    copy_strings(&f->namespaces, settings->namespaces, settings->n_namespaces);
    f->verbs = settings->verbs;
    f->initial = settings->initial;
    if (parse_paths(f, settings, err) == 0 && parse_labels(f, settings, err) == 0)
        return f;
    filter_free(f);
    return NULL;
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

static bool changes_selected_path(const struct filter *f, const struct inf_event *event)
{
    if (!f->n_changed || event->verb != INF_MODIFIED)
        return true;
    for (size_t i = 0; i < f->n_changed; i++)
        if (differs_at(f->changed[i], event))
            return true;
    return false;
}

/* ---- evaluation ---- */

bool filter_takes_watch(const struct filter *filter, const char *name)
{
    for (size_t i = 0; i < filter->watches.count; i++)
        if (strcmp(filter->watches.at[i], name) == 0)
            return true;
    return !filter->watches.count;
}

static bool takes_namespace(const struct filter *f, const char *ns)
{
    for (size_t i = 0; i < f->namespaces.count; i++)
        if (fnmatch(f->namespaces.at[i], ns, 0) == 0)
            return true;
    return !f->namespaces.count;
}

static bool takes_labels(const struct filter *f, const struct inf_event *event)
{
    return !f->labels ||
           (event->new_object && inf_selector_matches(f->labels, event->new_object)) ||
           (event->old_object && inf_selector_matches(f->labels, event->old_object));
}

bool filter_takes(const struct filter *filter, const struct inf_event *event)
{
    return (filter->initial || event->origin != INF_INITIAL) &&
           (!filter->verbs || filter->verbs & 1u << event->verb) &&
           takes_namespace(filter, inf_object_namespace(inf_event_object(event))) &&
           takes_labels(filter, event) && changes_selected_path(filter, event);
}
