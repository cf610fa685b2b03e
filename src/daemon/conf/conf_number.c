/*
 * conf_number.c - parses and formats numbers: digits and a unit from a table. Overflow and unknown
 * units are errors.
 */
#include "daemon/conf/conf_number.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/err.h"
#include "daemon/conf/conf_error.h"

struct unit {
    const char *name;
    uint64_t size;
};

/* Largest first: the first unit that divides a value gives the shortest spelling. */
static const struct unit durations[] = {
    {"h", 3600 * 1000}, {"m", 60 * 1000}, {"s", 1000}, {"ms", 1}, {NULL, 0}};
static const struct unit sizes[] = {
    {"G", 1024 * 1024 * 1024}, {"M", 1024 * 1024}, {"K", 1024}, {"", 1}, {NULL, 0}};
static const struct unit ones[] = {{"", 1}, {NULL, 0}};

struct kind {
    const char *is; /* "'ten' is not ..." */
    int base;
    const struct unit *units;
    const char *zero; /* spelling of 0; NULL: as any other value */
};

static const struct kind kind_duration = {"a duration; write it like 30s, 5m or 500ms", 10,
                                          durations, "0s"};
static const struct kind kind_size = {"a size; write it like 64K or 16M", 10, sizes, "0"};
static const struct kind kind_number = {"a number; write it in digits", 10, ones, "0"};
static const struct kind kind_mode = {"a set of permissions; write it in octal, like \"0660\"", 8,
                                      ones, NULL};

static const struct kind *kind_of(enum conf_type type)
{
    switch ((unsigned)type) {
    case CONF_DURATION: return &kind_duration;
    case CONF_SIZE: return &kind_size;
    case CONF_MODE: return &kind_mode;
    default: return &kind_number;
    }
}

static bool parse_number(const struct kind *kind, const char *text, uint64_t *ret)
{
    static const char digits[] = "0123456789";
    size_t len = strspn(text, digits);
    const struct unit *unit = kind->units;
    uint64_t count = 0;
    if (!len)
        return false;
    for (size_t i = 0; i < len; i++)
        if (text[i] - '0' >= kind->base ||
            __builtin_mul_overflow(count, (uint64_t)kind->base, &count) ||
            __builtin_add_overflow(count, (uint64_t)(text[i] - '0'), &count))
            return false;
    while (unit->name && strcmp(unit->name, text + len) != 0)
        unit++;
    return unit->name && !__builtin_mul_overflow(count, unit->size, ret);
}

/* The maximum of the option, or that of its type. */
static uint64_t max_value(const struct conf_option *option)
{
    if (option->max)
        return option->max;
    return option->type == CONF_MODE ? 0777 : INT64_MAX;
}

static int out_of_range(const struct conf_option *option, const char *text, struct inf_error *err)
{
    struct buf range = {0};
    char *shown = conf_show(text);
    int rc;
    conf_number_write(option->type, option->min, &range);
    buf_puts(&range, " to ");
    conf_number_write(option->type, max_value(option), &range);
    rc = err_set(err, INF_ECONF, "%s is out of range (%.*s)", shown, (int)range.len, range.bytes);
    free(shown);
    buf_free(&range);
    return rc;
}

int conf_number_read(const struct conf_option *option, const char *text, uint64_t *ret,
                     struct inf_error *err)
{
    const struct kind *kind = kind_of(option->type);
    uint64_t value;
    if (!parse_number(kind, text, &value)) {
        char *shown = conf_show(text);
        int rc = err_set(err, INF_ECONF, "%s is not %s", shown, kind->is);
        free(shown);
        return rc;
    }
    if (value < option->min || value > max_value(option))
        return out_of_range(option, text, err);
    *ret = value;
    return 0;
}

void conf_number_write(enum conf_type type, uint64_t value, struct buf *out)
{
    const struct kind *kind = kind_of(type);
    const struct unit *unit = kind->units;
    if (type == CONF_MODE) {
        buf_printf(out, "%04" PRIo64, value);
        return;
    }
    while (value % unit->size)
        unit++;
    if (value)
        buf_printf(out, "%" PRIu64 "%s", value / unit->size, unit->name);
    else
        buf_puts(out, kind->zero);
}
