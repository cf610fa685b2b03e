/*
 * managed_fields.c - one pass, and nothing is looked at twice: it goes down to the entries without
 * asking where what it goes through ends.
 */
#include "core/object/managed_fields.h"

#include "base/base.h"
#include "base/utf8.h"
#include "core/json/json.h"
#include "core/object/object.h"

struct entry {
    struct str manager;
    struct str subresource;
    struct str time;
};

/* What is known so far, and how many of each sort are as new as that. */
struct newest {
    struct who who;
    struct str time;
    unsigned status, other;
};

/* The managers of one sort of entries. */
struct managers {
    struct str first; /* at NULL: there was no entry yet */
    bool several;
};

static const struct who unknown_who = {{"", 0}, {"", 0}, {"", 0}, {"", 0}, {"", 0}, false, false};

/* ---- an entry ---- */

static bool is_utf8(struct str text)
{
    while (text.len) {
        uint32_t c;
        size_t len = utf8_next(text, &c);
        if (!len)
            return false;
        text = (struct str){text.at + len, text.len - len};
    }
    return true;
}

/* A string that may be shown; empty if it is odd. None that a server writes needs escapes. */
static struct str text_of(struct str value)
{
    struct str text = {value.at + 1, value.len - 2};
    if (value.len < 3 || value.at[0] != '"' || memchr(text.at, '\\', text.len) || !is_utf8(text) ||
        object_check_name("managedFields", text, NULL) < 0)
        return (struct str){"", 0};
    return text;
}

/* A string or a container, which were passed over to their end, or a word: where something else
 * with quotes or brackets in it ends is anybody's guess. */
static bool has_an_end(struct str value)
{
    if (value.len && memchr("\"{[", value.at[0], 3))
        return true;
    for (size_t i = 0; i < value.len; i++)
        if (memchr("\"\\{[", value.at[i], 4))
            return false;
    return true;
}

/* The walk stands on the entry, and passes over it. False: it is no whole one. */
static bool read_entry(struct json_walk *walk, struct entry *e)
{
    struct json_member member;
    *e = (struct entry){{"", 0}, {"", 0}, {"", 0}};
    if (!json_walk_pass(walk, '{'))
        return has_an_end(json_walk_value(walk));
    while (json_walk_next(walk, &member)) {
        if (!has_an_end(member.value))
            return false;
        if (json_key_is(member.key, "manager"))
            e->manager = text_of(member.value);
        else if (json_key_is(member.key, "subresource"))
            e->subresource = text_of(member.value);
        else if (json_key_is(member.key, "time"))
            e->time = text_of(member.value);
    }
    return json_walk_pass(walk, '}');
}

/* ---- the newest ---- */

static bool is_status(const struct entry *e)
{
    return str_eq(e->subresource, STR("status"));
}

static void take(struct who *who, const struct entry *e)
{
    if (is_status(e)) {
        who->status_manager = e->manager;
        who->status_time = e->time;
    } else {
        who->manager = e->manager;
        who->subresource = e->subresource;
        who->time = e->time;
    }
}

/* RFC 3339 in UTC, so that text order is time order. */
static void weigh(struct newest *n, const struct entry *e)
{
    int order = str_cmp(e->time, n->time);
    if (order < 0 || !e->time.len)
        return;
    if (order > 0)
        *n = (struct newest){.who = unknown_who, .time = e->time};
    take(&n->who, e);
    n->status += is_status(e);
    n->other += !is_status(e);
}

static void count_manager(struct managers *m, struct str manager)
{
    if (!m->first.at)
        m->first = manager;
    else if (!str_eq(m->first, manager))
        m->several = true;
}

static void count_managers(struct managers *status, struct managers *other, const struct entry *e)
{
    bool scale = str_eq(e->subresource, STR("scale"));
    if (e->subresource.len && !scale)
        count_manager(status, e->manager);
    if (!is_status(e))
        count_manager(other, e->manager);
}

/* The walk stands on the list, and passes over it. False: it is none. */
static bool read_entries(struct json_walk *walk, struct who *ret)
{
    struct newest n = {.who = unknown_who, .time = {"", 0}};
    struct managers status = {{NULL, 0}, false}, other = {{NULL, 0}, false};
    struct entry e;
    if (!json_walk_pass(walk, '['))
        return false;
    do {
        if (!read_entry(walk, &e))
            return false;
        weigh(&n, &e);
        count_managers(&status, &other, &e);
    } while (json_walk_pass(walk, ','));
    *ret = n.who;
    ret->sole_status = !status.several;
    ret->sole_other = !other.several;
    if (n.status > 1)
        ret->status_manager = ret->status_time = (struct str){"", 0};
    if (n.other > 1)
        ret->manager = ret->subresource = ret->time = (struct str){"", 0};
    return json_walk_pass(walk, ']');
}

/* ---- where they are ---- */

/* Goes to the value of the first member of that name. */
static bool go_to(struct json_walk *walk, const char *name, struct str *ret_key)
{
    while (json_walk_key(walk, ret_key)) {
        if (json_key_is(*ret_key, name))
            return true;
        json_walk_value(walk);
    }
    return false;
}

/*
 * From the comma before @key to @end, that of the value; the first of several members up to the
 * comma behind it. With any other signs around them (white space too, which servers don't send)
 * they stay: cutting must neither mend nor break what it is cut from.
 */
static struct str cut_of(struct str key, const char *end)
{
    const char *from = key.at - 1; /* before it there is a brace at least */
    if (from[-1] == ',' && from[-2] != '{')
        from--;
    else if (from[-1] == '{' && *end == ',')
        end++;
    else if (from[-1] != '{' || *end != '}')
        return (struct str){0};
    return (struct str){from, (size_t)(end - from)};
}

void managed_read(struct str object, struct managed *ret)
{
    struct json_walk walk;
    struct str key;
    *ret = (struct managed){.who = unknown_who};
    json_walk_start(&walk, object);
    if (!go_to(&walk, "metadata", &key) || !json_walk_pass(&walk, '{') ||
        !go_to(&walk, "managedFields", &key) || !read_entries(&walk, &ret->who))
        return;
    if (walk.at < walk.end)
        ret->cut = cut_of(key, walk.at);
}
