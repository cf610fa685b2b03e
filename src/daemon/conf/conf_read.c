/*
 * conf_read.c - reads YAML mappings into structs according to their tables.
 *
 * Normal path: conf_read() -> read_option() for each key -> conf_value_read(), or conf_read() for a
 * nested table, or read_entries() for a list of structs. Reading continues after an error: the
 * error is reported and the member keeps its default.
 */
#include "daemon/conf/conf_read.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/nearest.h"

/* ---- access to structs through their tables ---- */

void *conf_member(const struct conf_option *option, const void *base)
{
    return (void *)((uintptr_t)base + option->offset);
}

static size_t *count_of(const struct conf_option *option, const void *base)
{
    return (size_t *)((uintptr_t)base + option->count);
}

size_t conf_entry_count(const struct conf_option *option, const void *base)
{
    return *count_of(option, base);
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
        if (option->type == CONF_TABLE)
            conf_presets(reader, option->table, conf_member(option, base));
        else if (option->type != CONF_ENTRIES && option->type != CONF_LATER)
            conf_value_preset(reader, option, conf_member(option, base));
    }
}

void *conf_entry_add(struct conf_reader *reader, const struct conf_option *option, void *base)
{
    char **entries = conf_member(option, base);
    size_t *count = count_of(option, base), size = option->table->size;
    char *entry;
    *entries = xrealloc(*entries, (*count + 1) * size);
    entry = *entries + *count * size;
    memset(entry, 0, size);
    ++*count;
    conf_presets(reader, option->table, entry);
    return entry;
}

static void free_entries(const struct conf_option *option, void *base)
{
    char **entries = conf_member(option, base);
    for (size_t i = 0; i < conf_entry_count(option, base); i++)
        conf_struct_free(option->table, conf_entry(option, base, i));
    free(*entries);
}

void conf_struct_free(const struct conf_table *table, void *base)
{
    struct conf_head *head = base;
    for (size_t i = 0; i < table->count; i++) {
        const struct conf_option *option = &table->options[i];
        if (option->type == CONF_TABLE)
            conf_struct_free(option->table, conf_member(option, base));
        else if (option->type == CONF_ENTRIES)
            free_entries(option, base);
        else if (option->type != CONF_LATER)
            conf_value_free(option, conf_member(option, base));
    }
    free(head->origins);
    memset(base, 0, table->size);
}

/* ---- keys ---- */

static bool has_key(const struct conf_table *table, const char *name)
{
    const struct conf_option *option = conf_option_find(table, name);
    return option && option->type != CONF_LATER;
}

/* Appends all tables below @path that have a key @name: "socket, event_logs[]". */
static void put_homes(const struct conf_table *table, const char *name, const char *path,
                      struct buf *homes)
{
    if (has_key(table, name))
        buf_printf(homes, "%s%s", homes->len ? ", " : "", *path ? path : "the top level");
    for (size_t i = 0; i < table->count; i++) {
        const struct conf_option *option = &table->options[i];
        char *inner = xasprintf("%s%s%s%s", path, *path ? "." : "", option->name,
                                option->type == CONF_ENTRIES ? "[]" : "");
        if (option->table)
            put_homes(option->table, name, inner, homes);
        free(inner);
    }
}

static void put_keys(const struct conf_table *table, struct buf *out)
{
    const char *comma = "";
    for (size_t i = 0; i < table->count; i++)
        if (table->options[i].type != CONF_LATER) {
            buf_printf(out, "%s%s", comma, table->options[i].name);
            comma = ", ";
        }
}

/* Suggests how to fix an unknown key: the tables it belongs to, a similar key, or all valid
 * keys. */
static void put_remedy(const struct conf_table *table, const char *name, struct buf *out)
{
    struct nearest nearest = {0};
    struct buf homes = {0};
    put_homes(&conf_table, name, "", &homes);
    for (size_t i = 0; i < table->count; i++)
        if (table->options[i].type != CONF_LATER)
            nearest_try(&nearest, name, table->options[i].name);
    if (homes.len) {
        buf_printf(out, "it belongs to %.*s", (int)homes.len, homes.bytes);
    } else if (nearest.word) {
        buf_printf(out, "did you mean '%s'?", nearest.word);
    } else {
        buf_puts(out, "valid keys: ");
        put_keys(table, out);
    }
    buf_free(&homes);
}

static void report_unknown_key(struct conf_reader *reader, const struct conf_table *table,
                               const struct yaml_node *node)
{
    struct buf remedy = {0};
    char *shown;
    if (conf_reader_is_full(reader))
        return;
    shown = conf_show(node->key->text);
    put_remedy(table, node->key->text, &remedy);
    conf_reader_error(reader, node->key, "unknown key %s; %.*s", shown, (int)remedy.len,
                      remedy.bytes);
    buf_free(&remedy);
    free(shown);
}

/* The option for @node, a member of @map; NULL after reporting an error. */
static const struct conf_option *find_option(struct conf_reader *reader,
                                             const struct conf_table *table,
                                             const struct yaml_node *map,
                                             const struct yaml_node *node)
{
    const struct conf_option *option = conf_option_find(table, node->key->text);
    const struct yaml_node *first = yaml_get(map, node->key->text);
    if (!option)
        report_unknown_key(reader, table, node);
    else if (option->type == CONF_LATER)
        conf_reader_error(reader, node->key, "'%s' is not supported by this version", option->name);
    else if (first != node)
        conf_reader_error(reader, node->key, "duplicate key '%s'; first at %zu:%zu", option->name,
                          first->key->line, first->key->column);
    else
        return option;
    return NULL;
}

/* ---- values ---- */

static void check_required(struct conf_reader *reader, const struct conf_table *table,
                           const struct yaml_node *node)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct conf_option *option = &table->options[i];
        if (!option->preset && option->type != CONF_TABLE && option->type != CONF_LATER &&
            !yaml_get(node, option->name))
            conf_reader_error(reader, node, "missing key '%s'; for example '%s: %s'", option->name,
                              option->name, option->example);
    }
}

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
        if (entry->kind == YAML_MAPPING)
            check_required(reader, option->table, entry);
        conf_reader_leave(reader, before);
    }
}

static void read_option(struct conf_reader *reader, const struct conf_option *option,
                        const struct yaml_node *node, void *base)
{
    size_t before = conf_reader_enter(reader, option->name);
    if (yaml_is_null(node))
        conf_reader_error(reader, node->key, "has no value; set one or remove the key");
    else if (option->type == CONF_TABLE)
        conf_read(reader, option->table, node, conf_member(option, base));
    else if (option->type == CONF_ENTRIES)
        read_entries(reader, option, node, base);
    else
        conf_value_read(reader, option, node, conf_member(option, base));
    conf_reader_leave(reader, before);
}

void conf_read(struct conf_reader *reader, const struct conf_table *table,
               const struct yaml_node *node, void *base)
{
    struct conf_head *head = base;
    head->node = node;
    if (node->kind != YAML_MAPPING) {
        conf_reader_error(
            reader, node, "must be a mapping of options, as in '%s: %s'", table->options[0].name,
            table->options[0].example ? table->options[0].example : table->options[0].preset);
        return;
    }
    for (const struct yaml_node *n = node->first; n; n = n->next) {
        const struct conf_option *option = find_option(reader, table, node, n);
        struct conf_origin *origin = option ? conf_origin_of(table, option, base) : NULL;
        if (!option)
            continue;
        read_option(reader, option, n, base);
        *origin = (struct conf_origin){.node = n, .over = origin->node};
    }
}
