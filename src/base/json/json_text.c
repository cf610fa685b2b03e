/*
 * json_text.c - finds a member by its decoded name. See json_text.h.
 */
#include "base/json/json_text.h"

#include "base/json/json.h"

bool json_member_get(struct str object, struct str name, struct str *ret_value)
{
    struct json_walk walk;
    struct json_member member;
    json_walk_start(&walk, object);
    while (json_walk_next(&walk, &member))
        if (json_text_is(member.key, name)) {
            *ret_value = member.value;
            return true;
        }
    return false;
}
