/*
 * discovery.c - parses discovery documents into a table.
 *
 * Names from the server are used in URL paths and messages later, so each is checked before it is
 * added; entries with invalid names are skipped. Fails if the text is not a discovery document, or
 * if the table would exceed its limits.
 */
#include "kube/discovery/discovery.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <yyjson.h>

#include "base/alloc.h"
#include "base/err.h"
#include "kube/discovery/resource.h"

/* ---- reading ---- */

/* "" if the field is missing or not a string. */
static const char *text_of(yyjson_val *object, const char *field)
{
    const char *text = yyjson_get_str(yyjson_obj_get(object, field));
    return text ? text : "";
}

static bool contains_string(yyjson_val *array, const char *text)
{
    yyjson_val *item;
    size_t i, n;
    yyjson_arr_foreach(array, i, n, item) if (yyjson_equals_str(item, text)) return true;
    return false;
}

static bool is_kind_name(const char *text)
{
    char *lower = xstrdup(text);
    bool is;
    for (char *c = lower; *c; c++)
        *c = *c >= 'A' && *c <= 'Z' ? (char)(*c - 'A' + 'a') : *c;
    is = resource_is_label(lower, strlen(lower));
    free(lower);
    return is;
}

/* Skips what is not a valid name. */
static char **copy_labels(yyjson_val *array)
{
    char **names = xcalloc(yyjson_arr_size(array) + 1, sizeof(*names));
    yyjson_val *item;
    size_t i, n, count = 0;
    yyjson_arr_foreach(array, i, n, item)
    {
        const char *text = yyjson_get_str(item);
        if (text && resource_is_label(text, strlen(text)))
            names[count++] = xstrdup(text);
    }
    return names;
}

/* ---- a list of resources ---- */

/* Skips an entry with an invalid name. */
static void add_resource(struct discovery *d, struct str group, struct str version,
                         yyjson_val *entry)
{
    const char *name = text_of(entry, "name"), *singular = text_of(entry, "singularName");
    const char *kind = text_of(entry, "kind");
    yyjson_val *verbs = yyjson_obj_get(entry, "verbs");
    if (!resource_is_label(name, strlen(name)) || !is_kind_name(kind) ||
        (singular[0] && !resource_is_label(singular, strlen(singular))))
        return;
    d->resources[d->n_resources++] = (struct api_resource){
        .group = xstrndup(group.at, group.len),
        .version = xstrndup(version.at, version.len),
        .name = xstrdup(name),
        .singular = xstrdup(singular),
        .kind = xstrdup(kind),
        .short_names = copy_labels(yyjson_obj_get(entry, "shortNames")),
        .categories = copy_labels(yyjson_obj_get(entry, "categories")),
        .verbs = copy_labels(verbs),
        .namespaced = yyjson_get_bool(yyjson_obj_get(entry, "namespaced")),
        .watchable = contains_string(verbs, "list") && contains_string(verbs, "watch"),
    };
}

static int add_resources(struct discovery *d, yyjson_val *root, struct inf_error *err)
{
    yyjson_val *list = yyjson_obj_get(root, "resources"), *entry;
    size_t i, n, room = yyjson_arr_size(list);
    /* "apps/v1", or "v1" for the core group */
    const char *both = text_of(root, "groupVersion"), *slash = strchr(both, '/');
    struct str group = {both, slash ? (size_t)(slash - both) : 0};
    struct str version = str_of(slash ? slash + 1 : both);
    if (!resource_is_label(version.at, version.len) ||
        (slash && !resource_is_group(group.at, group.len)))
        return err_set(err, INF_EDECODE, "APIResourceList without a valid groupVersion");
    if (d->n_resources + room > DISCOVERY_RESOURCES_MAX)
        return err_set(err, INF_ETOOBIG, "discovery lists more than %d resources",
                       DISCOVERY_RESOURCES_MAX);
    d->resources = xrealloc(d->resources, (d->n_resources + room + 1) * sizeof(*d->resources));
    yyjson_arr_foreach(list, i, n, entry) add_resource(d, group, version, entry);
    return 0;
}

