/*
 * conf_read.c - reads YAML mappings into structs according to their tables.
 *
 * Normal path: conf_read() finds the option of each key and calls the read function of its type, or
 * itself for a nested struct, or read_entries() for a list of structs. Reading continues after an
 * error: the error is reported and the member keeps its default.
 */
#include "daemon/conf/conf_read.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text/nearest.h"

/* ---- access to structs through their tables ---- */

void *conf_member(const struct conf_option *option, const void *base)
{
    return (void *)((uintptr_t)base + option->offset);
}

size_t conf_entry_count(const struct conf_option *option, const void *base)
{
    return *(size_t *)((uintptr_t)base + option->count);
}

void *conf_entry(const struct conf_option *option, const void *base, size_t n)
{
    char **entries = conf_member(option, base);
    return *entries + n * option->table->size;
}

const struct conf_option *conf_option_find(const struct conf_table *table, const char *name)
{
    for (size_t i = 0; i < table->count; i++)
        if (strcmp(table->options[i].name, name) == 0)
            return &table->options[i];
    return NULL;
}

struct conf_origin *conf_origin_of(const struct conf_table *table, const struct conf_option *option,
                                   const void *base)
{
    const struct conf_head *head = base; /* the first member of every struct with a table */
    return &head->origins[option - table->options];
}

void conf_presets(struct conf_reader *reader, const struct conf_table *table, void *base)
{
    struct conf_head *head = base;
    head->origins = xcalloc(table->count, sizeof(*head->origins));
    for (size_t i = 0; i < table->count; i++) {
        const struct conf_option *option = &table->options[i];
        if (!option->table)
            conf_value_preset(reader, option, conf_member(option, base));
        else if (!option->count) /* a list begins empty */
            conf_presets(reader, option->table, conf_member(option, base));
    }
}

void *conf_entry_add(struct conf_reader *reader, const struct conf_option *option, void *base)
{
    char **entries = conf_member(option, base), *entry;
    size_t *count = (size_t *)((uintptr_t)base + option->count), size = option->table->size;
    *entries = xrealloc(*entries, (*count + 1) * size);
    entry = *entries + *count * size;
    memset(entry, 0, size);
    ++*count;
    conf_presets(reader, option->table, entry);
    return entry;
}

void conf_struct_free(const struct conf_table *table, void *base)
{
    struct conf_head *head = base;
    for (size_t i = 0; i < table->count; i++) {
        const struct conf_option *option = &table->options[i];
        void *member = conf_member(option, base);
        if (!option->table) {
            conf_value_free(option, member);
        } else if (!option->count) {
            conf_struct_free(option->table, member);
        } else {
            for (size_t n = 0; n < conf_entry_count(option, base); n++)
                conf_struct_free(option->table, conf_entry(option, base, n));
            free(*(char **)member);
        }
    }
    free(head->origins);
    memset(base, 0, table->size);
}

/* ---- keys ---- */

/* Appends all tables below @path that have a key @name: "socket, event_logs[]". */
static void put_tables_with_key(const struct conf_table *table, const char *name, const char *path,
                                struct buf *out)
{
    if (conf_option_find(table, name))
        buf_printf(out, "%s%s", out->len ? ", " : "", *path ? path : "the top level");
    for (size_t i = 0; i < table->count; i++) {
        const struct conf_option *option = &table->options[i];
        if (option->table) {
            char *inner = xasprintf("%s%s%s%s", path, *path ? "." : "", option->name,
                                    option->count ? "[]" : "");
            put_tables_with_key(option->table, name, inner, out);
            free(inner);
        }
    }
}

