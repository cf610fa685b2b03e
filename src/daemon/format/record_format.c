/*
 * record_format.c - finds formats by the names in RECORD_FORMATS, and makes and frees their state.
 */
#include "daemon/format/record_format.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"
#include "base/text/nearest.h"

enum {
    NAME_SHOWN = 64, /* bytes of an unknown name in a message */
};

#define ENTRY(format, name) {name, &(format)},

static const struct {
    const char *name;
    const struct record_format *format;
} formats[] = {RECORD_FORMATS(ENTRY)};

void record_format_put_names(struct buf *out)
{
    for (size_t i = 0; i < ARRAY_LEN(formats); i++) {
        buf_printf(out, "%s%s", i ? ", " : "", formats[i].name);
        if (formats[i].format->argument)
            buf_printf(out, "=%s", formats[i].format->argument);
    }
}

static int unknown_format(struct str name, struct inf_error *err)
{
    struct nearest nearest = {0};
    struct buf names = {0};
    char *text = xstrndup(name.at, name.len < NAME_SHOWN ? name.len : NAME_SHOWN);
    int rc;
    for (size_t i = 0; i < ARRAY_LEN(formats); i++)
        nearest_try(&nearest, text, formats[i].name);
    record_format_put_names(&names);
    if (nearest.word)
        rc =
            err_set(err, INF_EINVAL, "unknown format '%s'; did you mean '%s'?", text, nearest.word);
    else
        rc = err_set(err, INF_EINVAL, "unknown format '%s'; valid formats: %.*s", text,
                     (int)names.len, names.bytes);
    buf_free(&names);
    free(text);
    return rc;
}

int record_format_find(const char *text, const struct record_format **ret,
                       const char **ret_argument, struct inf_error *err)
{
    struct str name = {text, strcspn(text, "=")};
    const char *argument = text[name.len] ? text + name.len + 1 : NULL;
    for (size_t i = 0; i < ARRAY_LEN(formats); i++) {
        const char *takes = formats[i].format->argument;
        if (!str_eq(name, str_of(formats[i].name)))
            continue;
        if (takes && !(argument && *argument))
            return err_set(err, INF_EINVAL, "format '%s' needs an argument: %s=%s", formats[i].name,
                           formats[i].name, takes);
        if (!takes && argument)
            return err_set(err, INF_EINVAL, "format '%s' takes no argument", formats[i].name);
        *ret = formats[i].format;
        *ret_argument = argument;
        return 0;
    }
    return unknown_format(name, err);
}

int record_format_prepare(const struct record_format *format, const char *argument,
                          void **ret_state, struct inf_error *err)
{
    void *state = format->prepare ? format->prepare(argument, err) : NULL;
    if (format->prepare && !state)
        return -INF_EINVAL;
    *ret_state = state;
    return 0;
}

void record_format_release(const struct record_format *format, void *state)
{
    if (state)
        format->release(state);
}

int record_format_check(const char *text, struct inf_error *err)
{
    const struct record_format *format;
    const char *argument;
    void *state;
    if (record_format_find(text, &format, &argument, err) < 0 ||
        record_format_prepare(format, argument, &state, err) < 0)
        return -INF_EINVAL;
    record_format_release(format, state);
    return 0;
}
