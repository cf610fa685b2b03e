/*
 * object_text.h - the text of an object as the cache holds it: kind and apiVersion at the front, no
 * white space between tokens, dropped fields removed, redacted values hashed (shape.h).
 */
#ifndef CORE_OBJECT_TEXT_H
#define CORE_OBJECT_TEXT_H

#include "core/object/shape.h"

struct yyjson_val;

/* An object whose canonical text is to be made. */
struct object_text {
    struct str text;         /* as the server wrote it, perhaps without managedFields */
    struct yyjson_val *root; /* the same, parsed */
    struct str kind;         /* its own, or that of its list */
    struct str api_version;
    struct str uid;
};

/* Returns the canonical text. It is in @scratch (which was empty) or, if the server wrote it that way,
 * @o->text itself. */
struct str object_text_make(const struct object_text *o, const struct shape *shape,
                            struct buf *scratch);

#endif
