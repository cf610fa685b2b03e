/*
 * conf_value.c - reads and frees values. Normal path: conf_value_read() -> read_scalar_text(),
 * which expands environment variables -> a read_* function by type. Errors are reported to the
 * reader.
 */
#include "daemon/conf/conf_value.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"
#include "base/file.h"
#include "base/nearest.h"
#include "daemon/conf/conf_env.h"
#include "daemon/conf/conf_number.h"
#include "daemon/conf/conf_text.h"

/* ---- one value ---- */

/* The text of a scalar with environment variables expanded; the caller frees it. NULL after
 * reporting an error. */
static char *read_scalar_text(struct conf_reader *reader, const struct yaml_node *node)
{
    struct inf_error err = {0};
    struct yaml_node expanded = *node;
    struct buf text = {0};
    if (node->kind != YAML_SCALAR) {
        conf_reader_error(reader, node, "must be a single value, not a %s",
                          node->kind == YAML_SEQUENCE ? "list" : "mapping");
        return NULL;
    }
    if (conf_env_expand(node->text, &text, &err) < 0)
        goto refused;
    expanded.text = text.bytes;
    if (yaml_is_null(&expanded) || !text.bytes[0]) {
        err_set(&err, INF_ECONF, "has no value; set one or remove the key");
        goto refused;
    }
    return text.bytes;
refused:
    conf_reader_error(reader, node, "%s", err.text);
    buf_free(&text);
    return NULL;
}

static void read_text(struct conf_reader *reader, enum conf_type type, const struct yaml_node *node,
                      char *text, char **member)
{
    struct inf_error err = {0};
    bool is_file = type == CONF_FILE || (type == CONF_LOG_FILE && strcmp(text, "stdout") != 0);
    if (conf_text_check(type, text, &err) < 0)
        conf_reader_error(reader, node, "%s", err.text);
    free(*member);
    *member = is_file ? path_beside(node->file, text) : xstrdup(text);
}

static void read_number(struct conf_reader *reader, const struct conf_option *option,
                        const struct yaml_node *node, const char *text, uint64_t *member)
{
    struct inf_error err = {0};
    if (conf_number_read(option, text, member, &err) < 0)
        conf_reader_error(reader, node, "%s", err.text);
}

static void read_bool(struct conf_reader *reader, const struct yaml_node *node, char *text,
                      bool *member)
{
    struct yaml_node expanded = *node;
    char *shown;
    expanded.text = text;
    expanded.plain = true; /* a value with a variable may need quotes in the file */
    if (yaml_bool(&expanded, member) == 0)
        return;
    shown = conf_show(text);
    conf_reader_error(reader, node, "%s is neither true nor false", shown);
    free(shown);
}

static void report_unknown_word(struct conf_reader *reader, const struct conf_option *option,
                                const struct yaml_node *node, const char *text)
{
    struct nearest nearest = {0};
    struct buf all = {0};
    char *shown;
    if (conf_reader_is_full(reader))
        return;
    shown = conf_show(text);
    for (const char *const *word = option->words; *word; word++) {
        nearest_try(&nearest, text, *word);
        buf_printf(&all, "%s%s", word == option->words ? "" : ", ", *word);
    }
    if (nearest.word)
        conf_reader_error(reader, node, "unknown value %s; did you mean '%s'?", shown,
                          nearest.word);
    else
        conf_reader_error(reader, node, "unknown value %s; valid values: %.*s", shown, (int)all.len,
                          all.bytes);
    buf_free(&all);
    free(shown);
}

/* The index of @text in the words of @option; -1 after reporting an error. */
static int read_word(struct conf_reader *reader, const struct conf_option *option,
                     const struct yaml_node *node, const char *text)
{
    for (int i = 0; option->words[i]; i++)
        if (strcmp(option->words[i], text) == 0)
            return i;
    report_unknown_word(reader, option, node, text);
    return -1;
}

