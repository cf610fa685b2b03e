/*
 * conf_type_choice.c - the types with a fixed set of values: true or false, one of the choices of
 * an option, or a list of them. An unknown value is an error that suggests the most similar choice
 * or lists all.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text/nearest.h"
#include "daemon/conf/conf_table.h"

/* ---- bool ---- */

static void bool_read(struct conf_reader *reader, const struct conf_option *option,
                      const struct yaml_node *node, void *member)
{
    struct yaml_node expanded = *node;
    char *text = conf_scalar_read(reader, node), *shown;
    (void)option;
    expanded.text = text;
    expanded.plain = true; /* a value with a variable may need quotes in the file */
    if (text && yaml_bool(&expanded, member) < 0) {
        shown = conf_show(text);
        conf_reader_error(reader, node, "%s is neither true nor false", shown);
        free(shown);
    }
    free(text);
}

static void bool_write(const struct conf_option *option, const void *member, struct buf *out)
{
    (void)option;
    buf_puts(out, *(const bool *)member ? "true" : "false");
}

static bool bool_equal(const struct conf_option *option, const void *a, const void *b)
{
    (void)option;
    return *(const bool *)a == *(const bool *)b;
}

const struct conf_type conf_type_bool = {
    .form = "true or false",
    .read = bool_read,
    .write = bool_write,
    .equal = bool_equal,
};

/* ---- one choice ---- */

static void report_unknown_choice(struct conf_reader *reader, const struct conf_option *option,
                                  const struct yaml_node *node, const char *text)
{
    struct nearest nearest = {0};
    struct buf all = {0};
    char *shown;
    if (conf_reader_is_full(reader))
        return;
    shown = conf_show(text);
    for (const char *const *choice = option->choices; *choice; choice++)
        nearest_try(&nearest, text, *choice);
    if (nearest.word) {
        conf_reader_error(reader, node, "unknown value %s; did you mean '%s'?", shown,
                          nearest.word);
    } else {
        conf_choices_write(option, ~0u, &all);
        conf_reader_error(reader, node, "unknown value %s; valid values: %.*s", shown, (int)all.len,
                          all.bytes);
    }
    buf_free(&all);
    free(shown);
}

/* The index of a scalar in the choices of @option; -1 after reporting an error. */
static int read_choice(struct conf_reader *reader, const struct conf_option *option,
                       const struct yaml_node *node)
{
    char *text = conf_scalar_read(reader, node);
    int found = -1;
    if (!text)
        return -1;
    for (int i = 0; option->choices[i] && found < 0; i++)
        if (strcmp(option->choices[i], text) == 0)
            found = i;
    if (found < 0)
        report_unknown_choice(reader, option, node, text);
    free(text);
    return found;
}

static void choice_read(struct conf_reader *reader, const struct conf_option *option,
                        const struct yaml_node *node, void *member)
{
    int choice = read_choice(reader, option, node);
    if (choice >= 0)
        *(unsigned *)member = (unsigned)choice;
}

static void choice_write(const struct conf_option *option, const void *member, struct buf *out)
{
    buf_puts(out, option->choices[*(const unsigned *)member]);
}

static bool choice_equal(const struct conf_option *option, const void *a, const void *b)
{
    (void)option;
    return *(const unsigned *)a == *(const unsigned *)b;
}

const struct conf_type conf_type_choice = {
    .form = "one of",
    .read = choice_read,
    .write = choice_write,
    .equal = choice_equal,
};

/* ---- a list of choices ---- */

static void choices_read(struct conf_reader *reader, const struct conf_option *option,
                         const struct yaml_node *node, void *member)
{
    unsigned bits = 0;
    size_t n = 0;
    bool valid = conf_list_check(reader, option, node);
    for (const struct yaml_node *item = valid ? node->first : NULL; item; item = item->next) {
        size_t before = conf_reader_enter_nth(reader, n++);
        int choice = read_choice(reader, option, item);
        if (choice >= 0 && bits & 1u << choice)
            conf_reader_error(reader, item, "'%s' is listed twice", option->choices[choice]);
        bits |= choice >= 0 ? 1u << choice : 0;
        conf_reader_leave(reader, before);
    }
    *(unsigned *)member = bits;
}

void conf_choices_write(const struct conf_option *option, unsigned bits, struct buf *out)
{
    const char *comma = "";
    for (size_t i = 0; option->choices[i]; i++)
        if (bits & 1u << i) {
            buf_printf(out, "%s%s", comma, option->choices[i]);
            comma = ", ";
        }
}

static void choices_write(const struct conf_option *option, const void *member, struct buf *out)
{
    buf_putc(out, '[');
    conf_choices_write(option, *(const unsigned *)member, out);
    buf_putc(out, ']');
}

const struct conf_type conf_type_choices = {
    .form = "list of",
    .read = choices_read,
    .write = choices_write,
    .equal = choice_equal,
};
