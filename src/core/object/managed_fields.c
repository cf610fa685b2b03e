/*
 * managed_fields.c - reads managedFields in one pass over the text.
 *
 * The walk enters metadata, managedFields and each entry without searching their ends first, so that
 * no byte is scanned twice. Anything unexpected means that no writer is known and nothing is cut.
 */
#include "core/object/managed_fields.h"

#include "base/base.h"
#include "base/json/json.h"
#include "base/text/utf8.h"
#include "core/object/object.h"

struct entry {
    struct str manager;
    struct str subresource;
    struct str time;
};

/* The newest entries so far, and how many of each sort there are. */
struct newest {
    struct last_writers writers;
    struct str time;
    unsigned status, other;
};

/* The managers of one sort of entries. */
struct managers {
    struct str first; /* at NULL: there was no entry yet */
    bool several;
};

static const struct last_writers unknown_writers = {{"", 0}, {"", 0}, {"", 0}, {"", 0},
                                                    {"", 0}, false,   false};

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

/* The content of a string that is safe to print, else an empty string. Servers write none with
 * escapes. */
static struct str text_of(struct str value)
{
    struct str text = {value.at + 1, value.len - 2};
    if (value.len < 3 || value.at[0] != '"' || memchr(text.at, '\\', text.len) || !is_utf8(text) ||
        object_check_name("managedFields", text, NULL) < 0)
        return (struct str){"", 0};
    return text;
}

/* Whether the end of a value is certain: it is a string, a container, or a scalar without quotes and
 * brackets. */
static bool has_certain_end(struct str value)
{
    if (value.len && memchr("\"{[", value.at[0], 3))
        return true;
    for (size_t i = 0; i < value.len; i++)
        if (memchr("\"\\{[", value.at[i], 4))
            return false;
    return true;
}

/* Reads the entry at the walk and skips it. Returns false if it is not complete. */
static bool read_entry(struct json_walk *walk, struct entry *e)
{
    struct json_member member;
    *e = (struct entry){{"", 0}, {"", 0}, {"", 0}};
    if (!json_walk_pass(walk, '{'))
        return has_certain_end(json_walk_value(walk));
    while (json_walk_next(walk, &member)) {
        if (!has_certain_end(member.value))
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

/* Times are RFC 3339 in UTC, so that text order is time order. */
static void keep_newest(struct newest *n, const struct entry *e)
{
    int order = str_cmp(e->time, n->time);
    if (order < 0 || !e->time.len)
        return;
    if (order > 0)
        *n = (struct newest){.writers = unknown_writers, .time = e->time};
    if (is_status(e)) {
        n->writers.status_manager = e->manager;
        n->writers.status_time = e->time;
        n->status++;
    } else {
        n->writers.manager = e->manager;
        n->writers.subresource = e->subresource;
        n->writers.time = e->time;
        n->other++;
    }
}

static void count_manager(struct managers *m, struct str manager)
{
    if (!m->first.at)
        m->first = manager;
    else if (!str_eq(m->first, manager))
        m->several = true;
}

/* Reads the list at the walk and skips it. Returns false if it is not a list. */
static bool read_entries(struct json_walk *walk, struct last_writers *ret)
{
    struct newest n = {.writers = unknown_writers, .time = {"", 0}};
    struct managers status = {{NULL, 0}, false}, other = {{NULL, 0}, false};
    struct entry e;
    if (!json_walk_pass(walk, '['))
        return false;
    do {
        if (!read_entry(walk, &e))
            return false;
        keep_newest(&n, &e);
        if (e.subresource.len && !str_eq(e.subresource, STR("scale")))
            count_manager(&status, e.manager);
        if (!is_status(&e))
            count_manager(&other, e.manager);
    } while (json_walk_pass(walk, ','));
    *ret = n.writers;
    ret->sole_status = !status.several;
    ret->sole_other = !other.several;
    if (n.status > 1)
        ret->status_manager = ret->status_time = (struct str){"", 0};
    if (n.other > 1)
        ret->manager = ret->subresource = ret->time = (struct str){"", 0};
    return json_walk_pass(walk, ']');
}

/* ---- the field ---- */

/* Moves to the value of the first member with that name. */
static bool walk_to_member(struct json_walk *walk, const char *name, struct str *ret_key)
{
    while (json_walk_key(walk, ret_key)) {
        if (json_key_is(*ret_key, name))
            return true;
        json_walk_value(walk);
    }
    return false;
}

/*
 * The text to cut: from the comma before @key to @end, the end of the value, or for the first of
 * several members to the comma after it. Nothing is cut if other characters surround the member (also
 * white space, which servers don't send): cutting must neither repair nor break the rest.
 */
static struct str text_to_cut(struct str key, const char *end)
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
    *ret = (struct managed){.writers = unknown_writers};
    json_walk_start(&walk, object);
    if (!walk_to_member(&walk, "metadata", &key) || !json_walk_pass(&walk, '{') ||
        !walk_to_member(&walk, "managedFields", &key) || !read_entries(&walk, &ret->writers))
        return;
    if (walk.at < walk.end)
        ret->cut = text_to_cut(key, walk.at);
}
