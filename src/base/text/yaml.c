/*
 * yaml.c - builds a tree from libyaml's events.
 *
 * Normal path: yaml_read -> read_stream -> read_node, which calls itself for the contents of a
 * collection (at most YAML_DEPTH_MAX deep). Each read_* function starts with its first event in
 * r->event and ends with its last one there.
 *
 * A node is linked into the tree as soon as it exists; on failure yaml_read() frees the partial
 * tree; the read_* functions just return.
 */
#include "base/text/yaml.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <yaml.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"

struct yaml_reader {
    yaml_parser_t parser;
    yaml_event_t event; /* the current one */
    char *file;
    const char *text; /* without the byte order mark */
    size_t len;
    yaml_encoding_t encoding;
    size_t depth;
    size_t nodes;
    bool loose; /* duplicate keys are allowed */
    struct inf_error *err;
};

static int read_node(struct yaml_reader *r, struct yaml_node **slot);

/* ---- errors: all with a position, none with text of the file, which may contain a password ---- */

__attribute__((format(printf, 3, 4))) static int mark_error(struct yaml_reader *r,
                                                            const yaml_mark_t *mark,
                                                            const char *fmt, ...)
{
    char text[INF_ERROR_TEXT_MAX];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    return err_set(r->err, INF_ECONF, "%s:%zu:%zu: %s", r->file, mark->line + 1, mark->column + 1,
                   text);
}

/* For an invalid byte libyaml reports only its offset. In UTF-16, which is rare, only the line is
 * computed. */
static yaml_mark_t mark_of_offset(const struct yaml_reader *r, size_t offset)
{
    bool wide = r->encoding != YAML_UTF8_ENCODING;
    yaml_mark_t mark = {0};
    for (size_t i = 0; i < offset && i < r->len; i++) {
        unsigned char c = (unsigned char)r->text[i];
        if (c == '\n') {
            mark.line++;
            mark.column = 0;
        } else if (!wide && (c & 0xC0) != 0x80) { /* not inside a UTF-8 character */
            mark.column++;
        }
    }
    return mark;
}

/* libyaml's messages are constants: they contain no text of the file. */
static int parser_error(struct yaml_reader *r)
{
    const yaml_parser_t *p = &r->parser;
    yaml_mark_t mark = p->problem_mark;
    const char *problem =
        p->problem ? p->problem : "out of memory"; /* UNTESTED: libyaml's malloc */
    if (p->error == YAML_READER_ERROR)
        mark = mark_of_offset(r, p->problem_offset);
    if (strcmp(problem, "found character that cannot start any token") == 0)
        return mark_error(r, &mark,
                          "found a tab, or a character that can begin a value only in quotes; "
                          "indent with spaces");
    if (!p->context)
        return mark_error(r, &mark, "%s", problem);
    return mark_error(r, &mark, "%s, %s that begins on line %zu", problem, p->context,
                      p->context_mark.line + 1);
}

int yaml_error(const struct yaml_node *at, struct inf_error *err, const char *fmt, ...)
{
    char text[INF_ERROR_TEXT_MAX];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    return err_set(err, INF_ECONF, "%s:%zu:%zu: %s", at->file, at->line, at->column, text);
}

/* ---- nodes ---- */

static struct yaml_node *node_new(struct yaml_reader *r, enum yaml_kind kind)
{
    struct yaml_node *n = NEW(struct yaml_node);
    n->kind = kind;
    n->line = r->event.start_mark.line + 1;
    n->column = r->event.start_mark.column + 1;
    n->file = r->file;
    return n;
}

static void node_free(struct yaml_node *n)
{
    if (!n)
        return;
    for (struct yaml_node *child = n->first, *next; child; child = next) {
        next = child->next;
        node_free(child);
    }
    node_free(n->key);
    secret_free(n->text);
    free(n);
}

/* ---- reading ---- */

static int next_event(struct yaml_reader *r)
{
    yaml_event_delete(&r->event);
    return yaml_parser_parse(&r->parser, &r->event) ? 0 : parser_error(r);
}

/* Refuses an anchor, and a tag other than the default one of the value. */
static int check_properties(struct yaml_reader *r, const yaml_char_t *anchor,
                            const yaml_char_t *tag, const char *own_tag)
{
    const yaml_mark_t *mark = &r->event.start_mark;
    if (anchor)
        return mark_error(r, mark, "anchors (&) are not supported");
    if (tag && strcmp((const char *)tag, own_tag) != 0)
        return mark_error(r, mark, "unsupported tag (!)");
    return 0;
}

