/*
 * filter.c - copies and parses the settings of a filter, and evaluates them for each event.
 *
 * Cheap conditions come first; the values at the `changed` paths and `when` are compared last. Only filter_make() can
 * fail: a path, selector, condition or regular expression that can't be parsed is named in the error.
 */
#include "daemon/journal/filter.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "informer/path.h"
#include "informer/selector.h"

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"
#include "base/text/glob.h"
#include "daemon/rule/condition.h"
#include "daemon/rule/item_path.h"

struct filter_strings {
    char **at;
    size_t count;
};

struct filter {
    struct filter_strings watches;
    struct filter_strings namespaces;
    regex_t *names;
    size_t n_names;
    unsigned verbs;
    struct inf_path **changed;
    size_t n_changed;
    struct inf_selector *labels; /* NULL: all */
    struct condition *when;      /* NULL: none */
    bool initial;
    enum inf_log_level level;
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

int filter_regex_parse(const char *text, regex_t *ret, struct inf_error *err)
{
    char why[256];
    int rc = regcomp(ret, text, REG_EXTENDED | REG_NOSUB);
    if (rc == 0)
        return 0;
    regerror(rc, ret, why, sizeof(why));
    return err_set(err, INF_EINVAL, "'%s' is not a regular expression: %s", text, why);
}

static int parse_names(struct filter *f, const struct filter_settings *s, struct inf_error *err)
{
    f->names = xcalloc(s->n_names ? s->n_names : 1, sizeof(regex_t));
    for (; f->n_names < s->n_names; f->n_names++)
        if (filter_regex_parse(s->names[f->n_names], &f->names[f->n_names], err) < 0)
            return err ? err_wrap(err, "names") : -INF_EINVAL;
    return 0;
}

static const struct {
    const char *name;
    enum inf_log_level level;
} levels[] = {{"info", INF_LOG_INFO}, {"warn", INF_LOG_WARN}, {"error", INF_LOG_ERROR}};

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \t");
}

/* "level>=NAME", and a comma unless it is all. Returns what follows; NULL: @text begins with something
 * else. No condition on an object begins in this way: >= needs a number. */
static const char *pass_level(const char *text, enum inf_log_level *ret_level)
{
    const char *at = skip_blanks(text);
    size_t len;
    if (strncmp(at, "level", strlen("level")) != 0)
        return NULL;
    at = skip_blanks(at + strlen("level"));
    if (strncmp(at, ">=", 2) != 0)
        return NULL;
    at = skip_blanks(at + 2);
    len = strcspn(at, ", \t");
    for (size_t i = 0; i < ARRAY_LEN(levels); i++) {
        const char *rest = skip_blanks(at + len);
        if (strlen(levels[i].name) != len || strncmp(levels[i].name, at, len) != 0)
            continue;
        if (*rest == ',' ? !*skip_blanks(rest + 1) : *rest != '\0')
            return NULL;
        *ret_level = levels[i].level;
        return *rest ? skip_blanks(rest + 1) : rest;
    }
    return NULL;
}

int filter_when_parse(const char *text, enum inf_log_level *ret_level,
                      struct condition **ret_condition, struct inf_error *err)
{
    enum inf_log_level level = INF_LOG_INFO;
    const char *rest = pass_level(text, &level);
    struct condition *condition = NULL;
    if (!rest || *rest) {
        condition = condition_parse(rest ? rest : text, err);
        if (!condition)
            return -INF_EINVAL;
    }
    *ret_level = level;
    *ret_condition = condition;
    return 0;
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
    if (s->when) {
        enum inf_log_level level;
        if (filter_when_parse(s->when, &level, &f->when, err) < 0)
            return err ? err_wrap(err, "when") : -INF_EINVAL;
        f->level = level > f->level ? level : f->level;
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
    f->level = settings->level;
    if (parse_names(f, settings, err) < 0 || parse_settings(f, settings, err) < 0) {
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
    for (size_t i = 0; i < filter->n_names; i++)
        regfree(&filter->names[i]);
    free(filter->names);
    for (size_t i = 0; i < filter->n_changed; i++)
        inf_path_free(filter->changed[i]);
    free(filter->changed);
    inf_selector_free(filter->labels);
    condition_free(filter->when);
    free(filter);
}

/* ---- evaluation ---- */

bool filter_accepts_watch(const struct filter *filter, const char *name)
{
    for (size_t i = 0; i < filter->watches.count; i++)
        if (strcmp(filter->watches.at[i], name) == 0)
            return true;
    return !filter->watches.count;
}

bool filter_accepts_name(const struct filter *filter, const char *name)
{
    for (size_t i = 0; i < filter->n_names; i++)
        if (regexec(&filter->names[i], name, 0, NULL, 0) == 0)
            return true;
    return !filter->n_names;
}

/* The values themselves are compared: a diff may be truncated, and its paths name list items by key. */
static bool is_changed(const struct filter *f, const struct inf_event *event)
{
    if (!f->n_changed || event->verb != INF_MODIFIED)
        return true;
    for (size_t i = 0; i < f->n_changed; i++)
        if (item_path_differs(f->changed[i], event->old_object, event->new_object))
            return true;
    return false;
}

static bool condition_applies(const struct filter *f, const struct inf_event *event)
{
    if (!f->when)
        return true;
    return event->verb == INF_MODIFIED
               ? condition_began(f->when, event->old_object, event->new_object)
               : condition_holds(f->when, inf_event_object(event));
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
    matches = matches && filter_accepts_name(filter, inf_object_name(inf_event_object(event)));
    if (matches && filter->labels)
        matches = (event->new_object && inf_selector_matches(filter->labels, event->new_object)) ||
                  (event->old_object && inf_selector_matches(filter->labels, event->old_object));
    return matches && is_changed(filter, event) && condition_applies(filter, event);
}

static bool covers_watches(const struct filter *f, const struct filter_need *need)
{
    if (f->watches.count && !need->n_watches)
        return false;
    for (size_t i = 0; i < need->n_watches; i++)
        if (!filter_accepts_watch(f, need->watches[i]))
            return false;
    return true;
}

static bool covers_verbs(const struct filter *f, const struct filter_need *need)
{
    const unsigned all = 1u << INF_ADDED | 1u << INF_MODIFIED | 1u << INF_DELETED;
    unsigned verbs = need->verbs ? need->verbs : all;
    return !f->verbs || (f->verbs & verbs) == verbs;
}

bool filter_covers(const struct filter *f, const struct filter_need *need)
{
    const struct filter_strings *names = &f->namespaces;
    bool covers_ns = !names->count ||
                     (need->ns && glob_any((const char *const *)names->at, names->count, need->ns));
    return !f->n_names && !f->n_changed && !f->labels && !f->when && f->level <= need->level &&
           covers_ns && covers_watches(f, need) && covers_verbs(f, need);
}

bool filter_accepts_level(const struct filter *filter, enum inf_log_level level)
{
    return level >= filter->level;
}
