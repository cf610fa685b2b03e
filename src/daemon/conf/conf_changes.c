/*
 * conf_changes.c - what differs between two loads of the configuration, for the message of a reload.
 *
 * Entries of lists are the same if their `name` or `path` is.
 */
#include "daemon/conf/conf_changes.h"

#include <string.h>

#include "daemon/conf/conf_read.h"

/* Whether two values of @option are the same, also if it is a struct. */
static bool value_same(const struct conf_option *option, const void *a, const void *b)
{
    const void *x = conf_member(option, a), *y = conf_member(option, b);
    if (option->type)
        return option->type->equal(option, x, y);
    if (option->count)
        return true; /* lists within entries do not exist */
    for (size_t i = 0; i < option->table->count; i++)
        if (!value_same(&option->table->options[i], x, y))
            return false;
    return true;
}

/* One list in both configurations. */
struct list_pair {
    const struct conf_table *table;
    const char *before, *now; /* entries */
    size_t n_before, n_now;
    const char *noun;
};

static const char *key_of(const struct conf_table *table, const void *entry)
{
    const struct conf_option *key = conf_option_find(table, "name");
    key = key ? key : conf_option_find(table, "path");
    return *(const char *const *)conf_member(key, entry);
}

static const void *find_entry(const struct conf_table *table, const char *entries, size_t n,
                              const char *key)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(key_of(table, entries + i * table->size), key) == 0)
            return entries + i * table->size;
    return NULL;
}

/* ", handler page changed (exec, retry)"; nothing if it is the same. */
static void put_changed(const struct list_pair *l, const void *before, const void *now,
                        struct buf *out)
{
    const char *separator = " (";
    for (size_t i = 0; i < l->table->count; i++) {
        const struct conf_option *option = &l->table->options[i];
        if (value_same(option, before, now))
            continue;
        if (separator[1] == '(')
            buf_printf(out, ", %s %s changed", l->noun, key_of(l->table, now));
        buf_printf(out, "%s%s", separator, option->name);
        separator = ", ";
    }
    if (separator[0] == ',')
        buf_putc(out, ')');
}

static void put_list(const struct list_pair *l, bool only_changed, struct buf *out)
{
    for (size_t i = 0; i < l->n_now; i++) {
        const char *now = l->now + i * l->table->size, *key = key_of(l->table, now);
        const void *before = find_entry(l->table, l->before, l->n_before, key);
        if (before)
            put_changed(l, before, now, out);
        else if (!only_changed)
            buf_printf(out, ", %s %s added", l->noun, key);
    }
    for (size_t i = 0; !only_changed && i < l->n_before; i++) {
        const char *key = key_of(l->table, l->before + i * l->table->size);
        if (!find_entry(l->table, l->now, l->n_now, key))
            buf_printf(out, ", %s %s removed", l->noun, key);
    }
}

void conf_put_changes(const struct conf *before, const struct conf *now, struct buf *out)
{
    const struct conf_table *api = conf_option_find(&conf_table, "api")->table;
    struct list_pair logs = {
        conf_option_find(&conf_table, "event_logs")->table,
        (const char *)before->event_logs,
        (const char *)now->event_logs,
        before->n_event_logs,
        now->n_event_logs,
        "event log",
    };
    struct list_pair handlers = {
        conf_option_find(&conf_table, "handlers")->table,
        (const char *)before->handlers,
        (const char *)now->handlers,
        before->n_handlers,
        now->n_handlers,
        "handler",
    };
    struct list_pair sinks = {
        conf_option_find(&conf_table, "sinks")->table,
        (const char *)before->sinks,
        (const char *)now->sinks,
        before->n_sinks,
        now->n_sinks,
        "sink",
    };
    struct list_pair readers = {
        conf_option_find(api, "readers")->table,
        (const char *)before->api.readers,
        (const char *)now->api.readers,
        before->api.n_readers,
        now->api.n_readers,
        "reader",
    };
    put_list(&logs, true, out); /* those added and removed are counted with the watches */
    put_list(&handlers, false, out);
    put_list(&sinks, false, out);
    put_list(&readers, false, out);
}