/* ---- groups ---- */

static int add_group(struct discovery *d, yyjson_val *root, struct inf_error *err)
{
    const char *group = text_of(root, "name");
    const char *preferred = text_of(yyjson_obj_get(root, "preferredVersion"), "version");
    yyjson_val *list = yyjson_obj_get(root, "versions"), *entry;
    size_t i, n, room = yyjson_arr_size(list);
    if (d->n_versions + room > DISCOVERY_GROUPS_MAX)
        return err_set(err, INF_ETOOBIG, "discovery lists more than %d group versions",
                       DISCOVERY_GROUPS_MAX);
    if (!resource_is_group(group, strlen(group)))
        return 0;
    d->versions = xrealloc(d->versions, (d->n_versions + room + 1) * sizeof(*d->versions));
    yyjson_arr_foreach(list, i, n, entry)
    {
        const char *version = text_of(entry, "version");
        if (resource_is_label(version, strlen(version)))
            d->versions[d->n_versions++] =
                (struct api_version){.group = xstrdup(group),
                                     .version = xstrdup(version),
                                     .preferred = strcmp(version, preferred) == 0};
    }
    return 0;
}

int discovery_add(struct discovery *d, struct str text, struct inf_error *err)
{
    yyjson_doc *doc =
        text.len && text.len <= DISCOVERY_TEXT_MAX ? yyjson_read(text.at, text.len, 0) : NULL;
    yyjson_val *root = doc ? yyjson_doc_get_root(doc) : NULL;
    const char *kind = text_of(root, "kind");
    yyjson_val *group;
    size_t i, n;
    int rc = 0;
    if (strcmp(kind, "APIResourceList") == 0)
        rc = add_resources(d, root, err);
    else if (strcmp(kind, "APIGroupList") == 0)
        yyjson_arr_foreach(yyjson_obj_get(root, "groups"), i, n, group)
        {
            if (!rc)
                rc = add_group(d, group, err);
        }
    else if (strcmp(kind, "APIGroup") == 0)
        rc = add_group(d, root, err);
    else
        rc = err_set(err, INF_EDECODE, "not an APIResourceList, APIGroup or APIGroupList");
    yyjson_doc_free(doc);
    return rc;
}

/* ---- the table ---- */

const char *discovery_preferred(const struct discovery *d, const char *group)
{
    const char *first = NULL;
    for (size_t i = 0; i < d->n_versions; i++) {
        const struct api_version *v = &d->versions[i];
        if (strcmp(v->group, group) != 0)
            continue;
        if (v->preferred)
            return v->version;
        first = first ? first : v->version;
    }
    return first;
}

bool discovery_is_preferred(const struct discovery *d, const struct api_resource *r)
{
    const char *preferred = discovery_preferred(d, r->group);
    const struct api_resource *first = NULL;
    if (!preferred || strcmp(preferred, r->version) == 0)
        return true;
    for (size_t i = 0; i < d->n_resources; i++) {
        const struct api_resource *other = &d->resources[i];
        if (strcmp(other->name, r->name) != 0 || strcmp(other->group, r->group) != 0)
            continue;
        if (strcmp(other->version, preferred) == 0)
            return false;
        first = first ? first : other;
    }
    return first == r;
}

static void free_labels(char **labels)
{
    for (char **label = labels; *label; label++)
        free(*label);
    free(labels);
}

void discovery_free(struct discovery *d)
{
    for (size_t i = 0; i < d->n_resources; i++) {
        struct api_resource *r = &d->resources[i];
        free(r->group);
        free(r->version);
        free(r->name);
        free(r->singular);
        free(r->kind);
        free_labels(r->short_names);
        free_labels(r->categories);
        free_labels(r->verbs);
    }
    for (size_t i = 0; i < d->n_versions; i++) {
        free(d->versions[i].group);
        free(d->versions[i].version);
    }
    free(d->resources);
    free(d->versions);
    *d = (struct discovery){.resources = NULL};
}
