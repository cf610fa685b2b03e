/*
 * attribution.c - finds which part of the object changed, then the manager that wrote to that part
 * last. A truncated diff shows only some of the changes: then only the time of the newest entry
 * counts.
 */
#include "daemon/record/attribution.h"

#include <string.h>

#include "base/base.h"

/* ---- the changed part ---- */

static bool is_under(const char *path, const char *top)
{
    size_t len = strlen(top);
    return path[0] == top[0] && strncmp(path, top, len) == 0 &&
           (!path[len] || path[len] == '.' || path[len] == '[');
}

static enum inf_part changed_part(const struct inf_diff *diff)
{
    bool status = false, metadata = false, rest = false;
    for (size_t i = 0; i < inf_diff_count(diff) && !(status && (metadata || rest)); i++) {
        const char *path = inf_diff_get(diff, i)->path;
        if (is_under(path, "status"))
            status = true;
        else if (is_under(path, "metadata"))
            metadata = true;
        else
            rest = true;
    }
    if (status)
        return metadata || rest ? INF_PART_ANY : INF_PART_STATUS;
    return rest ? INF_PART_REST : INF_PART_ANY;
}

/* Fields that servers change, or may change, without recording it. */
static bool is_never_recorded(const char *path)
{
    static const char *const tops[] = {"metadata.deletionTimestamp",
                                       "metadata.deletionGracePeriodSeconds", "metadata.finalizers",
                                       "spec.nodeName"};
    for (size_t i = 0; i < ARRAY_LEN(tops); i++)
        if (is_under(path, tops[i]))
            return true;
    return strstr(path, "DisruptionTarget") != NULL;
}

/* Whether the server always records such a change: it adds or replaces a field, and changes none
 * that is never recorded. */
static bool is_always_recorded(const struct inf_diff *diff)
{
    bool sets = false;
    for (size_t i = 0; i < inf_diff_count(diff); i++) {
        const struct inf_change *change = inf_diff_get(diff, i);
        if (is_never_recorded(change->path))
            return false;
        sets |= (change->op == INF_DIFF_ADD || change->op == INF_DIFF_REPLACE) &&
                !is_under(change->path, "metadata.generation");
    }
    return sets && !inf_diff_truncated(diff);
}

/* ---- a binding ---- */

/* A binding sets the node and the condition PodScheduled, and copies annotations and labels. */
static bool is_of_binding(const char *path)
{
    return is_under(path, "spec.nodeName") || strcmp(path, "status.conditions") == 0 ||
           is_under(path, "status.conditions[type=PodScheduled]") ||
           is_under(path, "metadata.annotations") || is_under(path, "metadata.labels") ||
           is_under(path, "metadata.generation");
}

static bool is_binding(const struct inf_object *pod, const struct inf_diff *diff)
{
    bool gets_node = false;
    if (strcmp(inf_object_kind(pod), "Pod") != 0 ||
        strcmp(inf_object_api_version(pod), "v1") != 0 || inf_diff_truncated(diff))
        return false;
    for (size_t i = 0; i < inf_diff_count(diff); i++) {
        const struct inf_change *change = inf_diff_get(diff, i);
        if (!is_of_binding(change->path))
            return false;
        gets_node |= change->op == INF_DIFF_ADD && strcmp(change->path, "spec.nodeName") == 0;
    }
    return gets_node;
}

/* ---- the manager ---- */

/* Finds the newest entry of the part that changed. If the old object has the same entry, the manager
 * must be the only one of that part, and the change one that is always recorded. */
static bool find_writer(const struct inf_event *event, const struct inf_diff *diff,
                        struct inf_writer *ret)
{
    enum inf_part part = changed_part(diff);
    struct inf_writer writer, before;
    bool is_status;
    if (!inf_object_writer(event->new_object, part, &writer))
        return false;
    is_status = strcmp(writer.subresource, "status") == 0;
    if (inf_object_writer(event->old_object, part, &before) &&
        strcmp(before.manager, writer.manager) == 0 &&
        strcmp(before.subresource, writer.subresource) == 0 &&
        strcmp(before.time, writer.time) == 0) {
        if (part == INF_PART_ANY || is_status != (part == INF_PART_STATUS) || !writer.sole ||
            !is_always_recorded(diff))
            return false;
    }
    *ret = writer;
    return true;
}

bool attribution_find(const struct inf_event *event, const struct inf_diff *diff,
                      struct inf_writer *ret)
{
    if (event->verb == INF_ADDED)
        return inf_object_writer(event->new_object, INF_PART_ANY, ret);
    if (event->verb == INF_DELETED)
        return false;
    if (find_writer(event, diff, ret))
        return true;
    if (!is_binding(event->new_object, diff))
        return false;
    *ret = (struct inf_writer){.manager = "", .subresource = "binding", .time = ""};
    return true;
}