static int read_scalar(struct yaml_reader *r, struct yaml_node **slot)
{
    char *value = (char *)r->event.data.scalar.value;
    size_t len = r->event.data.scalar.length;
    const yaml_char_t *tag = r->event.data.scalar.tag;
    struct yaml_node *n = *slot = node_new(r, YAML_SCALAR);
    n->plain = r->event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE && !tag;
    n->text = xstrndup(value, len);
    explicit_bzero(value, len); /* libyaml does not wipe it */
    if (strlen(n->text) != len)
        return mark_error(r, &r->event.start_mark, "a NUL character can't be part of a value");
    return check_properties(r, r->event.data.scalar.anchor, tag, YAML_STR_TAG);
}

static int check_key(const struct yaml_reader *r, const struct yaml_node *map,
                     const struct yaml_node *key)
{
    const struct yaml_node *before;
    struct inf_error *err = r->err;
    if (key->kind != YAML_SCALAR)
        return yaml_error(key, err, "a key must be a scalar, not a list or a mapping");
    if (key->plain && strcmp(key->text, "<<") == 0)
        return yaml_error(key, err, "merge keys (<<) are not supported");
    before = r->loose ? NULL : yaml_get(map, key->text);
    if (before)
        return yaml_error(key, err, "duplicate key; first at %zu:%zu", before->key->line,
                          before->key->column);
    if (map->count == YAML_KEYS_MAX)
        return yaml_error(key, err, "more than %d keys in one mapping", YAML_KEYS_MAX);
    return 0;
}

/* Reads a key and its value. The value owns the key. */
static int read_member(struct yaml_reader *r, struct yaml_node *map, struct yaml_node **slot)
{
    struct yaml_node *key = NULL;
    struct yaml_node *value = NULL;
    int rc = read_node(r, &key);
    if (!rc)
        rc = check_key(r, map, key);
    if (!rc)
        rc = next_event(r);
    if (!rc)
        rc = read_node(r, &value);
    if (!value) {
        node_free(key);
        return rc;
    }
    value->key = key;
    *slot = value;
    return rc;
}

static int read_collection(struct yaml_reader *r, struct yaml_node **slot)
{
    const yaml_event_t *e = &r->event;
    bool mapping = e->type == YAML_MAPPING_START_EVENT;
    yaml_event_type_t end = mapping ? YAML_MAPPING_END_EVENT : YAML_SEQUENCE_END_EVENT;
    struct yaml_node *n, **tail;
    int rc;
    if (r->depth == YAML_DEPTH_MAX)
        return mark_error(r, &e->start_mark, "nested more than %d levels deep", YAML_DEPTH_MAX);
    r->depth++;
    n = *slot = node_new(r, mapping ? YAML_MAPPING : YAML_SEQUENCE);
    tail = &n->first;
    rc = mapping ? check_properties(r, e->data.mapping_start.anchor, e->data.mapping_start.tag,
                                    YAML_MAP_TAG)
                 : check_properties(r, e->data.sequence_start.anchor, e->data.sequence_start.tag,
                                    YAML_SEQ_TAG);
    while (!rc && !(rc = next_event(r)) && e->type != end) {
        rc = mapping ? read_member(r, n, tail) : read_node(r, tail);
        if (!rc) {
            tail = &(*tail)->next;
            n->count++;
        }
    }
    r->depth--;
    return rc;
}

static int read_node(struct yaml_reader *r, struct yaml_node **slot)
{
    if (++r->nodes > YAML_NODES_MAX)
        return mark_error(r, &r->event.start_mark, "more than %d values", YAML_NODES_MAX);
    if (r->event.type == YAML_ALIAS_EVENT)
        return mark_error(r, &r->event.start_mark, "aliases (*) are not supported");
    if (r->event.type == YAML_SCALAR_EVENT)
        return read_scalar(r, slot);
    return read_collection(r, slot); /* the start of a sequence or a mapping */
}

