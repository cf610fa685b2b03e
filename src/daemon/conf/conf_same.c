/*
 * conf_same.c - compares structs option by option according to their table. Two values are equal if
 * conf_value_write() formats them equally, so that no comparison per type is needed.
 */
#include "daemon/conf/conf_same.h"

#include <string.h>

#include "base/str.h"
#include "daemon/conf/conf_read.h"

static bool value_same(const struct conf_option *option, const void *a, const void *b)
{
    bool set = conf_value_is_set(option, conf_member(option, a));
    struct buf one = {0}, other = {0};
    bool same;
    if (set != conf_value_is_set(option, conf_member(option, b)))
        return false;
    if (!set)
        return true;
    conf_value_write(option, conf_member(option, a), &one);
    conf_value_write(option, conf_member(option, b), &other);
    same = str_eq((struct str){one.bytes, one.len}, (struct str){other.bytes, other.len});
    buf_free(&one);
    buf_free(&other);
    return same;
}

static const struct conf_table *table_of(const char *name)
{
    return conf_option_find(&conf_table, name)->table;
}

/* For structs without nested structs. */
static bool struct_same(const char *name, const void *a, const void *b)
{
    const struct conf_table *table = table_of(name);
    for (size_t i = 0; i < table->count; i++) {
        const struct conf_option *option = &table->options[i];
        if (option->type != CONF_LATER && !option->taken_over && !value_same(option, a, b))
            return false;
    }
    return true;
}

bool conf_watch_same(const struct conf_watch *a, const struct conf_watch *b)
{
    return struct_same("watches", a, b);
}

bool conf_watch_same_resource(const struct conf_watch *a, const struct conf_watch *b)
{
    const struct conf_table *table = table_of("watches");
    for (size_t i = 0; i < table->count; i++)
        if (table->options[i].identifies && !value_same(&table->options[i], a, b))
            return false;
    return true;
}

void conf_watch_put_changes(const struct conf_watch *a, const struct conf_watch *b, struct buf *out)
{
    const struct conf_table *table = table_of("watches");
    const char *comma = "";
    for (size_t i = 0; i < table->count; i++) {
        const struct conf_option *option = &table->options[i];
        if (option->type == CONF_LATER || option->taken_over || value_same(option, a, b))
            continue;
        buf_printf(out, "%s%s", comma, option->name);
        comma = ", ";
    }
}

bool conf_http_same(const struct conf_http *a, const struct conf_http *b)
{
    return struct_same("http", a, b);
}

bool conf_socket_same(const struct conf_socket *a, const struct conf_socket *b)
{
    return struct_same("socket", a, b);
}
