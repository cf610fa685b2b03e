/*
 * object_hint.h - the name of an object that can't be decoded, from its text.
 */
#ifndef KUBE_SOURCE_OBJECT_HINT_H
#define KUBE_SOURCE_OBJECT_HINT_H

#include <stdbool.h>

#include "base/str.h"
#include "core/object/object.h"

/*
 * "Pod shop/web-0" for @object, whose end may be missing and which may not be JSON at all. The caller
 * frees it; NULL if there is no name. @kind is used if @object has none. Only kind, namespace and name
 * are shown: the rest may be secret.
 */
char *hint_of(struct str object, struct str kind);

/* The identity of @object, as far as its text has it; NULL if it has no usable name. The caller
 * gets one reference. @defaults may be NULL. */
struct inf_object *hint_identity(struct str object, const struct object_defaults *defaults);

/* The uid of @object as it is written; false if it has none, or one with escapes. Reads no more of
 * @object than needed: what follows may not be JSON. */
bool hint_uid(struct str object, struct str *ret_uid);

#endif
