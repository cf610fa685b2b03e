/*
 * object_text.h - the text of an object as the cache holds it: kind and apiVersion at the front, no
 * white space between tokens, without what is cut, and with hashes for what is hidden (shape.h).
 */
#ifndef CORE_OBJECT_TEXT_H
#define CORE_OBJECT_TEXT_H

#include "core/object/shape.h"

struct yyjson_val;

/* What is known of an object whose text is wanted. */
struct object_text {
    struct str text;         /* as the server spelled it, perhaps without managedFields */
    struct yyjson_val *root; /* the same, read */
    struct str kind;         /* what it says of itself, or what its list says */
    struct str api_version;
    struct str uid;
};

/* The canonical text. It lies in @scratch (which was empty) or, if the server spelled it so, is
 * @o->text itself. */
struct str object_text_make(const struct object_text *o, const struct shape *shape,
                            struct buf *scratch);

#endif
