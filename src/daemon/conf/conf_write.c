/*
 * conf_write.c - writes a value as YAML that reads as the same value, with one exception: the login
 * in the URL of a proxy is hidden.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/json_string.h"
#include "daemon/conf/conf_number.h"
#include "daemon/conf/conf_value.h"

bool conf_value_is_set(const struct conf_option *option, const void *member)
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
    case CONF_PROXY: return *(char *const *)member != NULL;
    case CONF_LIST:
        return ((const struct conf_list *)member)->count > 0 || !conf_preset_is_unset(option);
    case CONF_DURATION:
    case CONF_SIZE:
    case CONF_NUMBER:
    case CONF_MODE:
    case CONF_BOOL:
    case CONF_WORD:
    case CONF_WORDS:
    case CONF_INDEXES:
    case CONF_TABLE:
    case CONF_ENTRIES: return true;
    case CONF_LATER: break;
    }
    return false;
}

/* Whether @text needs no quotes, also inside a list, and is not a YAML null. */
static bool is_plain(const char *text)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-";
    struct yaml_node node = {.kind = YAML_SCALAR, .plain = true};
    char *copy;
    bool plain;
    if (strspn(text, letters) != strlen(text) || text[0] == '-')
        return false;
    copy = node.text = xstrdup(text);
    plain = !yaml_is_null(&node);
    free(copy);
    return plain;
}

/* A JSON string is a valid YAML scalar. Dollar signs are doubled, as they could start a
 * reference. */
static void write_text(const char *text, struct buf *out)
{
    struct buf doubled = {0};
    if (is_plain(text)) {
        buf_puts(out, text);
        return;
    }
    for (; *text; text++)
        buf_puts(&doubled, *text == '$' ? "$$" : (char[]){*text, '\0'});
    json_put_string(out, (struct str){doubled.bytes, doubled.len});
    buf_free(&doubled);
}

static void write_list(const struct conf_list *list, struct buf *out)
{
    buf_putc(out, '[');
    for (size_t i = 0; i < list->count; i++) {
        buf_puts(out, i ? ", " : "");
        write_text(list->items[i], out);
    }
    buf_putc(out, ']');
}

static void write_words(const struct conf_option *option, unsigned bits, struct buf *out)
{
    const char *comma = "";
    buf_putc(out, '[');
    for (size_t i = 0; option->words[i]; i++)
        if (bits & 1u << i) {
            buf_printf(out, "%s%s", comma, option->words[i]);
            comma = ", ";
        }
    buf_putc(out, ']');
}

static void write_indexes(const struct conf_indexes *indexes, struct buf *out)
{
    buf_putc(out, '{');
    for (size_t i = 0; i < indexes->count; i++) {
        buf_puts(out, i ? ", " : "");
        write_text(indexes->items[i].name, out);
        buf_puts(out, ": ");
        write_text(indexes->items[i].path, out);
    }
    buf_putc(out, '}');
}

static void write_mode(uint64_t mode, struct buf *out)
{
    buf_putc(out, '"'); /* other YAML parsers would read a number */
    conf_number_write(CONF_MODE, mode, out);
    buf_putc(out, '"');
}

/* Hides the login, so the value does not read as the same. */
static void write_proxy(const char *url, struct buf *out)
{
    const char *login = strstr(url, "://"), *at = strrchr(url, '@');
    char *shown = login && at ? xasprintf("%.*s***%s", (int)(login + 3 - url), url, at) : NULL;
    write_text(shown ? shown : url, out);
    free(shown);
}

void conf_value_write(const struct conf_option *option, const void *member, struct buf *out)
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
    case CONF_HOST: write_text(*(char *const *)member, out); break;
    case CONF_PROXY: write_proxy(*(char *const *)member, out); break;
    case CONF_DURATION:
    case CONF_SIZE:
    case CONF_NUMBER: conf_number_write(option->type, *(const uint64_t *)member, out); break;
    case CONF_MODE: write_mode(*(const uint64_t *)member, out); break;
    case CONF_BOOL: buf_puts(out, *(const bool *)member ? "true" : "false"); break;
    case CONF_WORD: buf_puts(out, option->words[*(const unsigned *)member]); break;
    case CONF_WORDS: write_words(option, *(const unsigned *)member, out); break;
    case CONF_LIST: write_list(member, out); break;
    case CONF_INDEXES: write_indexes(member, out); break;
    case CONF_TABLE:
    case CONF_ENTRIES:
    case CONF_LATER: break;
    }
}