static void read_scalar(struct conf_reader *reader, const struct conf_option *option,
                        const struct yaml_node *node, void *member)
{
    char *text = read_scalar_text(reader, node);
    int word;
    if (!text)
        return;
    switch ((unsigned)option->type) {
    case CONF_DURATION:
    case CONF_SIZE:
    case CONF_NUMBER:
    case CONF_MODE: read_number(reader, option, node, text, member); break;
    case CONF_BOOL: read_bool(reader, node, text, member); break;
    case CONF_WORD:
        if ((word = read_word(reader, option, node, text)) >= 0)
            *(unsigned *)member = (unsigned)word;
        break;
    default: read_text(reader, option->type, node, text, member); break;
    }
    free(text);
}

/* ---- lists ---- */

static bool is_list(struct conf_reader *reader, const struct conf_option *option,
                    const struct yaml_node *node)
{
    size_t most = option->max ? option->max : CONF_ENTRIES_MAX;
    const char *example = option->example ? option->example : option->preset;
    if (node->kind != YAML_SEQUENCE)
        conf_reader_error(reader, node, "must be a list, as in %s",
                          strlen(example) > 2 ? example : "[a, b]");
    else if (node->count < option->min)
        conf_reader_error(reader, node, "is an empty list; remove the key to %s",
                          option->preset[0] == '(' ? "select all" : "use the default");
    else if (node->count > most)
        conf_reader_error(reader, node, "has %zu items; the limit is %zu", node->count, most);
    else
        return true;
    return false;
}

static void check_duplicate(struct conf_reader *reader, const struct conf_list *list,
                            const struct yaml_node *node, const char *text)
{
    char *shown = conf_show(text);
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i], text) == 0) {
            conf_reader_error(reader, node, "%s is listed twice", shown);
            break;
        }
    free(shown);
}

/* Appends an item even after an error, so that the n-th item always corresponds to the n-th
 * node. */
static void read_item(struct conf_reader *reader, const struct conf_option *option,
                      const struct yaml_node *node, struct conf_list *list)
{
    char *text = read_scalar_text(reader, node), *item = NULL;
    if (text) {
        read_text(reader, option->of, node, text, &item);
        check_duplicate(reader, list, node, item);
    }
    list->items[list->count++] = item ? item : xstrdup("");
    free(text);
}

static void read_list(struct conf_reader *reader, const struct conf_option *option,
                      const struct yaml_node *node, struct conf_list *list)
{
    size_t n = 0;
    conf_value_free(option, list);
    if (!is_list(reader, option, node))
        return;
    list->items = xcalloc(node->count + 1, sizeof(char *));
    for (const struct yaml_node *item = node->first; item; item = item->next) {
        size_t before = conf_reader_enter_nth(reader, n++);
        read_item(reader, option, item, list);
        conf_reader_leave(reader, before);
    }
}

static void read_words(struct conf_reader *reader, const struct conf_option *option,
                       const struct yaml_node *node, unsigned *bits)
{
    size_t n = 0;
    *bits = 0;
    if (!is_list(reader, option, node))
        return;
    for (const struct yaml_node *item = node->first; item; item = item->next) {
        size_t before = conf_reader_enter_nth(reader, n++);
        char *text = read_scalar_text(reader, item);
        int word = text ? read_word(reader, option, item, text) : -1;
        if (word >= 0 && *bits & 1u << word)
            conf_reader_error(reader, item, "'%s' is listed twice", text);
        *bits |= word >= 0 ? 1u << word : 0;
        conf_reader_leave(reader, before);
        free(text);
    }
}

/* ---- indexes ---- */

static void check_index_name(struct conf_reader *reader, const struct yaml_node *map,
                             const struct yaml_node *node)
{
    const char *name = node->key->text;
    if (yaml_get(map, name) != node)
        conf_reader_error(reader, node->key, "is a duplicate name");
    else if (strcmp(name, "namespace") == 0)
        conf_reader_error(reader, node->key, "is a built-in index; use another name");
}