/* The remedy is the tables that the key belongs to, a similar key, or all valid keys. */
static void report_unknown_key(struct conf_reader *reader, const struct conf_table *table,
                               const struct yaml_node *node)
{
    const char *name = node->key->text;
    struct nearest nearest = {0};
    struct buf remedy = {0}, tables = {0};
    char *shown;
    if (conf_reader_is_full(reader))
        return;
    put_tables_with_key(&conf_table, name, "", &tables);
    for (size_t i = 0; i < table->count; i++)
        nearest_try(&nearest, name, table->options[i].name);
    if (tables.len) {
        buf_printf(&remedy, "it belongs to %.*s", (int)tables.len, tables.bytes);
    } else if (nearest.word) {
        buf_printf(&remedy, "did you mean '%s'?", nearest.word);
    } else {
        buf_puts(&remedy, "valid keys: ");
        for (size_t i = 0; i < table->count; i++)
            buf_printf(&remedy, "%s%s", i ? ", " : "", table->options[i].name);
    }
    shown = conf_show(name);
    conf_reader_error(reader, node->key, "unknown key %s; %.*s", shown, (int)remedy.len,
                      remedy.bytes);
    buf_free(&remedy);
    buf_free(&tables);
    free(shown);
}

static bool is_reserved(const struct conf_table *table, const char *name)
{
    for (const char *const *reserved = table->reserved; reserved && *reserved; reserved++)
        if (strcmp(*reserved, name) == 0)
            return true;
    return false;
}

/* The option for @node, a member of @map; NULL after reporting an error. */
static const struct conf_option *find_option(struct conf_reader *reader,
                                             const struct conf_table *table,
                                             const struct yaml_node *map,
                                             const struct yaml_node *node)
{
    const char *name = node->key->text;
    const struct conf_option *option = conf_option_find(table, name);
    const struct yaml_node *first = yaml_get(map, name);
    if (is_reserved(table, name))
        conf_reader_error(reader, node->key, "'%s' is not supported by this version", name);
    else if (!option)
        report_unknown_key(reader, table, node);
    else if (first != node)
        conf_reader_error(reader, node->key, "duplicate key '%s'; first at %zu:%zu", name,
                          first->key->line, first->key->column);
    else
        return option;
    return NULL;
}

/* ---- values ---- */

static void read_entries(struct conf_reader *reader, const struct conf_option *option,
                         const struct yaml_node *node, void *base)
{
    size_t n = 0;
    if (node->kind != YAML_SEQUENCE) {
        conf_reader_error(reader, node, "must be a list of entries, each beginning with '- '");
        return;
    }
    if (node->count > CONF_ENTRIES_MAX - conf_entry_count(option, base)) {
        conf_reader_error(reader, node, "has more than %d entries", CONF_ENTRIES_MAX);
        return;
    }
    for (const struct yaml_node *entry = node->first; entry; entry = entry->next) {
        size_t before = conf_reader_enter_nth(reader, n++);
        conf_read(reader, option->table, entry, conf_entry_add(reader, option, base));
        for (size_t i = 0; entry->kind == YAML_MAPPING && i < option->table->count; i++) {
            const struct conf_option *key = &option->table->options[i];
            if (!key->preset && !key->table && !yaml_get(entry, key->name))
                conf_reader_error(reader, entry, "missing key '%s'; for example '%s: %s'",
                                  key->name, key->name, key->example);
        }
        conf_reader_leave(reader, before);
    }
}

void conf_read(struct conf_reader *reader, const struct conf_table *table,
               const struct yaml_node *node, void *base)
{
    struct conf_head *head = base;
    head->node = node;
    if (node->kind != YAML_MAPPING) {
        const struct conf_option *first = &table->options[0];
        conf_reader_error(reader, node, "must be a mapping of options, as in '%s: %s'", first->name,
                          first->example ? first->example : first->preset);
        return;
    }
    for (const struct yaml_node *n = node->first; n; n = n->next) {
        const struct conf_option *option = find_option(reader, table, node, n);
        struct conf_origin *origin;
        size_t before;
        if (!option)
            continue;
        before = conf_reader_enter(reader, option->name);
        if (yaml_is_null(n))
            conf_reader_error(reader, n->key, "has no value; set one or remove the key");
        else if (!option->table)
            option->type->read(reader, option, n, conf_member(option, base));
        else if (!option->count)
            conf_read(reader, option->table, n, conf_member(option, base));
        else
            read_entries(reader, option, n, base);
        conf_reader_leave(reader, before);
        origin = conf_origin_of(table, option, base);
        *origin = (struct conf_origin){.node = n, .over = origin->node};
    }
}
