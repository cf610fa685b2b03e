/*
 * object_hint.h - names an object that can't be read, as far as its text gives it away.
 */
#ifndef KUBE_SOURCE_OBJECT_HINT_H
#define KUBE_SOURCE_OBJECT_HINT_H

#include "base/str.h"
#include "core/object/object.h"

/*
 * "Pod shop/web-0" for @object, of which the end may be missing and which may be no JSON at all.
 * The caller's; NULL if it has no name. @kind stands in for one that it does not say. Nothing but
 * kind, namespace and name is ever shown: the rest may be secret.
 */
char *hint_of(struct str object, struct str kind);

/* The identity of @object, as far as its text gives it away; NULL if it has no usable name. The caller
 * gets one reference. @defaults may be NULL. */
struct inf_object *hint_identity(struct str object, const struct object_defaults *defaults);

#endif
