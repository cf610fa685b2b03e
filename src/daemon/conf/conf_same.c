/*
 * conf_same.c - compares structs option by option according to their table, with the comparison of
 * the type of each option.
 */
#include "daemon/conf/conf_same.h"

#include "daemon/conf/conf_read.h"

static bool value_same(const struct conf_option *option, const void *a, const void *b)
{
    return option->type->equal(option, conf_member(option, a), conf_member(option, b));
}

static const struct conf_table *table_of(const char *name)
{
    return conf_option_find(&conf_table, name)->table;
}

/* For structs without nested structs. */
static bool table_same(const struct conf_table *table, const void *a, const void *b)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct conf_option *option = &table->options[i];
        if (!option->taken_over && !value_same(option, a, b))
            return false;
    }
    return true;
}

static bool struct_same(const char *name, const void *a, const void *b)
{
    return table_same(table_of(name), a, b);
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
        if (option->taken_over || value_same(option, a, b))
            continue;
        buf_printf(out, "%s%s", comma, option->name);
        comma = ", ";
    }
}

bool conf_state_same(const struct conf_state *a, const struct conf_state *b)
{
    return struct_same("state", a, b);
}

bool conf_shard_same(const struct conf_shard *a, const struct conf_shard *b)
{
    return struct_same("shard", a, b);
}

bool conf_replica_same(const struct conf_replica *a, const struct conf_replica *b)
{
    return struct_same("replica", a, b);
}

bool conf_http_same(const struct conf_http *a, const struct conf_http *b)
{
    return struct_same("http", a, b);
}

bool conf_socket_same(const struct conf_socket *a, const struct conf_socket *b)
{
    return struct_same("socket", a, b);
}

bool conf_readers_same(const struct conf_api *a, const struct conf_api *b)
{
    const struct conf_table *table = conf_option_find(table_of("api"), "readers")->table;
    if (a->n_readers != b->n_readers)
        return false;
    for (size_t i = 0; i < a->n_readers; i++)
        if (!table_same(table, &a->readers[i], &b->readers[i]))
            return false;
    return true;
}

bool conf_levels_same(const struct conf *a, const struct conf *b)
{
    if (a->n_levels != b->n_levels)
        return false;
    for (size_t i = 0; i < a->n_levels; i++)
        if (!struct_same("levels", &a->levels[i], &b->levels[i]))
            return false;
    return true;
}
