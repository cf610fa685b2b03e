/*
 * definition.c - checks and copies a watch before anything is opened for it.
 *
 * All errors in a watch (names, selectors, paths, limits) are found here and reported with
 * INF_EINVAL.
 */
#include "lib/definition.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/buf.h"
#include "base/err.h"
#include "core/select/shard.h"
#include "core/store/index_path.h"
#include "lib/exclude.h"

/* ---- the fields of a watch ---- */

enum field_type {
    FIELD_STRING,
    FIELD_LABELS,  /* a label selector */
    FIELD_FIELDS,  /* a field selector */
    FIELD_STRINGS, /* a list; the next row is its length */
    FIELD_DROP,    /* a list for which NULL and empty differ */
    FIELD_INDEXES, /* a list of struct inf_index */
    FIELD_COUNT,   /* the length of the list in the row before */
    FIELD_FLAG,
    FIELD_NUMBER,   /* uint32_t */
    FIELD_RESERVED, /* zero */
};

enum field_effect {
    EFFECT_NONE, /* does not matter for sharing */
    EFFECT_CONTENT,
    EFFECT_INDEXES,
    EFFECT_DELIVERY,
};

/* Each field of struct inf_watch: name, type, effect. */
#define WATCH_FIELDS(X)                             \
    X(resource, FIELD_STRING, EFFECT_CONTENT)       \
    X(log_name, FIELD_STRING, EFFECT_NONE)          \
    X(ns, FIELD_STRING, EFFECT_CONTENT)             \
    X(exclude_ns, FIELD_STRINGS, EFFECT_CONTENT)    \
    X(n_exclude_ns, FIELD_COUNT, EFFECT_CONTENT)    \
    X(label_selector, FIELD_LABELS, EFFECT_CONTENT) \
    X(field_selector, FIELD_FIELDS, EFFECT_CONTENT) \
    X(drop, FIELD_DROP, EFFECT_CONTENT)             \
    X(n_drop, FIELD_COUNT, EFFECT_CONTENT)          \
    X(redact, FIELD_STRINGS, EFFECT_CONTENT)        \
    X(n_redact, FIELD_COUNT, EFFECT_CONTENT)        \
    X(indexes, FIELD_INDEXES, EFFECT_INDEXES)       \
    X(n_indexes, FIELD_COUNT, EFFECT_INDEXES)       \
    X(ns_is_default, FIELD_FLAG, EFFECT_CONTENT)    \
    X(reveal, FIELD_FLAG, EFFECT_CONTENT)           \
    X(metadata_only, FIELD_FLAG, EFFECT_CONTENT)    \
    X(optional, FIELD_FLAG, EFFECT_DELIVERY)        \
    X(coalesce, FIELD_FLAG, EFFECT_DELIVERY)        \
    X(compact, FIELD_FLAG, EFFECT_DELIVERY)         \
    X(reserved_flags, FIELD_RESERVED, EFFECT_NONE)  \
    X(shard_index, FIELD_NUMBER, EFFECT_CONTENT)    \
    X(shard_count, FIELD_NUMBER, EFFECT_CONTENT)    \
    X(reserved, FIELD_RESERVED, EFFECT_NONE)

struct watch_field {
    size_t offset, size;
    enum field_type type;
    enum field_effect effect;
};

#define ROW(name, type, effect) \
    {offsetof(struct inf_watch, name), sizeof(((struct inf_watch *)0)->name), type, effect},
static const struct watch_field fields[] = {WATCH_FIELDS(ROW)};
#undef ROW

/* The struct has no padding, so this fails if it gets a field that has no row. */
#define PLUS_SIZE(name, type, effect) +sizeof(((struct inf_watch *)0)->name)
_Static_assert(sizeof(struct inf_watch) == 0 WATCH_FIELDS(PLUS_SIZE),
               "every field of struct inf_watch has a row in WATCH_FIELDS");
#undef PLUS_SIZE

/* ---- identity ---- */

static void put_part(struct buf *out, const char *text)
{
    text = text ? text : "";
    buf_printf(out, "%zu:%s", strlen(text), text);
}

/* In canonical spelling, so that equivalent selectors are equal. */
static void put_selector(struct buf *out, const char *text,
                         struct inf_selector *(*parse)(const char *text, struct inf_error *err))
{
    struct inf_selector *selector = parse(text ? text : "", NULL);
    put_part(out, inf_selector_text(selector));
    inf_selector_free(selector);
}

