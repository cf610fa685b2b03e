/*
 * object_get.c - references, the getters of informer/object.h, and the key. Nothing here fails.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/object/object_layout.h"
#include "core/object/object_packer.h"

enum {
    WORK_BYTES = 8 * 1024, /* objects of less text are one unit of work */
};

struct inf_object *inf_object_ref(const struct inf_object *object)
{
    struct inf_object *o = (struct inf_object *)(uintptr_t)object; /* only the count ever changes */
    o->refs++;
    return o;
}

void inf_object_unref(const struct inf_object *object)
{
    struct inf_object *o = (struct inf_object *)(uintptr_t)object;
    if (!o)
        return;
    assert(o->refs > 0);
    if (--o->refs > 0)
        return;
    if (o->packed)
        object_free_packed(o);
    else
        free(o);
}

const char *inf_object_kind(const struct inf_object *object)
{
    return object->bytes + object->at[PART_KIND];
}

const char *inf_object_api_version(const struct inf_object *object)
{
    return object->bytes + object->at[PART_API_VERSION];
}

const char *inf_object_namespace(const struct inf_object *object)
{
    return object->bytes + object->at[PART_NAMESPACE];
}

const char *inf_object_name(const struct inf_object *object)
{
    return object->bytes + object->at[PART_NAME];
}

const char *inf_object_uid(const struct inf_object *object)
{
    return object->bytes + object->at[PART_UID];
}

const char *inf_object_resource_version(const struct inf_object *object)
{
    return object->bytes + object->at[PART_VERSION];
}

bool inf_object_writer(const struct inf_object *object, enum inf_part part,
                       struct inf_writer *ret_writer)
{
    const char *bytes = object->bytes;
    bool status = bytes[object->at[PART_STATUS_TIME]], other = bytes[object->at[PART_TIME]];
    if (status == other && (!status || part == INF_PART_ANY))
        return false;
    if (status && (!other || part == INF_PART_STATUS))
        *ret_writer = (struct inf_writer){.manager = bytes + object->at[PART_STATUS_MANAGER],
                                          .subresource = "status",
                                          .time = bytes + object->at[PART_STATUS_TIME],
                                          .sole = object->sole_status};
    else
        *ret_writer = (struct inf_writer){.manager = bytes + object->at[PART_MANAGER],
                                          .subresource = bytes + object->at[PART_SUBRESOURCE],
                                          .time = bytes + object->at[PART_TIME],
                                          .sole = object->sole_other};
    return true;
}

const char *inf_object_json(const struct inf_object *object, size_t *ret_len)
{
    assert(!object->packed);
    if (ret_len)
        *ret_len = object->text_len;
    return object->bytes + object->at[PART_TEXT];
}

struct str object_key(const struct inf_object *object)
{
    return (struct str){object->bytes, object->at[PART_NAMESPACE] - (size_t)1};
}

size_t object_work(const struct inf_object *object)
{
    return 1 + object->text_len / WORK_BYTES;
}
