/*
 * ctl_json.c - members of JSON objects, and errors of informerd as messages.
 *
 * Missing members read as empty values: an answer of another version of informerd may lack some.
 */
#include "ctl/ctl_json.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/text/utf8.h"

const struct json_node *ctl_json_get(const struct json_node *node, const char *key)
{
    if (!node || node->type != JSON_OBJECT)
        return NULL;
    for (const struct json_node *m = node->first; m; m = m->next)
        if (str_eq(m->key, str_of(key)))
            return m;
    return NULL;
}

char *ctl_json_text(const struct json_node *node, const char *key)
{
    const struct json_node *member = ctl_json_get(node, key);
    struct buf text = {0};
    if (member && member->type == JSON_STRING)
        json_put_decoded(&text, member->text);
    else if (member)
        buf_put(&text, member->text.at, member->text.len);
    buf_putc(&text, '\0');
    return text.bytes;
}

uint64_t ctl_json_number(const struct json_node *node, const char *key)
{
    char *text = ctl_json_text(node, key);
    uint64_t number = strtoull(text, NULL, 10);
    free(text);
    return number;
}

bool ctl_json_is(const struct json_node *node, const char *key, const char *text)
{
    const struct json_node *member = ctl_json_get(node, key);
    return member && member->type == JSON_STRING && str_eq(member->text, str_of(text));
}

static int code_of(int status)
{
    switch (status) {
    case 400: return INF_EINVAL;
    case 401: return INF_EUNAUTHORIZED;
    case 403: return INF_EFORBIDDEN;
    case 404: return INF_ENOTFOUND;
    default: return INF_ESERVER;
    }
}

int ctl_json_error(int status, struct str body, struct inf_error *err)
{
    struct arena arena = {0};
    const struct json_node *tree = json_tree_make(&arena, body);
    char *message = ctl_json_text(tree, "message"), *reason = ctl_json_text(tree, "reason");
    struct buf shown = {0};
    if (!message[0]) { /* informerd answers with a Status */
        free(message);
        message = xasprintf("informerd answered with status %d%s", status,
                            status == 404 ? ": it is too old for this informerctl, or this is "
                                            "another program; compare 'informerctl version' with "
                                            "'informerd --version'"
                                          : "");
    }
    utf8_put_visible(&shown, str_of(message));
    if (reason[0])
        err_set(err, code_of(status), "Error from server (%s): %.*s", reason, (int)shown.len,
                shown.bytes);
    else
        err_set(err, code_of(status), "%.*s", (int)shown.len, shown.bytes);
    buf_free(&shown);
    free(message);
    free(reason);
    arena_free(&arena);
    return -err->code;
}