static void put_strings(struct buf *out, const char *const *texts, size_t n)
{
    n = texts ? n : 0;
    buf_printf(out, "%zu,", n);
    for (size_t i = 0; i < n; i++)
        put_part(out, texts[i]);
}

/* Functions are compared by address and data. */
static void put_indexes(struct buf *out, const struct inf_index *indexes, size_t n)
{
    buf_printf(out, "%zu,", n);
    for (size_t i = 0; i < n; i++) {
        put_part(out, indexes[i].name);
        put_part(out, indexes[i].path);
        buf_printf(out, "%" PRIxPTR ",%" PRIxPTR ",", (uintptr_t)indexes[i].values,
                   (uintptr_t)indexes[i].data);
    }
}

/* The fields with @effect as one string. @watch has passed check_watch(). */
static char *identity_of(const struct inf_watch *watch, enum field_effect effect)
{
    struct buf out = {0};
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        const void *at = (const char *)watch + fields[i].offset;
        size_t n = 0;
        if (fields[i].effect != effect)
            continue;
        if (i + 1 < ARRAY_LEN(fields) && fields[i + 1].type == FIELD_COUNT)
            memcpy(&n, (const char *)watch + fields[i + 1].offset, sizeof(n));
        switch (fields[i].type) {
        case FIELD_STRING: put_part(&out, *(const char *const *)at); break;
        case FIELD_LABELS:
            put_selector(&out, *(const char *const *)at, inf_selector_parse_labels);
            break;
        case FIELD_FIELDS:
            put_selector(&out, *(const char *const *)at, inf_selector_parse_fields);
            break;
        case FIELD_DROP:
            buf_putc(&out, *(const char *const *const *)at ? '+' : '-');
            put_strings(&out, *(const char *const *const *)at, n);
            break;
        case FIELD_STRINGS: put_strings(&out, *(const char *const *const *)at, n); break;
        case FIELD_INDEXES: put_indexes(&out, *(const struct inf_index *const *)at, n); break;
        case FIELD_FLAG: buf_putc(&out, *(const bool *)at ? '1' : '0'); break;
        case FIELD_NUMBER: buf_printf(&out, "%" PRIu32 ",", *(const uint32_t *)at); break;
        case FIELD_COUNT:
        case FIELD_RESERVED: break;
        }
    }
    buf_putc(&out, '\0');
    return out.bytes;
}

bool definition_same_content(const struct definition *a, const struct definition *b)
{
    return !a->unshareable && !b->unshareable && strcmp(a->content, b->content) == 0 &&
           strcmp(a->indexed, b->indexed) == 0;
}

bool definition_equal(const struct definition *a, const struct definition *b)
{
    return definition_same_content(a, b) && strcmp(a->delivery, b->delivery) == 0;
}

/* ---- copy and release ---- */

static char **copy_strings(const char *const *texts, size_t n)
{
    char **copy = texts ? xcalloc(n + 1, sizeof(*copy)) : NULL;
    for (size_t i = 0; copy && i < n; i++)
        copy[i] = xstrdup(texts[i]);
    return copy;
}

static struct inf_index *copy_indexes(const struct inf_index *indexes, size_t n)
{
    struct inf_index *copy = n ? xcalloc(n, sizeof(*copy)) : NULL;
    for (size_t i = 0; i < n; i++) {
        copy[i] = indexes[i];
        copy[i].name = indexes[i].name ? xstrdup(indexes[i].name) : NULL;
        copy[i].path = indexes[i].path ? xstrdup(indexes[i].path) : NULL;
    }
    return copy;
}

static void watch_copy(struct inf_watch *to, const struct inf_watch *from)
{
    *to = *from;
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        void *at = (char *)to + fields[i].offset;
        size_t n = 0;
        if (i + 1 < ARRAY_LEN(fields) && fields[i + 1].type == FIELD_COUNT)
            memcpy(&n, (const char *)from + fields[i + 1].offset, sizeof(n));
        switch (fields[i].type) {
        case FIELD_STRING:
        case FIELD_LABELS:
        case FIELD_FIELDS:
            if (*(char **)at)
                *(char **)at = xstrdup(*(char **)at);
            break;
        case FIELD_DROP:
        case FIELD_STRINGS: *(char ***)at = copy_strings(*(const char *const **)at, n); break;
        case FIELD_INDEXES:
            *(struct inf_index **)at = copy_indexes(*(struct inf_index **)at, n);
            break;
        case FIELD_COUNT:
        case FIELD_FLAG:
        case FIELD_NUMBER:
        case FIELD_RESERVED: break;
        }
    }
}

