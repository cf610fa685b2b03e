/*
 * core_event.c - reads the fields of an Event, under either of their two names. Missing fields
 * become "".
 */
#include "daemon/journal/core_event.h"

#include <ctype.h>
#include <string.h>

#include "informer/path.h"

#include "base/base.h"

/* The value of the first of two paths that has one. */
static void read_one_of(const struct inf_object *object, const char *path, const char *other,
                        char *ret, size_t size)
{
    const char *const paths[] = {path, other};
    ret[0] = '\0';
    for (size_t i = 0; i < ARRAY_LEN(paths) && !ret[0]; i++) {
        struct inf_path *parsed = inf_path_parse(paths[i], NULL);
        inf_path_string(parsed, object, ret, size);
        inf_path_free(parsed);
        if (strcmp(ret, "null") == 0)
            ret[0] = '\0';
    }
}

/* Returns false if @text is not a JSON number without sign, fraction and exponent. */
static bool is_count(const char *text)
{
    for (const char *c = text; *c; c++)
        if (!isdigit((unsigned char)*c))
            return false;
    return text[0] && (text[0] != '0' || !text[1]);
}

bool core_event_read(const struct inf_object *object, struct core_event *ret)
{
    const char *version = inf_object_api_version(object);
    char type[16];
    if (strcmp(inf_object_kind(object), "Event") != 0 ||
        (strcmp(version, "v1") != 0 && strncmp(version, "events.k8s.io/", 14) != 0))
        return false;
    read_one_of(object, "reason", "reason", ret->reason, sizeof(ret->reason));
    read_one_of(object, "message", "note", ret->message, sizeof(ret->message));
    read_one_of(object, "series.count", "count", ret->count, sizeof(ret->count));
    if (!ret->count[0])
        read_one_of(object, "deprecatedCount", "deprecatedCount", ret->count, sizeof(ret->count));
    if (!is_count(ret->count))
        ret->count[0] = '\0';
    read_one_of(object, "involvedObject.kind", "regarding.kind", ret->kind, sizeof(ret->kind));
    read_one_of(object, "involvedObject.namespace", "regarding.namespace", ret->ns,
                sizeof(ret->ns));
    read_one_of(object, "involvedObject.name", "regarding.name", ret->name, sizeof(ret->name));
    read_one_of(object, "type", "type", type, sizeof(type));
    ret->warning = strcmp(type, "Warning") == 0;
    return true;
}
