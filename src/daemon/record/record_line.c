/*
 * record_line.c - walks over the members of a record.
 *
 * Records begin with time, seq, log and type, in this order: a line that does not is none. The other
 * members may have any order.
 */
#include "daemon/record/record_line.h"

#include <stddef.h>

#include "base/base.h"
#include "base/json/json.h"
#include "base/text/timestamp.h"

static const struct {
    const char *name;
    size_t at;
} members[] = {
    {"cluster", offsetof(struct record_line, cluster)},
    {"watch", offsetof(struct record_line, watch)},
    {"group", offsetof(struct record_line, group)},
    {"resource", offsetof(struct record_line, resource)},
    {"kind", offsetof(struct record_line, kind)},
    {"namespace", offsetof(struct record_line, ns)},
    {"name", offsetof(struct record_line, name)},
    {"uid", offsetof(struct record_line, uid)},
    {"rv", offsetof(struct record_line, rv)},
    {"final", offsetof(struct record_line, final)},
    {"level", offsetof(struct record_line, level)},
    {"msg", offsetof(struct record_line, msg)},
    {"labels", offsetof(struct record_line, labels)},
    {"changed", offsetof(struct record_line, changed)},
    {"involved", offsetof(struct record_line, involved)},
};

static bool next_is(struct json_walk *walk, const char *name, struct str *ret_value)
{
    struct json_member member;
    if (!json_walk_next(walk, &member) || !json_key_is(member.key, name))
        return false;
    *ret_value = member.value;
    return member.value.len > 0;
}

static bool read_time(struct str value, int64_t *ret_us)
{
    char text[2 * TIMESTAMP_SIZE];
    return json_value_copy(value, text, sizeof(text)) < sizeof(text) &&
           timestamp_parse(text, ret_us) == 0;
}

static bool read_number(struct str value, uint64_t *ret)
{
    uint64_t number = 0;
    for (size_t i = 0; i < value.len; i++) {
        unsigned digit = (unsigned char)value.at[i] - (unsigned)'0';
        if (digit > 9 || __builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, digit, &number))
            return false;
    }
    *ret = number;
    return true;
}

static bool read_head(struct json_walk *walk, struct str line, struct record_line *ret)
{
    struct str time, seq;
    *ret = (struct record_line){.text = line};
    if (!line.len || line.at[0] != '{')
        return false;
    json_walk_start(walk, line);
    return next_is(walk, "time", &time) && next_is(walk, "seq", &seq) &&
           next_is(walk, "log", &ret->log) && next_is(walk, "type", &ret->type) &&
           read_time(time, &ret->time_us) && read_number(seq, &ret->seq);
}

bool record_line_read_head(struct str line, struct record_line *ret)
{
    struct json_walk walk;
    return read_head(&walk, line, ret);
}

/* The first member of a name counts. */
static void take_member(const struct json_member *member, struct record_line *ret)
{
    for (size_t i = 0; i < ARRAY_LEN(members); i++) {
        struct str *value = (struct str *)(void *)((char *)ret + members[i].at);
        if (!json_key_is(member->key, members[i].name))
            continue;
        if (!value->len)
            *value = member->value;
        return;
    }
}

bool record_line_read(struct str line, struct record_line *ret)
{
    struct json_member member;
    struct json_walk walk;
    if (!read_head(&walk, line, ret))
        return false;
    while (json_walk_next(&walk, &member))
        take_member(&member, ret);
    return json_walk_complete(&walk);
}

bool record_line_is_change(const struct record_line *record, enum inf_verb *ret_verb)
{
    static const enum inf_verb verbs[] = {INF_ADDED, INF_MODIFIED, INF_DELETED};
    for (size_t i = 0; i < ARRAY_LEN(verbs); i++)
        if (json_value_is(record->type, str_of(inf_verb_name(verbs[i])))) {
            *ret_verb = verbs[i];
            return true;
        }
    return false;
}
