/*
 * conf_type_list.c - lists of texts, and maps of names to field paths.
 *
 * The items of a list are of the text type that the option names in `of`. An item with an error is
 * reported and stored nevertheless, so that the n-th item always corresponds to the n-th node.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "daemon/conf/conf_table.h"

/* ---- lists ---- */

bool conf_list_check(struct conf_reader *reader, const struct conf_option *option,
                     const struct yaml_node *node)
{
    size_t most = option->max ? option->max : CONF_ENTRIES_MAX;
    const char *example = option->example ? option->example : option->preset;
    if (node->kind != YAML_SEQUENCE)
        conf_reader_error(reader, node, "must be a list, as in %s",
                          strlen(example) > 2 ? example : "[a, b]");
    else if (node->count < option->min && (!option->preset || option->shown))
        conf_reader_error(reader, node, "is an empty list; write it like %s", example);
    else if (node->count < option->min)
        conf_reader_error(reader, node, "is an empty list; remove the key to %s",
                          option->preset[0] == '(' ? "select all" : "use the default");
    else if (node->count > most)
        conf_reader_error(reader, node, "has %zu items; the limit is %zu", node->count, most);
    else
        return true;
    return false;
}

static void list_free(void *member)
{
    struct conf_list *list = member;
    for (size_t i = 0; i < list->count; i++)
        free(list->items[i]);
    free(list->items);
    *list = (struct conf_list){0};
}

static void list_read(struct conf_reader *reader, const struct conf_option *option,
                      const struct yaml_node *node, void *member)
{
    struct conf_list *list = member;
    list_free(list);
    if (!conf_list_check(reader, option, node))
        return;
    list->items = xcalloc(node->count + 1, sizeof(char *)); /* not NULL if empty */
    for (const struct yaml_node *n = node->first; n; n = n->next) {
        size_t before = conf_reader_enter_nth(reader, list->count);
        char *item = conf_text_read(reader, option->of, n);
        for (size_t i = 0; item && option->type == &conf_type_list && i < list->count; i++)
            if (strcmp(list->items[i], item) == 0) {
                char *shown = conf_show(item);
                conf_reader_error(reader, n, "%s is listed twice", shown);
                free(shown);
                break;
            }
        list->items[list->count++] = item ? item : xstrdup("");
        conf_reader_leave(reader, before);
    }
}

static void list_write(const struct conf_option *option, const void *member, struct buf *out)
{
    const struct conf_list *list = member;
    (void)option;
    buf_putc(out, '[');
    for (size_t i = 0; i < list->count; i++) {
        buf_puts(out, i ? ", " : "");
        conf_text_write(list->items[i], out);
    }
    buf_putc(out, ']');
}

static bool list_is_set(const struct conf_option *option, const void *member)
{
    const struct conf_list *list = member;
    return list->items || !conf_preset_is_unset(option); /* an explicit [] is a value */
}

static bool list_equal(const struct conf_option *option, const void *a, const void *b)
{
    const struct conf_list *one = a, *other = b;
    if (one->count != other->count || list_is_set(option, a) != list_is_set(option, b))
        return false;
    for (size_t i = 0; i < one->count; i++)
        if (strcmp(one->items[i], other->items[i]) != 0)
            return false;
    return true;
}

#define LIST_TYPE                                                                    \
    {                                                                                \
        .form = "list", .read = list_read, .write = list_write, .equal = list_equal, \
        .is_set = list_is_set, .free = list_free                                     \
    }

const struct conf_type conf_type_list = LIST_TYPE;
const struct conf_type conf_type_command = LIST_TYPE; /* an item may occur twice */

/* ---- maps of names: indexes, fields and headers ---- */

/* The strings are const for users, but owned by the configuration. */
static void indexes_free(void *member)
{
    struct conf_indexes *indexes = member;
    for (size_t i = 0; i < indexes->count; i++) {
        free((void *)(uintptr_t)indexes->items[i].name);
        free((void *)(uintptr_t)indexes->items[i].path);
    }
    free(indexes->items);
    *indexes = (struct conf_indexes){0};
}

static void read_index(struct conf_reader *reader, const struct conf_option *option,
                       const struct yaml_node *map, const struct yaml_node *node,
                       struct inf_index *ret)
{
    struct inf_error err = {0};
    const char *name = node->key->text;
    size_t before = reader->path.len;
    char *path;
    bool is_header = option->type == &conf_type_headers;
    if (conf_text_check(is_header ? &conf_type_header : &conf_type_name, name, &err) == 0)
        conf_reader_enter(reader, name);
    else
        conf_reader_error(reader, node->key, "%s", err.text); /* errors do not repeat the name */
    if (yaml_get(map, name) != node)
        conf_reader_error(reader, node->key, "is a duplicate name");
    else if (option->type == &conf_type_indexes && strcmp(name, "namespace") == 0)
        conf_reader_error(reader, node->key, "is a built-in index; use another name");
    path = conf_text_read(reader, is_header ? option->of : &conf_type_field_path, node);
    *ret = (struct inf_index){.name = xstrdup(name), .path = path ? path : xstrdup("")};
    conf_reader_leave(reader, before);
}

static void indexes_read(struct conf_reader *reader, const struct conf_option *option,
                         const struct yaml_node *node, void *member)
{
    struct conf_indexes *indexes = member;
    indexes_free(indexes);
    if (node->kind != YAML_MAPPING) {
        conf_reader_error(reader, node, "must be a mapping, as in %s",
                          option->example ? option->example : "{node: spec.nodeName}");
        return;
    }
    if (node->count > option->max) {
        conf_reader_error(reader, node, "has %zu %s; the limit is %zu", node->count, option->name,
                          (size_t)option->max);
        return;
    }
    if (node->count)
        indexes->items = xcalloc(node->count, sizeof(*indexes->items));
    for (const struct yaml_node *n = node->first; n; n = n->next)
        read_index(reader, option, node, n, &indexes->items[indexes->count++]);
}

static void indexes_write(const struct conf_option *option, const void *member, struct buf *out)
{
    const struct conf_indexes *indexes = member;
    (void)option;
    buf_putc(out, '{');
    for (size_t i = 0; i < indexes->count; i++) {
        buf_puts(out, i ? ", " : "");
        conf_text_write(indexes->items[i].name, out);
        buf_puts(out, ": ");
        conf_text_write(indexes->items[i].path, out);
    }
    buf_putc(out, '}');
}

static bool indexes_equal(const struct conf_option *option, const void *a, const void *b)
{
    const struct conf_indexes *one = a, *other = b;
    (void)option;
    if (one->count != other->count)
        return false;
    for (size_t i = 0; i < one->count; i++)
        if (strcmp(one->items[i].name, other->items[i].name) != 0 ||
            strcmp(one->items[i].path, other->items[i].path) != 0)
            return false;
    return true;
}

#define PATHS_TYPE                                                                           \
    {                                                                                        \
        .form = "map of names to field paths", .read = indexes_read, .write = indexes_write, \
        .equal = indexes_equal, .free = indexes_free                                         \
    }

const struct conf_type conf_type_indexes = PATHS_TYPE;
const struct conf_type conf_type_fields = PATHS_TYPE;
const struct conf_type conf_type_headers = {.form = "map of header names",
                                            .read = indexes_read,
                                            .write = indexes_write,
                                            .equal = indexes_equal,
                                            .free = indexes_free};