static int read_stream(struct yaml_reader *r, struct yaml_node **slot)
{
    int rc = next_event(r); /* the stream's start */
    if (!rc)
        rc = next_event(r);
    if (!rc && r->event.type == YAML_STREAM_END_EVENT) { /* an empty file */
        *slot = node_new(r, YAML_SCALAR);
        (*slot)->plain = true;
        (*slot)->text = xstrdup("");
        return 0;
    }
    if (!rc)
        rc = next_event(r); /* the document's first value */
    if (!rc)
        rc = read_node(r, slot);
    if (!rc)
        rc = next_event(r); /* the document's end */
    if (!rc)
        rc = next_event(r);
    if (!rc && r->event.type != YAML_STREAM_END_EVENT)
        rc = mark_error(r, &r->event.start_mark,
                        "a second document starts here; only one is supported");
    return rc;
}

/* The byte order mark gives the encoding: redirection in PowerShell writes UTF-16. */
static void skip_byte_order_mark(struct yaml_reader *r)
{
    static const struct {
        const char *mark;
        yaml_encoding_t encoding;
    } marks[] = {{"\xEF\xBB\xBF", YAML_UTF8_ENCODING},
                 {"\xFF\xFE", YAML_UTF16LE_ENCODING},
                 {"\xFE\xFF", YAML_UTF16BE_ENCODING}};
    r->encoding = YAML_UTF8_ENCODING;
    for (size_t i = 0; i < ARRAY_LEN(marks); i++) {
        size_t len = strlen(marks[i].mark);
        if (r->len < len || memcmp(r->text, marks[i].mark, len) != 0)
            continue;
        r->encoding = marks[i].encoding;
        r->text += len;
        r->len -= len;
        return;
    }
}

static int yaml_read(struct yaml_reader *r, const char *name, struct yaml_node **ret_root)
{
    struct yaml_node *root = NULL;
    int rc;
    if (r->len > YAML_TEXT_MAX)
        return err_set(r->err, INF_ECONF, "%s: more than %d bytes", name, YAML_TEXT_MAX);
    if (!yaml_parser_initialize(&r->parser)) /* UNTESTED: libyaml's malloc */
        return err_set(r->err, INF_ECONF, "%s: out of memory", name);
    skip_byte_order_mark(r);
    r->file = xstrdup(name);
    yaml_parser_set_encoding(&r->parser, r->encoding);
    yaml_parser_set_input_string(&r->parser, (const unsigned char *)r->text, r->len);
    rc = read_stream(r, &root);
    yaml_event_delete(&r->event);
    yaml_parser_delete(&r->parser);
    if (rc) {
        node_free(root);
        free(r->file);
        return rc;
    }
    *ret_root = root;
    return 0;
}

int yaml_parse(const char *name, const char *text, size_t len, struct yaml_node **ret_root,
               struct inf_error *err)
{
    struct yaml_reader r = {.text = text, .len = len, .err = err};
    return yaml_read(&r, name, ret_root);
}

int yaml_parse_loose(const char *name, const char *text, size_t len, struct yaml_node **ret_root,
                     struct inf_error *err)
{
    struct yaml_reader r = {.text = text, .len = len, .loose = true, .err = err};
    return yaml_read(&r, name, ret_root);
}

void yaml_tree_free(struct yaml_node *root)
{
    char *file = root ? root->file : NULL;
    node_free(root);
    free(file);
}

/* ---- using the tree ---- */

struct yaml_node *yaml_get(const struct yaml_node *map, const char *key)
{
    if (!map || map->kind != YAML_MAPPING)
        return NULL;
    for (struct yaml_node *n = map->first; n; n = n->next)
        if (strcmp(n->key->text, key) == 0)
            return n;
    return NULL;
}

bool yaml_is_null(const struct yaml_node *node)
{
    static const char *const words[] = {"", "~", "null", "Null", "NULL"};
    if (!node)
        return true;
    if (node->kind != YAML_SCALAR || !node->plain)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (strcmp(node->text, words[i]) == 0)
            return true;
    return false;
}

const char *yaml_string(const struct yaml_node *node)
{
    return yaml_is_null(node) || node->kind != YAML_SCALAR ? NULL : node->text;
}

int yaml_bool(const struct yaml_node *node, bool *ret)
{
    /* the words of YAML 1.1, as Kubernetes accepts them */
    static const char *const words[][2] = {{"false", "true"}, {"no", "yes"}, {"off", "on"}};
    if (!node || node->kind != YAML_SCALAR || !node->plain)
        return -INF_ECONF;
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        for (size_t truth = 0; truth < 2; truth++)
            if (strcasecmp(node->text, words[i][truth]) == 0) {
                *ret = truth;
                return 0;
            }
    return -INF_ECONF;
}
