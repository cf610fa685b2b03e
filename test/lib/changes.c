#include "changes.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "builders.h"

char *with_quotes(const char *text)
{
    char *copy = xstrdup(text);
    for (char *c = copy; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    return copy;
}

static struct inf_object *object_of(const char *text)
{
    char *json = text ? with_quotes(text) : NULL;
    struct inf_object *object = json ? object_from(json) : NULL;
    free(json);
    return object;
}

void sample_make(struct sample *sample, const char *before, const char *after)
{
    *sample = (struct sample){.before = object_of(before), .after = object_of(after)};
    if (before && after)
        sample->diff = inf_diff_make(sample->before, sample->after, NULL, NULL);
    sample->event = (struct inf_event){
        .verb = !before ? INF_ADDED
                : after ? INF_MODIFIED
                        : INF_DELETED,
        .old_object = sample->before,
        .new_object = sample->after,
        .final = true,
        .received_us = INT64_C(1767269071000042),
    };
}

void sample_free(struct sample *sample)
{
    inf_diff_free(sample->diff);
    inf_object_unref(sample->before);
    inf_object_unref(sample->after);
}

char *pod_text(int version, const char *rest)
{
    return xasprintf(
        "{'kind':'Pod','apiVersion':'v1','metadata':{'name':'web-0','namespace':'shop',"
        "'uid':'u-1','resourceVersion':'%d','managedFields':[{'manager':'kubelet',"
        "'operation':'Update','subresource':'status','time':'2026-01-01T12:04:%dZ'}]}"
        "%s%s}",
        version, version + 22, *rest ? "," : "", rest);
}

void sample_pod_at(struct sample *sample, const char *before, const char *after, int version)
{
    char *old_text = before ? pod_text(version - 1, before) : NULL;
    char *new_text = after ? pod_text(version, after) : NULL;
    sample_make(sample, old_text, new_text);
    free(old_text);
    free(new_text);
}

void sample_pod(struct sample *sample, const char *before, const char *after)
{
    sample_pod_at(sample, before, after, 8);
}

void sample_change(struct change *ret, const struct watch_id *watch, const struct inf_event *event,
                   struct inf_diff *diff)
{
    struct change_reader reader;
    change_reader_init(&reader);
    reader.context_parts = CONTEXT_LABELS | CONTEXT_OWNER | CONTEXT_NODE;
    change_init(ret, &reader, watch, event, diff);
    change_reader_done(&reader);
}
