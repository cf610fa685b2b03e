#include "lib/shared.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"
#include "core/index_path.h"
#include "lib/exclude.h"

/* ---- identity ---- */

static void put_part(struct buf *out, const char *text)
{
    text = text ? text : "";
    buf_printf(out, "%zu:%s", strlen(text), text);
}

/* Two spellings of one selector are the same. */
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

/* Of a watch that was checked. */
static char *identity_of(const struct inf_watch *watch)
{
    struct buf out = {0};
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

static struct shared *find(const struct inf_client *client, const char *identity)
{
    list_for_each(node, &client->informers) {
        struct shared *s = container_of(node, struct shared, node);
        if (strcmp(s->identity, identity) == 0)
            return s;
    }
    return NULL;
}

/* ---- indexes ---- */

static int check_index_name(const struct shared *s, const char *name, struct inf_error *err)
{
    if (s->n_indexes == INDEXES_MAX)
        return err_set(err, INF_EINVAL, "more than %d indexes", INDEXES_MAX);
    if (!name || !name[0] || strcmp(name, "namespace") == 0)
        return err_set(err, INF_EINVAL, "index '%s': use another name", name ? name : "");
    for (size_t i = 0; i < s->n_indexes; i++)
        if (strcmp(s->index_names[i], name) == 0)
            return err_set(err, INF_EINVAL, "index '%s': defined twice", name);
    return 0;
}

static int add_index(struct shared *s, const struct inf_index *index, struct inf_error *err)
{
    size_t i = s->n_indexes;
    struct inf_path *path;
    int rc = check_index_name(s, index->name, err);
    if (rc < 0)
        return rc;
    path = inf_path_parse(index->path ? index->path : "", err);
    if (!path)
        return err_wrap(err, "index '%s'", index->name);
    s->index_names[i] = xstrdup(index->name);
    s->index_paths[i] = path;
    s->indexes[i] = index_by_path(s->index_names[i], path);
    s->n_indexes++;
    return 0;
}

static int add_indexes(struct shared *s, const struct inf_watch *watch, struct inf_error *err)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < watch->n_indexes; i++)
        rc = add_index(s, &watch->indexes[i], err);
    return rc;
}

/* ---- shape ---- */

static bool is_secrets(const struct resource *resource)
{
    return strcmp(resource->name, "secrets") == 0 && !resource->group[0];
}

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

/* That the objects are Secrets, if they are, is known when the resource is: see shared_on_found(). */
static int make_shape(struct shared *s, const struct inf_watch *watch, struct inf_error *err)
{
    shape_init_bare(&s->shape, false, &s->client->digest);
    s->shape.metadata_only = watch->metadata_only;
    if (!watch->drop)
        shape_cut_managed_fields(&s->shape);
    if (!watch->reveal)
        shape_hash_secrets(&s->shape);
    if (add_rules(&s->shape, watch->drop, watch->drop ? watch->n_drop : 0, false, err) < 0)
        return -INF_EINVAL;
    return add_rules(&s->shape, watch->redact, watch->n_redact, true, err);
}

/* ---- what it is made of ---- */

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
        return err_set(err, INF_EINVAL, "no resource named");
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

/* What the server would have to refuse, and in words that say less. */
static int check_scope(const struct resource_word *word, const struct inf_watch *watch,
                       struct inf_error *err)
{
    bool by_namespace = (watch->ns && !watch->ns_is_default) || watch->n_exclude_ns;
    if (!by_namespace || resource_word_scope(word) != SCOPE_CLUSTER)
        return 0;
    return resource_word_refuse_scope(word, word->name, err);
}

static void shared_on_found(void *ctx, const struct resource *found, const char *kind)
{
    struct shared *s = ctx;
    str_replace(&s->resource.group, found->group);
    str_replace(&s->resource.version, found->version);
    str_replace(&s->resource.name, found->name);
    if (kind)
        str_replace(&s->kind, kind);
    s->shape.secrets = is_secrets(found);
}

/* Takes over what @word owns. */
static void connect_parts(struct shared *s, struct resource_word *word,
                          const struct inf_watch *watch)
{
    struct inf_client *client = s->client;
    struct pipeline_settings settings = {
        .reflector = {.turnstile = &client->turnstile,
                      .stale_after_ms = client->stale_after_ms,
                      .optional = watch->optional,
                      .exclude_ns = (const char *const *)s->exclude_ns,
                      .n_exclude_ns = s->n_exclude_ns},
        .coalesce = watch->coalesce,
        .indexes = s->indexes,
        .n_indexes = s->n_indexes,
    };
    struct siphash_key key = {rng_next(&client->rng), rng_next(&client->rng)};
    char *fields = exclude_fields(watch);
    s->who =
        watch->ns ? xasprintf("%s in %s", watch->resource, watch->ns) : xstrdup(watch->resource);
    s->source =
        named_source_new(&client->server, &(struct named_source_options){
                                              .word = word,
                                              .shelf = client->shelf,
                                              .on_found = shared_on_found,
                                              .ctx = s,
                                              .scope = {.ns = watch->ns,
                                                        .label_selector = watch->label_selector,
                                                        .field_selector = fields},
                                              .ns_is_default = watch->ns_is_default,
                                              .by_namespace = watch->n_exclude_ns > 0,
                                              .shape = &s->shape,
                                          });
    free(fields);
    pipeline_init(&s->pipeline, s->who, named_source_source(s->source), &client->loop.clock, &key,
                  client->user_log ? &client->log : NULL, &settings);
    list_push(&client->informers, &s->node);
}

static void shared_free(struct shared *s)
{
    for (size_t i = 0; i < s->n_indexes; i++) {
        inf_path_free(s->index_paths[i]);
        free(s->index_names[i]);
    }
    exclude_free(s->exclude_ns, s->n_exclude_ns);
    shape_free(&s->shape);
    resource_free(&s->resource);
    free(s->kind);
    free(s->identity);
    free(s->who);
    free(s);
}

/* Takes over @identity. */
static struct shared *shared_new(struct inf_client *client, const struct inf_watch *watch,
                                 char *identity, struct inf_error *err)
{
    struct shared *s = NEW(struct shared);
    struct resource_word word = {.text = NULL};
    s->client = client;
    s->identity = identity;
    s->exclude_ns = exclude_copy(watch);
    s->n_exclude_ns = watch->n_exclude_ns;
    if (resource_word_parse(watch->resource, &word, err) < 0 ||
        check_scope(&word, watch, err) < 0 || add_indexes(s, watch, err) < 0 ||
        make_shape(s, watch, err) < 0) {
        resource_word_free(&word);
        shared_free(s);
        return NULL;
    }
    connect_parts(s, &word, watch);
    pipeline_start(&s->pipeline);
    return s;
}

struct shared *shared_use(struct inf_client *client, const struct inf_watch *watch,
                          struct inf_error *err)
{
    struct shared *s;
    char *identity;
    if (check_watch(watch, err) < 0)
        return NULL;
    identity = identity_of(watch);
    s = find(client, identity);
    if (s)
        free(identity);
    else
        s = shared_new(client, watch, identity, err);
    if (s)
        s->users++;
    return s;
}

static void shared_on_gone(struct pipeline *pipeline)
{
    shared_free(container_of(pipeline, struct shared, pipeline));
}

void shared_leave(struct shared *s)
{
    if (--s->users)
        return;
    list_remove(&s->node);
    pipeline_close(&s->pipeline, shared_on_gone);
    named_source_close(s->source);
}
