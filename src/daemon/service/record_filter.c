/*
 * record_filter.c - reads the parameters of a request for records, and compares them with records.
 *
 * Conditions that exclude most records are compared first. A parameter that is unknown or can't be
 * parsed is an error that names it: a misspelled condition must not select everything.
 */
#include "daemon/service/record_filter.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/builtin_resource.h"
#include "base/err.h"
#include "base/json/json.h"
#include "base/text/timestamp.h"
#include "daemon/api/api_selector.h"
#include "daemon/conf/conf_type.h"
#include "daemon/daemon.h"
#include "daemon/watch/watcher.h"
#include "wire/http/http_target.h"

enum {
    NAME_SIZE = 1024, /* of a name of a watch or namespace, decoded; longer ones match nothing */
};

/* ---- parameters ---- */

static const struct {
    const char *name;
    size_t at;
} strings[] = {
    {"cluster", offsetof(struct record_filter, cluster)},
    {"watch", offsetof(struct record_filter, watch)},
    {"resource", offsetof(struct record_filter, resource)},
    {"namespace", offsetof(struct record_filter, ns)},
    {"name", offsetof(struct record_filter, name)},
    {"uid", offsetof(struct record_filter, uid)},
    {"changed", offsetof(struct record_filter, changed)},
    {"text", offsetof(struct record_filter, text)},
};

static char **string_at(struct record_filter *f, size_t i)
{
    return (char **)(void *)((char *)f + strings[i].at);
}

int record_query_check(const char *query, const char *const *names, struct inf_error *err)
{
    for (const char *at = query; *at; at += *at == '&') {
        size_t len = strcspn(at, "=&"), i = 0;
        while (names[i] && (strlen(names[i]) != len || strncmp(names[i], at, len) != 0))
            i++;
        if (len && !names[i])
            return err_set(err, INF_EINVAL, "unknown parameter '%.*s'", len > 64 ? 64 : (int)len,
                           at);
        at += strcspn(at, "&");
    }
    return 0;
}

int record_time_parse(const char *name, const char *text, int64_t now_us, int64_t *ret_us,
                      struct inf_error *err)
{
    uint64_t ago_ms;
    if (timestamp_parse(text, ret_us) == 0)
        return 0;
    if (!conf_number_parse(&conf_type_duration, text, &ago_ms) || ago_ms > INT64_MAX / 2000)
        return err_set(err, INF_EINVAL,
                       "%s: '%s' is neither a time like 2026-11-15T10:02:00Z nor a duration before "
                       "now like 10m",
                       name, text);
    *ret_us = now_us - (int64_t)ago_ms * 1000;
    return 0;
}

static int read_verbs(const char *text, unsigned *ret, struct inf_error *err)
{
    static const enum inf_verb verbs[] = {INF_ADDED, INF_MODIFIED, INF_DELETED};
    for (const char *at = text; *at; at += *at == ',') {
        size_t len = strcspn(at, ","), i = 0;
        while (i < ARRAY_LEN(verbs) && (strlen(inf_verb_name(verbs[i])) != len ||
                                        strncasecmp(inf_verb_name(verbs[i]), at, len) != 0))
            i++;
        if (i == ARRAY_LEN(verbs))
            return err_set(err, INF_EINVAL,
                           "unknown verb '%.*s'; use ADDED, MODIFIED or DELETED, several "
                           "separated by commas",
                           (int)len, at);
        *ret |= 1u << verbs[i];
        at += len;
    }
    return 0;
}

static const char *const levels[] = {"info", "warn", "error"};

static int read_level(const char *text, enum inf_log_level *ret, struct inf_error *err)
{
    for (size_t i = 0; i < ARRAY_LEN(levels); i++)
        if (strcmp(levels[i], text) == 0) {
            *ret = INF_LOG_INFO + (enum inf_log_level)i;
            return 0;
        }
    return err_set(err, INF_EINVAL, "unknown level '%s'; use info, warn or error", text);
}

static int read_labels(const char *text, struct inf_selector **ret, struct inf_error *err)
{
    *ret = inf_selector_parse_labels(text, err);
    return *ret ? 0 : err_wrap(err, "label");
}

