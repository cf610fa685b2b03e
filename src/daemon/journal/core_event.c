/*
 * core_event.c - reads the fields of an Event, under either of their two names. Missing fields
 * become "".
 */
#include "daemon/journal/core_event.h"

#include <ctype.h>
#include <string.h>

#include "informer/path.h"

#include "base/base.h"

static bool is_event(const struct inf_object *object)
{
    const char *version = inf_object_api_version(object);
    return strcmp(inf_object_kind(object), "Event") == 0 &&
           (strcmp(version, "v1") == 0 || strncmp(version, "events.k8s.io/", 14) == 0);
}

/* The value of the first of two paths that has one. */
static void read_one_of(const struct inf_object *object, const char *place, const char *other,
                        char *ret, size_t size)
{
    const char *places[] = {place, other};
    ret[0] = '\0';
    for (size_t i = 0; i < ARRAY_LEN(places) && !ret[0]; i++) {
        struct inf_path *path = inf_path_parse(places[i], NULL);
        inf_path_string(path, object, ret, size);
        inf_path_free(path);
        if (strcmp(ret, "null") == 0)
            ret[0] = '\0';
    }
}

static bool is_number(const char *text)
{
    for (const char *c = text; *c; c++)
        if (!isdigit((unsigned char)*c))
            return false;
    return text[0] && (text[0] != '0' || !text[1]);
}

static void read_count(const struct inf_object *object, char *ret, size_t size)
{
    read_one_of(object, "series.count", "count", ret, size);
    if (!ret[0])
        read_one_of(object, "deprecatedCount", "deprecatedCount", ret, size);
    if (!is_number(ret))
        ret[0] = '\0';
}

bool core_event_read(const struct inf_object *object, struct core_event *ret)
{
    char type[16];
    if (!is_event(object))
        return false;
    read_one_of(object, "reason", "reason", ret->reason, sizeof(ret->reason));
    read_one_of(object, "message", "note", ret->message, sizeof(ret->message));
    read_count(object, ret->count, sizeof(ret->count));
    read_one_of(object, "involvedObject.kind", "regarding.kind", ret->kind, sizeof(ret->kind));
    read_one_of(object, "involvedObject.namespace", "regarding.namespace", ret->ns,
                sizeof(ret->ns));
    read_one_of(object, "involvedObject.name", "regarding.name", ret->name, sizeof(ret->name));
    read_one_of(object, "type", "type", type, sizeof(type));
    ret->warning = strcmp(type, "Warning") == 0;
    return true;
}
