/*
 * until_condition.c - translates the syntax of kubectl wait to a condition.
 *
 * Normal path: `condition=` and `jsonpath=` become the text of a condition, which is parsed like any
 * other. Of JSONPath, fields, indexes, [*] and filters by one value ([?(@.type=="Ready")]) are
 * supported; anything else is an error that names the field path to write instead.
 */
#include "daemon/rule/until_condition.h"

#include <string.h>
#include <strings.h>

#include "base/base.h"
#include "base/err.h"
#include "base/text/json_string.h"

/* The value in quotes, so that it may contain any character. */
static void put_value(struct buf *out, const char *value)
{
    json_put_string(out, str_of(value));
}

/* condition=TYPE[=STATUS]. kubectl compares the status without regard to case. */
static void put_status_condition(struct buf *out, const char *text)
{
    static const char *const statuses[] = {"True", "False", "Unknown"};
    size_t len = strcspn(text, "=");
    const char *status = text[len] ? text + len + 1 : "True";
    for (size_t i = 0; i < ARRAY_LEN(statuses); i++)
        if (strcasecmp(statuses[i], status) == 0)
            status = statuses[i];
    buf_printf(out, "status.conditions[type=%.*s].status=", (int)len, text);
    put_value(out, status);
}

/* One step of a JSONPath. Returns its length, or 0 if it is not supported. */
static size_t put_step(struct buf *out, const char *step, bool first)
{
    size_t len;
    if (step[0] == '.' && step[1] != '.') {
        len = 1 + strcspn(step + 1, ".[}");
        buf_printf(out, "%s%.*s", first ? "" : ".", (int)len - 1, step + 1);
        return len > 1 ? len : 0;
    }
    if (strncmp(step, "[?(@.", 5) == 0) {
        const char *key = step + 5, *equals = strstr(key, "=="), *end = strstr(key, ")]");
        const char *value = equals ? equals + 2 : NULL;
        if (!value || !end || end < value + 2 || !strchr("\"'", value[0]) || end[-1] != value[0])
            return 0;
        buf_printf(out, "[%.*s=%.*s]", (int)(equals - key), key, (int)(end - value) - 2, value + 1);
        return (size_t)(end - step) + 2;
    }
    len = strspn(step, "[0123456789*]");
    buf_put(out, step, len);
    return len;
}

/* jsonpath={.status.phase}=Running, or without a value. Quotes around the braces are allowed. */
static int put_jsonpath(struct buf *out, const char *text, struct inf_error *err)
{
    const char *at = text, *end;
    bool first = true;
    char quote = *at == '\'' || *at == '"' ? *at++ : '\0';
    end = at[0] == '{' ? strchr(at, '}') : NULL;
    if (!end)
        return err_set(err, INF_EINVAL,
                       "'%s' is not a JSONPath; write it like {.status.phase}=Running", text);
    for (at++; at < end; first = false) {
        size_t len = put_step(out, at, first);
        if (!len || at + len > end)
            return err_set(
                err, INF_EINVAL,
                "'%s': this JSONPath is not supported; write a condition on a field path, "
                "like status.phase=Running",
                text);
        at += len;
    }
    at = end + 1;
    at += quote && *at == quote;
    if (*at && *at != '=')
        return err_set(err, INF_EINVAL, "'%s': expected '=' after '}'", text);
    buf_puts(out, *at ? "=" : "!=");
    put_value(out, *at ? at + 1 : "");
    return 0;
}

int until_condition_parse(const char *text, struct until_condition *ret, struct inf_error *err)
{
    struct until_condition until = {.kind = UNTIL_HOLDS};
    struct buf translated = {0};
    int rc = 0;
    if (strcmp(text, "delete") == 0)
        until.kind = UNTIL_DELETED;
    else if (strcmp(text, "create") == 0)
        until.kind = UNTIL_CREATED;
    else if (strncmp(text, "condition=", strlen("condition=")) == 0)
        put_status_condition(&translated, text + strlen("condition="));
    else if (strncmp(text, "jsonpath=", strlen("jsonpath=")) == 0)
        rc = put_jsonpath(&translated, text + strlen("jsonpath="), err);
    else
        buf_puts(&translated, text);
    buf_putc(&translated, '\0');
    if (rc == 0 && until.kind == UNTIL_HOLDS) {
        until.condition = condition_parse(translated.bytes, err);
        rc = until.condition ? 0 : -INF_EINVAL;
    }
    buf_free(&translated);
    if (rc == 0)
        *ret = until;
    return rc;
}

void until_condition_free(struct until_condition *until)
{
    condition_free(until->condition);
    *until = (struct until_condition){.kind = UNTIL_HOLDS};
}