/* Enters the index in the path only if its name is valid. */
static size_t enter_index(struct conf_reader *reader, const struct yaml_node *node)
{
    struct inf_error err = {0};
    if (conf_text_check(CONF_NAME, node->key->text, &err) == 0)
        return conf_reader_enter(reader, node->key->text);
    conf_reader_error(reader, node->key, "%s", err.text);
    return reader->path.len;
}

static void read_index(struct conf_reader *reader, const struct yaml_node *map,
                       const struct yaml_node *node, struct inf_index *ret)
{
    size_t before = enter_index(reader, node);
    char *text = read_scalar_text(reader, node), *path = NULL;
    check_index_name(reader, map, node);
    if (text)
        read_text(reader, CONF_FIELD_PATH, node, text, &path);
    *ret = (struct inf_index){xstrdup(node->key->text), path ? path : xstrdup("")};
    conf_reader_leave(reader, before);
    free(text);
}

static void read_indexes(struct conf_reader *reader, const struct conf_option *option,
                         const struct yaml_node *node, struct conf_indexes *indexes)
{
    conf_value_free(option, indexes);
    if (node->kind != YAML_MAPPING) {
        conf_reader_error(reader, node, "must be a mapping, as in {node: spec.nodeName}");
        return;
    }
    if (node->count > option->max) {
        conf_reader_error(reader, node, "has %zu indexes; the limit is %zu", node->count,
                          (size_t)option->max);
        return;
    }
    if (node->count)
        indexes->items = xcalloc(node->count, sizeof(*indexes->items));
    for (const struct yaml_node *n = node->first; n; n = n->next)
        read_index(reader, node, n, &indexes->items[indexes->count++]);
}

/* ---- by type ---- */

void conf_value_read(struct conf_reader *reader, const struct conf_option *option,
                     const struct yaml_node *node, void *member)
{
    switch ((unsigned)option->type) {
    case CONF_LIST: read_list(reader, option, node, member); break;
    case CONF_WORDS: read_words(reader, option, node, member); break;
    case CONF_INDEXES: read_indexes(reader, option, node, member); break;
    default: read_scalar(reader, option, node, member); break;
    }
}

void conf_value_preset(struct conf_reader *reader, const struct conf_option *option, void *member)
{
    struct yaml_node *node = NULL;
    size_t len;
    if (conf_preset_is_unset(option))
        return;
    len = strlen(option->preset);
    if (strchr("[{", option->preset[0]) && len == 2)
        return; /* empty, like the zeroed member */
    if (yaml_parse("(default)", option->preset, len, &node, NULL) == 0)
        conf_value_read(reader, option, node, member);
    yaml_tree_free(node);
}

static void free_list(struct conf_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->items[i]);
    free(list->items);
    *list = (struct conf_list){0};
}

/* The strings are const for users, but owned by the configuration. */
static void free_indexes(struct conf_indexes *indexes)
{
    for (size_t i = 0; i < indexes->count; i++) {
        free((void *)(uintptr_t)indexes->items[i].name);
        free((void *)(uintptr_t)indexes->items[i].path);
    }
    free(indexes->items);
    *indexes = (struct conf_indexes){0};
}

void conf_value_free(const struct conf_option *option, void *member)
{
    switch (option->type) {
    case CONF_TEXT:
    case CONF_FILE:
    case CONF_LOG_FILE:
    case CONF_NAME:
    case CONF_NAMESPACE:
    case CONF_NAMESPACES:
    case CONF_RESOURCE:
    case CONF_LABELS:
    case CONF_FIELDS:
    case CONF_FIELD_PATH:
    case CONF_ADDRESS:
    case CONF_HOST:
    case CONF_PROXY:
        free(*(char **)member);
        *(char **)member = NULL;
        break;
    case CONF_LIST: free_list(member); break;
    case CONF_INDEXES: free_indexes(member); break;
    case CONF_DURATION:
    case CONF_SIZE:
    case CONF_NUMBER:
    case CONF_MODE:
    case CONF_BOOL:
    case CONF_WORD:
    case CONF_WORDS:
    case CONF_TABLE:
    case CONF_ENTRIES:
    case CONF_LATER: break;
    }
}