static void free_indexes(struct inf_index *indexes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        free((char *)(uintptr_t)indexes[i].name);
        free((char *)(uintptr_t)indexes[i].path);
    }
    free(indexes);
}

/* Releases what watch_copy() allocated. */
static void watch_release(struct inf_watch *watch)
{
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        void *at = (char *)watch + fields[i].offset;
        switch (fields[i].type) {
        case FIELD_STRING:
        case FIELD_LABELS:
        case FIELD_FIELDS: free(*(char **)at); break;
        case FIELD_DROP:
        case FIELD_STRINGS:
            for (char **text = *(char ***)at; text && *text; text++)
                free(*text);
            free(*(char ***)at);
            break;
        case FIELD_INDEXES: free_indexes(*(struct inf_index **)at, watch->n_indexes); break;
        case FIELD_COUNT:
        case FIELD_FLAG:
        case FIELD_NUMBER:
        case FIELD_RESERVED: break;
        }
    }
}

void definition_set_delivery(struct definition *d, const struct definition *from)
{
    for (size_t i = 0; i < ARRAY_LEN(fields); i++)
        if (fields[i].effect == EFFECT_DELIVERY)
            memcpy((char *)&d->watch + fields[i].offset,
                   (const char *)&from->watch + fields[i].offset, fields[i].size);
    str_replace(&d->delivery, from->delivery);
}

/* ---- indexes ---- */

struct inf_index_values {
    index_value_fn each;
    void *ctx;
};

void inf_index_emit(struct inf_index_values *values, const char *value)
{
    values->each(values->ctx, str_of(value));
}

static void each_function_value(const struct index_def *def, const struct inf_object *object,
                                index_value_fn each, void *ctx)
{
    const struct inf_index *index = def->data;
    struct inf_index_values values = {each, ctx};
    index->values(index->data, object, &values);
}

static int check_index(const struct inf_watch *watch, size_t i, struct inf_error *err)
{
    const struct inf_index *index = &watch->indexes[i];
    const char *name = index->name ? index->name : "";
    if (i == INDEXES_MAX)
        return err_set(err, INF_EINVAL, "more than %d indexes", INDEXES_MAX);
    if (!name[0] || strcmp(name, "namespace") == 0)
        return err_set(err, INF_EINVAL, "index '%s': empty or reserved name; use another name",
                       name);
    for (size_t other = 0; other < i; other++)
        if (strcmp(watch->indexes[other].name, name) == 0)
            return err_set(err, INF_EINVAL, "index '%s': defined twice", name);
    if (!ALL_ZERO(index->reserved))
        return err_set(err, INF_EINVAL, "index '%s': a reserved field is not zero", name);
    if (index->path && index->values)
        return err_set(err, INF_EINVAL, "index '%s': has a path and a function; use one of them",
                       name);
    return 0;
}

static int add_indexes(struct definition *d, struct inf_error *err)
{
    for (size_t i = 0; i < d->watch.n_indexes; i++) {
        const struct inf_index *index = &d->watch.indexes[i];
        int rc = check_index(&d->watch, i, err);
        if (rc < 0)
            return rc;
        if (index->values) {
            d->indexes[i] = (struct index_def){
                .name = index->name, .values = each_function_value, .data = index};
        } else {
            d->index_paths[i] = inf_path_parse(index->path ? index->path : "", err);
            if (!d->index_paths[i])
                return err_wrap(err, "index '%s'", index->name);
            d->indexes[i] = index_by_path(index->name, d->index_paths[i]);
        }
        d->n_indexes++;
    }
    return 0;
}

/* ---- shape ---- */

static int add_rules(struct shape *shape, const char *const *texts, size_t n, bool hashed,
                     struct inf_error *err)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < n; i++) {
        struct inf_path *path = inf_path_parse(texts[i], err);
        rc = path ? shape_add(shape, path, hashed, err) : -INF_EINVAL;
        if (rc < 0)
            err_wrap(err, "%s", hashed ? "redact" : "drop");
    }
    return rc;
}

