/*
 * conf_type_number.c - the number types: durations (30s), sizes (16K), numbers and permissions.
 *
 * A number is digits and a unit from a table. Overflow, unknown units and values outside the limits
 * of the option are errors.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/conf/conf.h"
#include "daemon/conf/conf_table.h"

/* Returns false unless @text is digits and a unit, and fits in 64 bits. */
static bool number_parse(const struct conf_number_format *format, const char *text, uint64_t *ret)
{
    size_t len = strspn(text, "0123456789");
    const struct conf_unit *unit = format->units;
    uint64_t count = 0;
    if (!len)
        return false;
    for (size_t i = 0; i < len; i++) {
        unsigned digit = (unsigned)(text[i] - '0');
        if (digit >= format->base || __builtin_mul_overflow(count, format->base, &count) ||
            __builtin_add_overflow(count, digit, &count))
            return false;
    }
    while (unit->name && strcmp(unit->name, text + len) != 0)
        unit++;
    return unit->name && !__builtin_mul_overflow(count, unit->size, ret);
}

/* Appends the shortest spelling of @value that parses to the same number. */
static void number_format(const struct conf_number_format *format, uint64_t value, struct buf *out)
{
    const struct conf_unit *unit = format->units;
    while (value % unit->size)
        unit++;
    if (format->base == 8)
        buf_printf(out, "%04" PRIo64, value);
    else if (value)
        buf_printf(out, "%" PRIu64 "%s", value / unit->size, unit->name);
    else
        buf_puts(out, format->zero);
}

bool conf_number_parse(const struct conf_type *type, const char *text, uint64_t *ret)
{
    return number_parse(type->number, text, ret);
}

static void number_read(struct conf_reader *reader, const struct conf_option *option,
                        const struct yaml_node *node, void *member)
{
    const struct conf_number_format *format = option->type->number;
    uint64_t max = option->max ? option->max : format->max, value;
    char *text = conf_scalar_read(reader, node), *shown;
    if (!text)
        return;
    shown = conf_show(text);
    if (!number_parse(format, text, &value)) {
        conf_reader_error(reader, node, "%s is not %s", shown, format->form);
    } else if (value < option->min || value > max) {
        struct buf range = {0};
        number_format(format, option->min, &range);
        buf_puts(&range, " to ");
        number_format(format, max, &range);
        conf_reader_error(reader, node, "%s is out of range (%.*s)", shown, (int)range.len,
                          range.bytes);
        buf_free(&range);
    } else {
        *(uint64_t *)member = value;
    }
    free(shown);
    free(text);
}

static void number_write(const struct conf_option *option, const void *member, struct buf *out)
{
    number_format(option->type->number, *(const uint64_t *)member, out);
}

static bool number_equal(const struct conf_option *option, const void *a, const void *b)
{
    (void)option;
    return *(const uint64_t *)a == *(const uint64_t *)b;
}

/* ---- ranges ---- */

/* The limits of the option apply to both ends. */
static bool range_is_valid(const struct conf_option *option,
                           const struct conf_duration_range *range)
{
    return range->min_ms >= option->min && range->min_ms <= range->max_ms &&
           range->max_ms <= option->max;
}

static void range_read(struct conf_reader *reader, const struct conf_option *option,
                       const struct yaml_node *node, void *member)
{
    const struct conf_number_format *format = option->type->number;
    char *text = conf_scalar_read(reader, node), *dots = text ? strstr(text, "..") : NULL, *shown;
    struct conf_duration_range range;
    bool is_range;
    if (!text)
        return;
    shown = conf_show(text);
    if (dots)
        *dots = '\0';
    is_range = dots && number_parse(format, text, &range.min_ms) &&
               number_parse(format, dots + 2, &range.max_ms);
    if (!is_range) {
        conf_reader_error(reader, node, "%s is not %s", shown, format->form);
    } else if (!range_is_valid(option, &range)) {
        struct buf limits = {0};
        number_format(format, option->min, &limits);
        buf_puts(&limits, " to ");
        number_format(format, option->max, &limits);
        conf_reader_error(reader, node, "%s is out of range (%.*s, the smaller one first)", shown,
                          (int)limits.len, limits.bytes);
        buf_free(&limits);
    } else {
        *(struct conf_duration_range *)member = range;
    }
    free(shown);
    free(text);
}

static void range_write(const struct conf_option *option, const void *member, struct buf *out)
{
    const struct conf_duration_range *range = member;
    number_format(option->type->number, range->min_ms, out);
    buf_puts(out, "..");
    number_format(option->type->number, range->max_ms, out);
}

static bool range_equal(const struct conf_option *option, const void *a, const void *b)
{
    const struct conf_duration_range *x = a, *y = b;
    (void)option;
    return x->min_ms == y->min_ms && x->max_ms == y->max_ms;
}

/* In quotes: other YAML parsers would read a decimal number. */
static void mode_write(const struct conf_option *option, const void *member, struct buf *out)
{
    buf_putc(out, '"');
    number_write(option, member, out);
    buf_putc(out, '"');
}

/* ---- the types ---- */

static const struct conf_unit durations[] = {
    {"h", 3600 * 1000}, {"m", 60 * 1000}, {"s", 1000}, {"ms", 1}, {NULL, 0}};
static const struct conf_unit sizes[] = {
    {"G", 1024 * 1024 * 1024}, {"M", 1024 * 1024}, {"K", 1024}, {"", 1}, {NULL, 0}};
static const struct conf_unit rates[] = {{"/s", 60}, {"/m", 1}, {NULL, 0}};
static const struct conf_unit ones[] = {{"", 1}, {NULL, 0}};

#define NUMBER_TYPE .read = number_read, .write = number_write, .equal = number_equal

const struct conf_type conf_type_duration = {
    NUMBER_TYPE,
    .form = "duration",
    .number = &(const struct conf_number_format){"a duration; write it like 30s, 5m or 500ms", 10,
                                                 INT64_MAX, durations, "0s"},
};

const struct conf_type conf_type_duration_range = {
    .read = range_read,
    .write = range_write,
    .equal = range_equal,
    .form = "range of durations",
    .number = &(const struct conf_number_format){"a range of durations; write it like 1s..5m", 10,
                                                 INT64_MAX, durations, "0s"},
};

const struct conf_type conf_type_rate = {
    NUMBER_TYPE,
    .form = "rate",
    .number = &(const struct conf_number_format){"a rate; write it like 50/s or 30/m", 10,
                                                 60 * 1000 * 1000, rates, "0/s"},
};

const struct conf_type conf_type_size = {
    NUMBER_TYPE,
    .form = "size",
    .number = &(const struct conf_number_format){"a size; write it like 64K or 16M", 10, INT64_MAX,
                                                 sizes, "0"},
};

const struct conf_type conf_type_number = {
    NUMBER_TYPE,
    .form = "number",
    .number = &(const struct conf_number_format){"a number; write it in digits", 10, INT64_MAX,
                                                 ones, "0"},
};

const struct conf_type conf_type_mode = {
    .read = number_read,
    .write = mode_write,
    .equal = number_equal,
    .form = "octal number",
    .number =
        &(const struct conf_number_format){"a set of permissions; write it in octal, like \"0660\"",
                                           8, 0777, ones, "0000"},
};
