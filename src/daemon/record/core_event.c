/*
 * core_event.c - reads the fields of an Event, each from the first of its names that the object has.
 * Missing fields become "".
 */
#include "daemon/record/core_event.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

#include "base/base.h"
#include "base/text/timestamp.h"

#define FIELD(member) offsetof(struct core_event, member), sizeof(((struct core_event *)0)->member)
#define TIME          0, 0

/* The names of each field together, in the order of preference. A field without a size is a time. */
static const struct core_event_field {
    size_t offset, size;
    const char *path;
} fields[] = {
    {FIELD(reason), "reason"},
    {FIELD(message), "message"},
    {FIELD(message), "note"},
    {FIELD(count), "series.count"},
    {FIELD(count), "count"},
    {FIELD(count), "deprecatedCount"},
    {FIELD(type), "type"},
    {FIELD(kind), "involvedObject.kind"},
    {FIELD(kind), "regarding.kind"},
    {FIELD(ns), "involvedObject.namespace"},
    {FIELD(ns), "regarding.namespace"},
    {FIELD(name), "involvedObject.name"},
    {FIELD(name), "regarding.name"},
    {FIELD(uid), "involvedObject.uid"},
    {FIELD(uid), "regarding.uid"},
    {FIELD(api_version), "involvedObject.apiVersion"},
    {FIELD(api_version), "regarding.apiVersion"},
    {TIME, "series.lastObservedTime"},
    {TIME, "lastTimestamp"},
    {TIME, "deprecatedLastTimestamp"},
    {TIME, "eventTime"},
    {TIME, "firstTimestamp"},
    {TIME, "deprecatedFirstTimestamp"},
    {TIME, "metadata.creationTimestamp"},
};

_Static_assert(ARRAY_LEN(fields) == CORE_EVENT_PATHS, "the reader has a path for each row");

void core_event_reader_init(struct core_event_reader *reader)
{
    for (size_t i = 0; i < CORE_EVENT_PATHS; i++)
        reader->paths[i] = inf_path_parse(fields[i].path, NULL);
}

void core_event_reader_done(struct core_event_reader *reader)
{
    for (size_t i = 0; i < CORE_EVENT_PATHS; i++)
        inf_path_free(reader->paths[i]);
    *reader = (struct core_event_reader){{NULL}};
}

/* Returns false if @text is not a JSON number without sign, fraction and exponent. */
static bool is_count(const char *text)
{
    for (const char *c = text; *c; c++)
        if (!isdigit((unsigned char)*c))
            return false;
    return text[0] && (text[0] != '0' || !text[1]);
}

static bool is_event(const struct inf_object *object)
{
    const char *version = inf_object_api_version(object);
    return strcmp(inf_object_kind(object), "Event") == 0 &&
           (strcmp(version, "v1") == 0 || strncmp(version, "events.k8s.io/", 14) == 0);
}

static void read_text(const struct inf_path *path, const struct inf_object *object, char *ret,
                      size_t size)
{
    if (inf_path_string(path, object, ret, size) < 0 || strcmp(ret, "null") == 0)
        ret[0] = '\0';
}

bool core_event_read(const struct core_event_reader *reader, const struct inf_object *object,
                     struct core_event *ret)
{
    char time[64];
    if (!is_event(object))
        return false;
    *ret = (struct core_event){.time_us = CORE_EVENT_NO_TIME};
    for (size_t i = 0; i < CORE_EVENT_PATHS; i++) {
        char *text = fields[i].size ? (char *)ret + fields[i].offset : time;
        if (fields[i].size && !text[0]) {
            read_text(reader->paths[i], object, text, fields[i].size);
        } else if (!fields[i].size && ret->time_us == CORE_EVENT_NO_TIME) {
            read_text(reader->paths[i], object, time, sizeof(time));
            timestamp_parse(time, &ret->time_us);
        }
    }
    if (!is_count(ret->count))
        ret->count[0] = '\0';
    ret->warning = strcmp(ret->type, "Warning") == 0;
    return true;
}
