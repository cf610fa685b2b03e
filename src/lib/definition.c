/*
 * definition.c - checks and copies a watch before anything is opened for it.
 *
 * All errors in a watch (names, selectors, paths, limits) are found here and reported with
 * INF_EINVAL.
 */
#include "lib/definition.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/buf.h"
#include "base/err.h"
#include "core/store/index_path.h"
#include "lib/exclude.h"

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

static void put_parts(struct buf *out, const char *const *texts, size_t n)
{
    buf_printf(out, "%zu,", n);
    for (size_t i = 0; i < n; i++)
        put_part(out, texts[i]);
}

/* @watch has passed check_watch(). */
static char *identity_of(const struct inf_watch *watch)
{
    struct buf out = {0};
    _Static_assert(DEFINITION_MANNERS == 2, "optional and coalesce come first");
    buf_printf(&out, "%d%d%d%d%d%d,", watch->optional, watch->coalesce, watch->reveal,
               watch->metadata_only, watch->drop != NULL, watch->ns_is_default);
    put_part(&out, watch->resource);
    put_part(&out, watch->ns);
    put_parts(&out, watch->exclude_ns, watch->n_exclude_ns);
    put_selector(&out, watch->label_selector, inf_selector_parse_labels);
    put_selector(&out, watch->field_selector, inf_selector_parse_fields);
    put_parts(&out, watch->drop, watch->drop ? watch->n_drop : 0);
    put_parts(&out, watch->redact, watch->n_redact);
    for (size_t i = 0; i < watch->n_indexes; i++) {
        put_part(&out, watch->indexes[i].name);
        put_part(&out, watch->indexes[i].path);
    }
    buf_putc(&out, '\0');
    return out.bytes;
}

/* ---- indexes ---- */

static int check_index_name(const struct definition *d, const char *name, struct inf_error *err)
{
    if (d->n_indexes == INDEXES_MAX)
        return err_set(err, INF_EINVAL, "more than %d indexes", INDEXES_MAX);
    if (!name || !name[0] || strcmp(name, "namespace") == 0)
        return err_set(err, INF_EINVAL, "index '%s': empty or reserved name; use another name",
                       name ? name : "");
    for (size_t i = 0; i < d->n_indexes; i++)
        if (strcmp(d->index_names[i], name) == 0)
            return err_set(err, INF_EINVAL, "index '%s': defined twice", name);
    return 0;
}

static int add_index(struct definition *d, const struct inf_index *index, struct inf_error *err)
{
    size_t i = d->n_indexes;
    struct inf_path *path;
    int rc = check_index_name(d, index->name, err);
    if (rc < 0)
        return rc;
    path = inf_path_parse(index->path ? index->path : "", err);
    if (!path)
        return err_wrap(err, "index '%s'", index->name);
    d->index_names[i] = xstrdup(index->name);
    d->index_paths[i] = path;
    d->indexes[i] = index_by_path(d->index_names[i], path);
    d->n_indexes++;
    return 0;
}

static int add_indexes(struct definition *d, const struct inf_watch *watch, struct inf_error *err)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < watch->n_indexes; i++)
        rc = add_index(d, &watch->indexes[i], err);
    return rc;
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
static int check_scope(const struct resource_word *word, const struct inf_watch *watch,
                       struct inf_error *err)
{
    bool by_namespace = (watch->ns && !watch->ns_is_default) || watch->n_exclude_ns;
    if (!by_namespace || resource_word_scope(word) != SCOPE_CLUSTER)
        return 0;
    return resource_word_refuse_scope(word, word->name, err);
}

/* ---- new and free ---- */

static char *copy_or_null(const char *text)
{
    return text ? xstrdup(text) : NULL;
}

static void copy_scope(struct definition *d, const struct inf_watch *watch)
{
    d->identity = identity_of(watch);
    d->who =
        watch->ns ? xasprintf("%s in %s", watch->resource, watch->ns) : xstrdup(watch->resource);
    d->resource = xstrdup(watch->resource);
    d->ns = copy_or_null(watch->ns);
    d->label_selector = copy_or_null(watch->label_selector);
    d->field_selector = exclude_fields(watch);
    d->ns_is_default = watch->ns_is_default;
    d->optional = watch->optional;
    d->coalesce = watch->coalesce;
    d->exclude_ns = exclude_copy(watch);
    d->n_exclude_ns = watch->n_exclude_ns;
}

struct definition *definition_new(const struct inf_watch *watch, const struct digest *digest,
                                  struct inf_error *err)
{
    struct definition *d;
    if (check_watch(watch, err) < 0)
        return NULL;
    d = NEW(struct definition);
    list_init(&d->node);
    copy_scope(d, watch);
    if (resource_word_parse(watch->resource, &d->word, err) < 0 ||
        check_scope(&d->word, watch, err) < 0 || add_indexes(d, watch, err) < 0 ||
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
    for (size_t i = 0; i < d->n_indexes; i++) {
        inf_path_free(d->index_paths[i]);
        free(d->index_names[i]);
    }
    resource_word_free(&d->word);
    exclude_free(d->exclude_ns, d->n_exclude_ns);
    shape_free(&d->shape);
    free(d->resource);
    free(d->ns);
    free(d->label_selector);
    free(d->field_selector);
    free(d->identity);
    free(d->who);
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
