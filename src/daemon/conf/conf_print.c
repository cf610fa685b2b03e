/*
 * conf_print.c - --print-config: prints all effective values, each with its origin in a comment.
 * Unset options are printed as comments with the meaning of their default.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "daemon/conf/conf_env.h"
#include "daemon/conf/conf_read.h"

enum {
    COMMENT_AT = 40, /* column of the comments, if the line is shorter */
};

/* State for printing a struct, one line per option: "  - name: value   # origin". */
struct printer {
    struct buf *out;
    const struct conf *conf;
    int indent;
    bool first; /* the next line starts an entry of a list */
};

/* ---- origins ---- */

/* Path relative to the main file: "informerd.conf", "conf.d/10-more.conf". */
static const char *short_name(const struct conf *conf, const char *file)
{
    const char *slash = strrchr(conf->files[0]->file, '/');
    size_t dir = slash ? (size_t)(slash - conf->files[0]->file) + 1 : 0;
    return file + dir;
}

static void collect_names(const struct yaml_node *node, struct buf *names)
{
    if (node->kind == YAML_SCALAR)
        conf_env_names(node->text, names);
    for (const struct yaml_node *child = node->first; child; child = child->next)
        collect_names(child, names);
}

static void put_origin(const struct printer *p, const struct conf_origin *origin)
{
    const struct yaml_node *node = origin->node;
    struct buf names = {0};
    if (!node) {
        buf_printf(p->out, "default%s%s", origin->env ? ", from $" : "",
                   origin->env ? origin->env : "");
        return;
    }
    buf_printf(p->out, "%s:%zu", short_name(p->conf, node->file), node->key->line);
    collect_names(node, &names);
    if (names.len)
        buf_printf(p->out, ", from %.*s", (int)names.len, names.bytes);
    if (origin->over)
        buf_printf(p->out, ", instead of %s:%zu", short_name(p->conf, origin->over->file),
                   origin->over->key->line);
    buf_free(&names);
}

/* ---- lines ---- */

static size_t begin_line(struct printer *p, const char *before)
{
    size_t begin = p->out->len;
    buf_printf(p->out, "%*s%s%s", p->indent, "", p->first ? "- " : "", before);
    if (p->first)
        p->indent += 2;
    p->first = false;
    return begin;
}

static void put_comment_mark(struct printer *p, size_t begin)
{
    size_t len = p->out->len - begin;
    buf_printf(p->out, "%*s  # ", len < COMMENT_AT ? (int)(COMMENT_AT - len) : 0, "");
}

static void print_value(struct printer *p, const struct conf_option *option, const void *base,
                        const struct conf_origin *origin)
{
    const void *member = conf_member(option, base);
    bool set = conf_value_is_set(option, member);
    size_t begin = begin_line(p, set ? "" : "#");
    buf_printf(p->out, "%s:", option->name);
    if (set) {
        buf_putc(p->out, ' ');
        option->type->write(option, member, p->out);
    }
    put_comment_mark(p, begin);
    if (set)
        put_origin(p, origin);
    else
        buf_printf(p->out, "default: %.*s", (int)strlen(option->preset) - 2, option->preset + 1);
    buf_putc(p->out, '\n');
}

/* Whether no option of a table is set. Its key is then commented out too. */
static bool is_empty(const struct conf_table *table, const void *base)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct conf_option *option = &table->options[i];
        if (option->table || conf_value_is_set(option, conf_member(option, base)))
            return false;
    }
    return true;
}

static void print_struct(struct printer *p, const struct conf_table *table, const void *base);

static void print_nested(struct printer *p, const struct conf_option *option, const void *base)
{
    const void *member = conf_member(option, base);
    struct printer nested = *p;
    begin_line(p, is_empty(option->table, member) ? "#" : "");
    buf_printf(p->out, "%s:\n", option->name);
    nested.indent = p->indent + 2;
    nested.first = false;
    print_struct(&nested, option->table, member);
}

static void print_entries(struct printer *p, const struct conf_option *option, const void *base,
                          const struct conf_origin *origin)
{
    size_t count = conf_entry_count(option, base), begin = begin_line(p, "");
    buf_printf(p->out, "%s:", option->name);
    if (!count) {
        buf_puts(p->out, " []");
        put_comment_mark(p, begin);
        put_origin(p, origin);
    }
    buf_putc(p->out, '\n');
    for (size_t i = 0; i < count; i++) {
        struct printer entry = {p->out, p->conf, p->indent + 2, true};
        print_struct(&entry, option->table, conf_entry(option, base, i));
    }
}

static void print_struct(struct printer *p, const struct conf_table *table, const void *base)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct conf_option *option = &table->options[i];
        const struct conf_origin *origin = conf_origin_of(table, option, base);
        if (!option->table)
            print_value(p, option, base, origin);
        else if (!option->count)
            print_nested(p, option, base);
        else
            print_entries(p, option, base, origin);
    }
}

void conf_print(const struct conf *conf, struct buf *out)
{
    struct printer p = {.out = out, .conf = conf};
    print_struct(&p, &conf_table, conf);
}
