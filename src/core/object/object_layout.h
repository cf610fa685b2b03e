/*
 * object_layout.h - an object in memory: one allocation,
 *
 *     | header | key: shop/web-0 | shop | uid | version | kind | apiVersion | who | {"kind":...} |
 *
 * with each part NUL-terminated, so that getters can return it as it is. A packed object has a
 * struct packed_text and a frame (core/object/text_packer.h) in place of its text. Only object.c,
 * which makes objects, object_get.c, which reads them, object_packer.c and object_image.c include
 * it.
 */
#ifndef CORE_OBJECT_LAYOUT_H
#define CORE_OBJECT_LAYOUT_H

#include <stdint.h>

#include "core/object/object.h"

enum object_part {
    PART_NAME, /* with `namespace/` before it, where there is one: the key */
    PART_NAMESPACE,
    PART_UID,
    PART_VERSION,
    PART_KIND,
    PART_API_VERSION,
    PART_MANAGER,
    PART_SUBRESOURCE,
    PART_TIME,
    PART_STATUS_MANAGER,
    PART_STATUS_TIME,
    PART_TEXT,
    OBJECT_PARTS,
};

/* There are as many as there are objects in the cluster: no byte more than is needed. */
struct inf_object {
    uint32_t refs        : 28;
    uint32_t sole_status : 1; /* see struct last_writers */
    uint32_t sole_other  : 1;
    uint32_t packed      : 1;
    uint32_t damaged     : 1;  /* see object_is_damaged() */
    uint32_t text_len;         /* before packing */
    uint16_t at[OBJECT_PARTS]; /* where in `bytes` each part begins; names are short */
    char bytes[];
};

/* At the place of the text, not aligned; the frame follows. */
struct __attribute__((packed)) packed_text {
    struct pack_dictionary *dictionary; /* a reference */
    uint64_t hash;                      /* pack_hash() of the text */
    uint32_t frame_len;
};

_Static_assert((OBJECT_PARTS + 1) * (OBJECT_NAME_MAX + 1) <= UINT16_MAX,
               "all names fit before the text");

#endif
