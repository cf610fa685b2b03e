/*
 * context.c - reads labels, controller and node from the text of an object, and looks up the
 * workload of a Pod. Nothing here fails: what an object does not have is omitted.
 */
#include "daemon/record/context.h"

#include <string.h>

#include "base/text/json_decode.h"

void context_reader_init(struct context_reader *reader)
{
    *reader = (struct context_reader){
        .labels = inf_path_parse("metadata.labels", NULL),
        .node = inf_path_parse("spec.nodeName", NULL),
    };
}

void context_reader_done(struct context_reader *reader)
{
    inf_path_free(reader->labels);
    inf_path_free(reader->node);
    *reader = (struct context_reader){0};
}

/* The values of labels and node, in that order: read in one walk over the object. */
struct context_values {
    struct str at[2];
};

static bool take_value(void *ctx, size_t path, const char *json, size_t len)
{
    ((struct context_values *)ctx)->at[path] = (struct str){json, len};
    return true;
}

static void read_values(const struct context_reader *reader, bool node,
                        const struct inf_object *object, struct context_values *ret)
{
    const struct inf_path *paths[] = {reader->labels, reader->node};
    *ret = (struct context_values){{{"", 0}, {"", 0}}};
    inf_paths_each(paths, node ? 2 : 1, object, take_value, ret);
}

static void read_workload(const struct owner_lookup *owners, const char *cluster,
                          const struct inf_object *pod, struct str labels, struct context *c)
{
    const struct inf_object *watched = NULL;
    if (owners->find && workload_is_indirect(&c->owner))
        watched = owners->find(owners->ctx, cluster, inf_object_namespace(pod), &c->owner);
    c->has_workload = workload_find(pod, labels, &c->owner, watched, &c->workload);
}

void context_read(const struct context_reader *reader, unsigned parts, const char *cluster,
                  const struct inf_object *object, struct context *ret)
{
    bool is_pod = strcmp(inf_object_kind(object), "Pod") == 0 &&
                  strcmp(inf_object_api_version(object), "v1") == 0;
    struct context_values values;
    struct str labels;
    if (!parts)
        return;
    read_values(reader, (parts & CONTEXT_NODE) && is_pod, object, &values);
    labels = values.at[0];
    /* An empty map is not written; a value that is not a map is not treated as labels. */
    if ((parts & CONTEXT_LABELS) && labels.len > 2 && labels.at[0] == '{')
        ret->labels = labels;
    if (parts & CONTEXT_OWNER) {
        ret->has_owner = inf_object_controller(object, &ret->owner) == 0;
        if (ret->has_owner && is_pod)
            read_workload(&reader->owners, cluster, object, labels, ret);
    }
    json_value_copy(values.at[1], ret->node, sizeof(ret->node));
}