/* Whether the objects are Secrets is known when the resource is resolved: see shared_on_found(). */
static int make_shape(struct definition *d, const struct inf_watch *watch,
                      const struct digest *digest, struct inf_error *err)
{
    shape_init_bare(&d->shape, false, digest);
    d->shape.metadata_only = watch->metadata_only;
    if (!watch->drop)
        shape_cut_managed_fields(&d->shape);
    if (!watch->reveal)
        shape_hash_secrets(&d->shape);
    if (add_rules(&d->shape, watch->drop, watch->drop ? watch->n_drop : 0, false, err) < 0)
        return -INF_EINVAL;
    return add_rules(&d->shape, watch->redact, watch->n_redact, true, err);
}

/* ---- checks ---- */

static int check_selector(struct inf_selector *selector, const char *what, struct inf_error *err)
{
    if (!selector)
        return err_wrap(err, "%s", what);
    inf_selector_free(selector);
    return 0;
}

static int check_watch(const struct inf_watch *watch, struct inf_error *err)
{
    int rc = 0;
    if (!watch->resource)
        return err_set(err, INF_EINVAL, "no resource given");
    if (!ALL_ZERO(watch->reserved_flags) || !ALL_ZERO(watch->reserved))
        return err_set(err, INF_EINVAL, "a reserved field of the watch is not zero");
    if (watch->shard_count > SHARDS_MAX)
        return err_set(err, INF_EINVAL, "shard_count %" PRIu32 " exceeds %d", watch->shard_count,
                       SHARDS_MAX);
    if (watch->shard_index && watch->shard_index >= watch->shard_count)
        return err_set(err, INF_EINVAL,
                       "shard_index %" PRIu32 " does not exist; the shards are 0 to %" PRIu32,
                       watch->shard_index, watch->shard_count ? watch->shard_count - 1 : 0);
    if (watch->ns)
        rc = resource_check_namespace(watch->ns, err);
    if (rc == 0)
        rc = exclude_check(watch, err);
    if (rc == 0 && watch->label_selector)
        rc = check_selector(inf_selector_parse_labels(watch->label_selector, err), "label selector",
                            err);
    if (rc == 0 && watch->field_selector)
        rc = check_selector(inf_selector_parse_fields(watch->field_selector, err), "field selector",
                            err);
    return rc;
}

/* The server would refuse this too, with a less specific message. */
static int check_scope(const struct resource_name *name, const struct inf_watch *watch,
                       struct inf_error *err)
{
    bool by_namespace = (watch->ns && !watch->ns_is_default) || watch->n_exclude_ns;
    if (!by_namespace || resource_name_scope(name) != SCOPE_CLUSTER)
        return 0;
    return resource_name_refuse_scope(name, name->name, err);
}

/* ---- new and free ---- */

struct definition *definition_new(const struct inf_watch *watch, const struct digest *digest,
                                  struct inf_error *err)
{
    struct definition *d;
    if (check_watch(watch, err) < 0)
        return NULL;
    d = NEW(struct definition);
    list_init(&d->node);
    watch_copy(&d->watch, watch);
    d->content = identity_of(watch, EFFECT_CONTENT);
    d->indexed = identity_of(watch, EFFECT_INDEXES);
    d->delivery = identity_of(watch, EFFECT_DELIVERY);
    free((char *)(uintptr_t)d->watch.field_selector);
    d->watch.field_selector = exclude_fields(watch);
    d->display_name =
        watch->ns ? xasprintf("%s in %s", watch->resource, watch->ns) : xstrdup(watch->resource);
    if (resource_name_parse(watch->resource, &d->wanted, err) < 0 ||
        check_scope(&d->wanted, watch, err) < 0 || add_indexes(d, err) < 0 ||
        make_shape(d, watch, digest, err) < 0) {
        definition_free(d);
        return NULL;
    }
    return d;
}

void definition_free(struct definition *d)
{
    if (!d)
        return;
    for (size_t i = 0; i < d->n_indexes; i++)
        inf_path_free(d->index_paths[i]);
    resource_name_free(&d->wanted);
    shape_free(&d->shape);
    watch_release(&d->watch);
    free(d->content);
    free(d->indexed);
    free(d->delivery);
    free(d->display_name);
    free(d);
}

int inf_watch_check(const struct inf_watch *watch, struct inf_error *err)
{
    struct inf_error ignored;
    struct definition *d = definition_new(watch, NULL, err ? err : &ignored);
    if (!d)
        return err ? -err->code : -ignored.code;
    definition_free(d);
    return 0;
}
