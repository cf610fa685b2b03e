/*
 * api_body.h - objects and watch events as JSON, in the forms of enum api_form.
 *
 * The text of an object is copied as the cache has it. Only two things are changed: items of lists of
 * built-in types have no kind and apiVersion, as from kube-apiserver, and some events have another
 * resource version than the object.
 */
#ifndef DAEMON_API_BODY_H
#define DAEMON_API_BODY_H

#include <stdint.h>

#include "informer/informer.h"
#include "informer/object.h"
#include "informer/path.h"

#include "base/buf.h"
#include "daemon/api/api_request.h"
#include "daemon/table/table.h"

/* The type of objects: of one resource. */
struct api_type {
    char *kind;
    char *api_version;
    bool builtin; /* a resource of Kubernetes itself */
    const struct table_printer *printer;
    struct inf_path *metadata; /* "metadata" */
    struct inf_path *version;  /* "metadata.resourceVersion" */
};

/* The type of @resource, whose kind is set; copied. Its printer is the built-in one. */
void api_type_init(struct api_type *type, const struct inf_resource *resource);
void api_type_free(struct api_type *type);

static inline bool api_form_is_table(enum api_form form)
{
    return form >= API_TABLE_NONE;
}

/* Appends @object; @version replaces its resource version, NULL: its own. */
void api_put_object(struct buf *out, const struct api_type *type, enum api_form form,
                    const struct inf_object *object, const char *version, int64_t now_us);

/* The beginning of a list up to its first item, an item with its separator, and the end. */
void api_put_list_head(struct buf *out, const struct api_type *type, enum api_form form,
                       const char *version);
void api_put_item(struct buf *out, const struct api_type *type, enum api_form form,
                  const struct inf_object *object, bool first, int64_t now_us);
void api_put_list_end(struct buf *out);

/* Appends a line of a watch: the object as in api_put_object(). @columns: a table has its columns,
 * which only the first event of a watch needs. */
void api_put_event(struct buf *out, const struct api_type *type, enum api_form form,
                   const char *event, const struct inf_object *object, const char *version,
                   bool columns, int64_t now_us);
void api_put_bookmark(struct buf *out, const struct api_type *type, enum api_form form,
                      const char *version, bool initial_end);

#endif
