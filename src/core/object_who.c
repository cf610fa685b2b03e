#include "core/object_who.h"

#include <yyjson.h>

#include "base/err.h"
#include "core/object.h"

struct entry {
    struct str manager;
    struct str subresource;
    struct str time;
};

/* A string that may be shown; empty if it is missing or odd. */
static struct str text_of(yyjson_val *entry, const char *field)
{
    yyjson_val *value = yyjson_obj_get(entry, field);
    struct str text = {yyjson_get_str(value), yyjson_get_len(value)};
    if (!text.at || object_check_name(field, text, NULL) < 0)
        return (struct str){"", 0};
    return text;
}

static struct entry read_entry(yyjson_val *value)
{
    return (struct entry){
        .manager = text_of(value, "manager"),
        .subresource = text_of(value, "subresource"),
        .time = text_of(value, "time"),
    };
}

static bool is_status(const struct entry *e)
{
    return str_eq(e->subresource, STR("status"));
}

/* RFC 3339 in UTC, so that text order is time order. */
static struct str newest_time(yyjson_val *entries)
{
    struct str newest = {"", 0};
    yyjson_val *value;
    size_t i, n;
    yyjson_arr_foreach(entries, i, n, value)
    {
        struct str time = text_of(value, "time");
        if (str_cmp(time, newest) > 0)
            newest = time;
    }
    return newest;
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

void who_read(struct yyjson_val *metadata, struct who *ret)
{
    yyjson_val *entries = yyjson_obj_get(metadata, "managedFields"), *value;
    struct str newest = newest_time(entries);
    unsigned status = 0, other = 0;
    size_t i, n;
    *ret = (struct who){.manager = {"", 0}};
    yyjson_arr_foreach(entries, i, n, value)
    {
        struct entry e = read_entry(value);
        if (!newest.len || !str_eq(e.time, newest))
            continue;
        take(ret, &e);
        status += is_status(&e);
        other += !is_status(&e);
    }
    if (status > 1)
        ret->status_manager = ret->status_time = (struct str){"", 0};
    if (other > 1)
        ret->manager = ret->subresource = ret->time = (struct str){"", 0};
}