/* The parameters that are not plain strings. */
static int read_parameter(struct record_filter *f, const char *name, const char *text,
                          int64_t now_us, struct inf_error *err)
{
    if (strcmp(name, "verb") == 0)
        return read_verbs(text, &f->verbs, err);
    if (strcmp(name, "level") == 0)
        return read_level(text, &f->level, err);
    if (strcmp(name, "label") == 0)
        return read_labels(text, &f->labels, err);
    if (strcmp(name, "since") == 0)
        return record_time_parse(name, text, now_us, &f->since_us, err);
    if (strcmp(name, "until") == 0)
        return record_time_parse(name, text, now_us, &f->until_us, err);
    f->no_notes = strcmp(text, "false") == 0;
    return 0;
}

static void split_resource(struct record_filter *f)
{
    char *dot = f->resource ? strchr(f->resource, '.') : NULL;
    if (!dot)
        return;
    f->group = xstrdup(dot + 1);
    *dot = '\0';
}

int record_filter_read(struct record_filter *ret, const char *query, int64_t now_us,
                       struct inf_error *err)
{
    static const char *const others[] = {"verb", "level", "label", "since", "until", "notes"};
    *ret =
        (struct record_filter){.level = INF_LOG_INFO, .since_us = INT64_MIN, .until_us = INT64_MAX};
    for (size_t i = 0; i < ARRAY_LEN(strings); i++)
        if (http_query_get(query, strings[i].name, string_at(ret, i)) < 0)
            return err_set(err, INF_EINVAL, "the query contains a malformed escape");
    for (size_t i = 0; i < ARRAY_LEN(others); i++) {
        char *text = NULL;
        int rc = http_query_get(query, others[i], &text);
        if (rc < 0)
            rc = err_set(err, INF_EINVAL, "the query contains a malformed escape");
        else if (text)
            rc = read_parameter(ret, others[i], text, now_us, err);
        free(text);
        if (rc < 0)
            return rc;
    }
    split_resource(ret);
    return 0;
}

void record_filter_free(struct record_filter *f)
{
    for (size_t i = 0; i < ARRAY_LEN(strings); i++)
        free(*string_at(f, i));
    free(f->group);
    free(f->kind);
    inf_selector_free(f->labels);
    *f = (struct record_filter){0};
}

static bool is_resource(const struct record_filter *f, const struct watcher *w)
{
    return w->resource.name && strcmp(w->resource.name, f->resource) == 0 &&
           (!f->group || strcmp(w->resource.group, f->group) == 0);
}

const char **record_filter_resolve(struct record_filter *f, const struct daemon *d,
                                   size_t *ret_count)
{
    const struct builtin_resource *builtin =
        f->resource ? builtin_resource_find(f->group ? f->group : "", f->resource) : NULL;
    const char **names = xcalloc(d->conf.n_watches + 1, sizeof(char *));
    const char *kind = builtin ? builtin->kind : NULL;
    size_t n = 0;
    if (f->watch)
        names[n++] = f->watch;
    list_for_each(node, &d->watchers) {
        const struct watcher *w = container_of(node, struct watcher, node);
        if (!f->resource || !is_resource(f, w))
            continue;
        kind = w->resource.kind ? w->resource.kind : kind;
        if (!f->watch && n < d->conf.n_watches)
            names[n++] = w->conf->name;
    }
    free(f->kind);
    f->kind = kind ? xstrdup(kind) : NULL;
    *ret_count = n;
    return names;
}

/* ---- records ---- */

static bool equals(struct str value, const char *wanted)
{
    return !wanted || (value.len ? json_value_is(value, str_of(wanted)) : !*wanted);
}

static struct str member_of(struct str object, const char *name)
{
    struct str value = {0};
    (void)(object.len && json_member_get(object, str_of(name), &value));
    return value;
}

static bool may_read(const struct record_filter *f, const struct record_line *r)
{
    char watch[NAME_SIZE], ns[NAME_SIZE];
    if (api_reader_is_unlimited(f->reader))
        return true;
    return r->watch.len && json_value_copy(r->watch, watch, sizeof(watch)) < sizeof(watch) &&
           json_value_copy(r->ns, ns, sizeof(ns)) < sizeof(ns) &&
           api_reader_may(f->reader, watch, ns[0] ? ns : NULL);
}

