/*
 * select.c - parses label and field selectors and applies them to objects. Fields other than name
 * and namespace are read from the object's JSON.
 */
#include "select.h"

#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <yyjson.h>

#include "base/alloc.h"
#include "base/base.h"
#include "store.h"

/* Fields that can be selected by, besides metadata.name and metadata.namespace. */
static const struct {
    const char *plural;
    const char *field;
} fields[] = {
    {"pods", "spec.nodeName"},
    {"pods", "spec.restartPolicy"},
    {"pods", "status.phase"},
    {"pods", "status.podIP"},
    {"namespaces", "status.phase"},
    {"nodes", "spec.unschedulable"},
    {"secrets", "type"},
    {"events", "involvedObject.kind"},
    {"events", "involvedObject.name"},
    {"events", "involvedObject.namespace"},
    {"events", "reason"},
    {"events", "type"},
};

static char *trimmed(const char *text, size_t len)
{
    while (len && isspace((unsigned char)*text))
        text++, len--;
    while (len && isspace((unsigned char)text[len - 1]))
        len--;
    return xstrndup(text, len);
}

static struct requirement *add_item(struct selection *s)
{
    s->items = xrealloc(s->items, (s->count + 1) * sizeof(*s->items));
    s->items[s->count] = (struct requirement){0};
    return &s->items[s->count++];
}

static void add_value(struct requirement *q, const char *text, size_t len)
{
    q->values = xrealloc(q->values, (q->count + 1) * sizeof(char *));
    q->values[q->count++] = trimmed(text, len);
}

/* key in (a,b); @open is the parenthesis. */
static bool read_set(struct requirement *q, const char *text, const char *open, size_t len)
{
    const char *end = text + len, *at = open + 1;
    char *left = trimmed(text, (size_t)(open - text)), *space = strrchr(left, ' ');
    bool fine =
        end[-1] == ')' && space && (strcmp(space, " in") == 0 || strcmp(space, " notin") == 0);
    q->negative = fine && strcmp(space, " notin") == 0;
    q->key = fine ? trimmed(left, (size_t)(space - left)) : xstrdup("");
    while (fine && at < end) {
        size_t n = strcspn(at, ",)");
        add_value(q, at, n);
        at += n + 1;
    }
    free(left);
    return fine;
}

/* key=value, key==value, key!=value, key, !key */
static void read_simple(struct requirement *q, const char *text, size_t len)
{
    const char *equals = memchr(text, '=', len), *end = text + len, *value;
    if (!equals) {
        q->negative = text[0] == '!';
        q->exists = true;
        q->key = trimmed(text + q->negative, len - q->negative);
        return;
    }
    q->negative = equals > text && equals[-1] == '!';
    value = equals + (equals + 1 < end && equals[1] == '=' ? 2 : 1);
    q->key = trimmed(text, (size_t)(equals - q->negative - text));
    add_value(q, value, (size_t)(end - value));
}

static bool read_label(struct selection *s, const char *text, size_t len)
{
    char *word = trimmed(text, len);
    const char *open = strchr(word, '(');
    struct requirement *q = add_item(s);
    bool fine = true;
    if (open)
        fine = read_set(q, word, open, strlen(word));
    else
        read_simple(q, word, strlen(word));
    fine = fine && q->key[0] && !strpbrk(q->key, " ,()");
    free(word);
    return fine;
}

/* Up to the next comma that is not in parentheses. */
static size_t word_len(const char *text)
{
    int depth = 0;
    size_t n = 0;
    for (; text[n] && (depth > 0 || text[n] != ','); n++)
        depth += text[n] == '(' ? 1 : text[n] == ')' ? -1 : 0;
    return n;
}

static bool read_labels(struct selection *s, const char *text, struct status *ret)
{
    while (*text) {
        size_t n = word_len(text);
        if (!read_label(s, text, n) || (text[n] == ',' && !text[n + 1])) {
            status_set(ret, 400, "BadRequest", "unable to parse requirement: %s", text);
            return false;
        }
        text += n + (text[n] == ',');
    }
    return true;
}

static bool field_known(const struct resource *r, const char *field)
{
    if (strcmp(field, "metadata.name") == 0)
        return true;
    if (strcmp(field, "metadata.namespace") == 0)
        return r->namespaced || r->custom;
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        if (!r->custom && strcmp(fields[i].plural, r->plural) == 0 &&
            strcmp(fields[i].field, field) == 0)
            return true;
    }
    return false;
}

static bool read_fields(struct selection *s, const struct resource *r, const char *text,
                        struct status *ret)
{
    while (*text) {
        size_t n = strcspn(text, ",");
        struct requirement *q = add_item(s);
        read_simple(q, text, n);
        q->field = true;
        if (q->exists || !field_known(r, q->key)) {
            status_set(ret, 400, "BadRequest", "field label not supported: %s", q->key);
            return false;
        }
        text += n + (text[n] == ',');
    }
    return true;
}

bool selection_read(struct selection *s, const struct resource *r, const char *ns,
                    const struct params *query, struct status *ret)
{
    *s = (struct selection){.ns = xstrdup(ns)};
    if (read_labels(s, params_get(query, "labelSelector", ""), ret) &&
        read_fields(s, r, params_get(query, "fieldSelector", ""), ret))
        return true;
    selection_free(s);
    return false;
}

void selection_free(struct selection *s)
{
    for (size_t i = 0; i < s->count; i++) {
        for (size_t v = 0; v < s->items[i].count; v++)
            free(s->items[i].values[v]);
        free(s->items[i].values);
        free(s->items[i].key);
    }
    free(s->items);
    free(s->ns);
    *s = (struct selection){0};
}

bool selection_is_plain(const struct selection *s)
{
    return s->count == 0;
}

/* The string at a.b.c; NULL if there is none. */
static const char *field_text(yyjson_val *root, const char *path)
{
    while (root) {
        size_t n = strcspn(path, ".");
        root = yyjson_obj_getn(root, path, n);
        if (!path[n])
            break;
        path += n + 1;
    }
    if (yyjson_is_bool(root))
        return yyjson_get_bool(root) ? "true" : "false";
    return yyjson_get_str(root);
}

static bool holds(const struct requirement *q, yyjson_val *root)
{
    yyjson_val *labels = yyjson_obj_get(yyjson_obj_get(root, "metadata"), "labels");
    const char *text =
        q->field ? field_text(root, q->key) : yyjson_get_str(yyjson_obj_get(labels, q->key));
    bool among = false;
    if (q->field && !text)
        text = ""; /* a missing field is empty */
    if (q->exists)
        return (text != NULL) != q->negative;
    for (size_t i = 0; i < q->count && text; i++)
        among = among || strcmp(q->values[i], text) == 0;
    return among != q->negative;
}

bool selection_has(const struct selection *s, const struct object *o)
{
    struct buf text = {0};
    yyjson_doc *doc;
    bool all = true;
    if (s->ns[0] && strcmp(s->ns, o->ns) != 0)
        return false;
    if (s->count == 0)
        return true;
    object_put(&text, o, FORM_WHOLE, 0);
    doc = yyjson_read(text.bytes, text.len, 0);
    assert(doc);
    for (size_t i = 0; i < s->count && all; i++)
        all = holds(&s->items[i], yyjson_doc_get_root(doc));
    yyjson_doc_free(doc);
    buf_free(&text);
    return all;
}

void snapshot_select(struct snapshot *s, const struct selection *selection)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->count; i++) {
        if (selection_has(selection, s->objects[i]))
            s->objects[kept++] = s->objects[i];
        else
            object_unref(s->objects[i]);
    }
    s->count = kept;
}
