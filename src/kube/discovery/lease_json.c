/*
 * lease_json.c - a Lease as JSON: reads what a replica needs, and writes it without losing the rest.
 *
 * Fields that are missing or have another type are as if they were empty. A text that is not a Lease with a resource version
 * is refused.
 */
#include "kube/discovery/lease_json.h"

#include <stdlib.h>
#include <string.h>

#include <yyjson.h>

#include "base/base.h"
#include "base/text/timestamp.h"

#define NOTE_KEY "informerd/positions"

/* ---- reading ---- */

static const char *text_at(yyjson_val *object, const char *field)
{
    const char *text = yyjson_get_str(yyjson_obj_get(object, field));
    return text ? text : "";
}

static uint32_t number_at(yyjson_val *object, const char *field)
{
    int64_t value = yyjson_get_sint(yyjson_obj_get(object, field));
    return value > 0 && value <= INT32_MAX ? (uint32_t)value : 0;
}

static int64_t time_at(yyjson_val *object, const char *field)
{
    int64_t us;
    return timestamp_parse(text_at(object, field), &us) == 0 ? us : 0;
}

static bool read_lease(yyjson_val *root, struct inf_lease *ret)
{
    yyjson_val *metadata = yyjson_obj_get(root, "metadata"), *spec = yyjson_obj_get(root, "spec");
    *ret = (struct inf_lease){
        .version = text_at(metadata, "resourceVersion"),
        .holder = text_at(spec, "holderIdentity"),
        .duration_s = number_at(spec, "leaseDurationSeconds"),
        .transitions = number_at(spec, "leaseTransitions"),
        .acquired_us = time_at(spec, "acquireTime"),
        .renewed_us = time_at(spec, "renewTime"),
        .note = text_at(yyjson_obj_get(metadata, "annotations"), NOTE_KEY),
    };
    return strcmp(text_at(root, "kind"), "Lease") == 0 && ret->version[0];
}

bool lease_json_read(const char *text, struct lease_json *ret)
{
    struct lease_json read = {.doc = yyjson_read(text, strlen(text), 0)};
    if (!read_lease(yyjson_doc_get_root(read.doc), &read.lease)) {
        yyjson_doc_free(read.doc);
        return false;
    }
    *ret = read;
    return true;
}

void lease_json_free(struct lease_json *lease)
{
    yyjson_doc_free(lease->doc);
    lease->doc = NULL;
}

/* ---- writing ---- */

static yyjson_mut_val *object_at(yyjson_mut_doc *doc, yyjson_mut_val *parent, const char *field)
{
    yyjson_mut_val *object = yyjson_mut_obj_get(parent, field);
    if (yyjson_mut_is_obj(object))
        return object;
    yyjson_mut_obj_remove_key(parent, field);
    return yyjson_mut_obj_add_obj(doc, parent, field);
}

static void put_text(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *field,
                     const char *text)
{
    yyjson_mut_obj_put(object, yyjson_mut_str(doc, field), yyjson_mut_strcpy(doc, text));
}

static void put_number(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *field,
                       uint32_t value)
{
    yyjson_mut_obj_put(object, yyjson_mut_str(doc, field), yyjson_mut_uint(doc, value));
}

static void put_time(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *field, int64_t us)
{
    char time[TIMESTAMP_SIZE];
    timestamp_format(us, time);
    put_text(doc, object, field, time);
}

/* @doc is the Lease as it was. Returns the text of the new one; the caller frees it. */
static char *write_lease(yyjson_mut_doc *doc, const struct inf_lease *lease)
{
    yyjson_mut_val *root = yyjson_mut_doc_get_root(doc);
    yyjson_mut_val *spec = object_at(doc, root, "spec");
    put_text(doc, spec, "holderIdentity", lease->holder);
    put_number(doc, spec, "leaseDurationSeconds", lease->duration_s);
    put_number(doc, spec, "leaseTransitions", lease->transitions);
    put_time(doc, spec, "acquireTime", lease->acquired_us);
    put_time(doc, spec, "renewTime", lease->renewed_us);
    if (lease->note)
        put_text(doc, object_at(doc, object_at(doc, root, "metadata"), "annotations"), NOTE_KEY,
                 lease->note);
    return yyjson_mut_write(doc, 0, NULL);
}

char *lease_json_make(const char *ns, const char *name, const struct inf_lease *lease)
{
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = yyjson_mut_obj(doc), *metadata;
    char *text;
    yyjson_mut_doc_set_root(doc, root);
    put_text(doc, root, "apiVersion", "coordination.k8s.io/v1");
    put_text(doc, root, "kind", "Lease");
    metadata = object_at(doc, root, "metadata");
    put_text(doc, metadata, "name", name);
    put_text(doc, metadata, "namespace", ns);
    text = write_lease(doc, lease);
    yyjson_mut_doc_free(doc);
    return text;
}

char *lease_json_change(const char *json, const struct inf_lease *lease)
{
    yyjson_doc *before = yyjson_read(json, strlen(json), 0);
    yyjson_mut_doc *doc;
    struct inf_lease read;
    char *text = NULL;
    if (before && read_lease(yyjson_doc_get_root(before), &read)) {
        doc = yyjson_doc_mut_copy(before, NULL);
        text = write_lease(doc, lease);
        yyjson_mut_doc_free(doc);
    }
    yyjson_doc_free(before);
    return text;
}