static bool has_level(const struct record_filter *f, const struct record_line *r)
{
    for (size_t i = (size_t)(f->level - INF_LOG_INFO); i < ARRAY_LEN(levels); i++)
        if (json_value_is(r->level, str_of(levels[i])))
            return true;
    return f->level == INF_LOG_INFO;
}

static bool is_object(const struct record_filter *f, const struct record_line *r)
{
    return equals(r->resource, f->resource) && equals(r->group, f->group) && equals(r->ns, f->ns) &&
           equals(r->name, f->name) && equals(r->uid, f->uid);
}

/* Whether the Event is about a selected object. */
static bool is_about_object(const struct record_filter *f, const struct record_line *r)
{
    struct str o = r->involved;
    if (!f->involved || !o.len || (f->resource && !f->kind))
        return false;
    return equals(member_of(o, "kind"), f->kind) && equals(member_of(o, "namespace"), f->ns) &&
           equals(member_of(o, "name"), f->name) && equals(member_of(o, "uid"), f->uid);
}

static bool is_changed(const struct record_filter *f, const struct record_line *r)
{
    struct json_walk walk;
    struct str item;
    if (!f->changed)
        return true;
    if (!json_items_start(&walk, r->changed))
        return false;
    while (json_items_next(&walk, &item)) {
        struct buf path = {0};
        bool overlaps;
        json_value_put(&path, item);
        overlaps = api_paths_overlap((struct str){path.bytes, path.len}, str_of(f->changed));
        buf_free(&path);
        if (overlaps)
            return true;
    }
    return false;
}

static bool has_text(const struct record_filter *f, const struct record_line *r)
{
    struct buf msg = {0};
    bool found;
    if (!f->text)
        return true;
    json_value_put(&msg, r->msg);
    buf_putc(&msg, '\0');
    found = strcasestr(msg.bytes, f->text);
    buf_free(&msg);
    return found;
}

static bool selects_change(const struct record_filter *f, const struct record_line *r,
                           enum inf_verb verb)
{
    return (!f->verbs || f->verbs & 1u << verb) && (is_object(f, r) || is_about_object(f, r)) &&
           inf_selector_matches_labels(f->labels, r->labels.at, r->labels.len) &&
           (verb != INF_MODIFIED || is_changed(f, r)) && has_text(f, r);
}

static bool selects_objects(const struct record_filter *f)
{
    return f->involved || f->name || f->uid || f->verbs || f->labels || f->changed || f->text;
}

static bool selects_note(const struct record_filter *f, const struct record_line *r)
{
    if (f->no_notes || (r->resource.len && !equals(r->resource, f->resource)) ||
        (r->ns.len && !equals(r->ns, f->ns)))
        return false;
    return !selects_objects(f) ||
           (!json_value_is(r->type, STR("SYNCED")) && !json_value_is(r->type, STR("CONFIG")));
}

bool record_filter_matches(const struct record_filter *f, const struct record_line *r)
{
    enum inf_verb verb;
    bool change = record_line_is_change(r, &verb);
    if (r->time_us < f->since_us || r->time_us > f->until_us || !has_level(f, r) ||
        (f->watch && r->watch.len && !equals(r->watch, f->watch)) ||
        (f->cluster && r->cluster.len && !equals(r->cluster, f->cluster)))
        return false;
    return (change ? selects_change(f, r, verb) : selects_note(f, r)) && may_read(f, r);
}

/* Names and uids of objects need no escapes in JSON. */
static bool contains(struct str line, const char *text)
{
    return !text || memmem(line.at, line.len, text, strlen(text));
}

bool record_filter_may_match(const struct record_filter *f, const struct record_line *r)
{
    enum inf_verb verb;
    if (r->time_us < f->since_us || r->time_us > f->until_us)
        return false;
    return !record_line_is_change(r, &verb) ||
           (contains(r->text, f->uid) && contains(r->text, f->name));
}
