/*
 * context.c - reads labels, controller and node from the text of an object, and looks up the
 * workload of a Pod. Nothing here fails: what an object does not have is omitted.
 */
#include "daemon/record/context.h"

#include <string.h>

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

/* An empty map is not written; a value that is not a map is not treated as labels. */
static bool take_labels(void *ctx, const char *json, size_t len)
{
    if (len > 2 && json[0] == '{')
        *(struct str *)ctx = (struct str){json, len};
    return false;
}

static void read_workload(const struct owner_lookup *owners, const char *cluster,
                          const struct inf_object *pod, struct context *c)
{
    const struct inf_object *watched = NULL;
    if (owners->find && workload_is_indirect(&c->owner))
        watched = owners->find(owners->ctx, cluster, inf_object_namespace(pod), &c->owner);
    c->has_workload = workload_find(pod, &c->owner, watched, &c->workload);
}

void context_read(const struct context_reader *reader, unsigned parts, const char *cluster,
                  const struct inf_object *object, struct context *ret)
{
    bool is_pod = strcmp(inf_object_kind(object), "Pod") == 0 &&
                  strcmp(inf_object_api_version(object), "v1") == 0;
    if (parts & CONTEXT_LABELS)
        inf_path_each(reader->labels, object, take_labels, &ret->labels);
    if (parts & CONTEXT_OWNER) {
        ret->has_owner = inf_object_controller(object, &ret->owner) == 0;
        if (ret->has_owner && is_pod)
            read_workload(&reader->owners, cluster, object, ret);
    }
    if (parts & CONTEXT_NODE && is_pod)
        inf_path_string(reader->node, object, ret->node, sizeof(ret->node));
}
