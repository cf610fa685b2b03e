/*
 * json_text.h - the decoded values of JSON text (base/text/json_decode.h), and members of objects by
 * their decoded name.
 */
#ifndef BASE_JSON_TEXT_H
#define BASE_JSON_TEXT_H

#include "base/text/json_decode.h"

/* Returns the value, as written, of the first member of @object whose key is @name. Returns false if
 * there is none or @object is not an object. */
bool json_member_get(struct str object, struct str name, struct str *ret_value);

#endif
