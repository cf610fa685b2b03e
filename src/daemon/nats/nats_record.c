/*
 * nats_record.c - reads the members of a record and writes the message.
 */
#include "daemon/nats/nats_record.h"

#include <ctype.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"
#include "base/text/json_decode.h"
#include "daemon/record/record_line.h"
#include "daemon/record/record_shorten.h"
#include "wire/nats/nats_parser.h"

#define HEADER(name) "Informerd-" name

/* ---- subjects ---- */

static const struct {
    const char *name;
    size_t at; /* in struct record_line */
    bool required;
} placeholders[] = {
    {"{cluster}", offsetof(struct record_line, cluster), true},
    {"{resource}", offsetof(struct record_line, resource), true},
    {"{namespace}", offsetof(struct record_line, ns), true},
    {"{name}", offsetof(struct record_line, name), true},
    {"{group}", offsetof(struct record_line, group), false},
    {"{watch}", offsetof(struct record_line, watch), false},
    {"{kind}", offsetof(struct record_line, kind), false},
};

/* The placeholder at @at; returns its index, or -1. */
static int placeholder_at(const char *at)
{
    for (size_t i = 0; i < ARRAY_LEN(placeholders); i++)
        if (strncmp(at, placeholders[i].name, strlen(placeholders[i].name)) == 0)
            return (int)i;
    return -1;
}

static bool is_token_char(char c)
{
    return isascii((unsigned char)c) && (isalnum((unsigned char)c) || c == '_' || c == '-');
}

static int check_tokens(const char *text, struct inf_error *err)
{
    if (!*text || *text == '.' || text[strlen(text) - 1] == '.' || strstr(text, ".."))
        return err_set(err, INF_ECONF,
                       "has an empty part; write it like "
                       "k8s.{cluster}.{resource}.{namespace}.{name}");
    if (strlen(text) > NATS_TEMPLATE_MAX)
        return err_set(err, INF_ECONF, "has more than %d bytes", NATS_TEMPLATE_MAX);
    return 0;
}

/* The newest message of a subject decides whether a change is published: it must belong to one object. */
static int check_required(const char *text, struct inf_error *err)
{
    for (size_t i = 0; i < ARRAY_LEN(placeholders); i++)
        if (placeholders[i].required && !strstr(text, placeholders[i].name))
            return err_set(err, INF_ECONF,
                           "has no %s; each object needs a subject of its own, with {cluster}, "
                           "{resource}, {namespace} and {name}",
                           placeholders[i].name);
    return 0;
}

int nats_template_check(const char *text, struct inf_error *err)
{
    if (check_tokens(text, err) < 0)
        return -err->code;
    for (const char *at = text; *at; at++) {
        int i = placeholder_at(at);
        if (i >= 0)
            at += strlen(placeholders[i].name) - 1;
        else if (*at != '.' && !is_token_char(*at))
            return err_set(err, INF_ECONF,
                           "has '%c'; a subject has letters, digits, '_', '-', '.' and {cluster}, "
                           "{resource}, {namespace}, {name}, {group}, {watch} or {kind}",
                           *at);
    }
    return check_required(text, err);
}

static void put_encoded(struct buf *out, struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (is_token_char(text.at[i]))
            buf_putc(out, text.at[i]);
        else
            buf_printf(out, "%%%02X", (unsigned char)text.at[i]);
}

static void put_value(struct buf *out, struct str value)
{
    struct buf text = {0};
    json_value_put(&text, value);
    put_encoded(out, (struct str){text.bytes, text.len});
    buf_free(&text);
}

static void put_token(struct buf *out, struct str value)
{
    size_t before = out->len;
    put_value(out, value);
    if (out->len == before)
        buf_putc(out, '_');
}

static char *subject_of(const char *template, const struct record_line *r)
{
    struct buf out = {0};
    for (const char *at = template; *at; at++) {
        int i = placeholder_at(at);
        if (i < 0) {
            buf_putc(&out, *at);
            continue;
        }
        put_token(&out, *(const struct str *)(const void *)((const char *)r + placeholders[i].at));
        at += strlen(placeholders[i].name) - 1;
    }
    buf_putc(&out, '\0');
    return out.bytes;
}

/* ---- headers ---- */

/* The server's names can contain anything; what a header can't have is encoded. */
static void put_header(struct buf *out, const char *name, struct str value)
{
    struct buf text = {0};
    json_value_put(&text, value);
    buf_printf(out, "%s: ", name);
    for (size_t i = 0; i < text.len; i++)
        if (text.bytes[i] > ' ' && text.bytes[i] < 0x7f && text.bytes[i] != '%')
            buf_putc(out, text.bytes[i]);
        else
            buf_printf(out, "%%%02X", (unsigned char)text.bytes[i]);
    buf_puts(out, "\r\n");
    buf_free(&text);
}

/* "deployments.apps" */
static void put_resource(struct buf *out, const struct record_line *r)
{
    struct buf name = {0};
    buf_putc(&name, '"');
    json_value_put(&name, r->resource);
    if (r->group.len > 2) { /* not "" */
        buf_putc(&name, '.');
        json_value_put(&name, r->group);
    }
    buf_putc(&name, '"');
    put_header(out, HEADER("Resource"), (struct str){name.bytes, name.len});
    buf_free(&name);
}

static void put_fixed_headers(struct buf *out, const struct record_line *r)
{
    put_header(out, HEADER("Log"), r->log);
    buf_printf(out, HEADER("Seq") ": %" PRIu64 "\r\n", r->seq);
    put_header(out, HEADER("Type"), r->type);
    put_resource(out, r);
    put_header(out, HEADER("Uid"), r->uid);
    put_header(out, HEADER("Rv"), r->rv);
}

static char *id_of(const struct record_line *r, const char *template, const char *subject)
{
    const struct str parts[] = {r->cluster, r->uid, r->type, r->rv};
    struct buf out = {0};
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        if (i)
            buf_putc(&out, '/');
        put_value(&out, parts[i]);
    }
    if (strcmp(template, NATS_SUBJECT_PRESET) != 0)
        buf_printf(&out, "/%016" PRIx64,
                   siphash13(&(struct siphash_key){0}, subject, strlen(subject)));
    buf_putc(&out, '\0');
    return out.bytes;
}

void nats_record_put_headers(const struct nats_record *record, const char *stream, uint64_t seq,
                             bool repeated, struct buf *out)
{
    buf_printf(out, "Nats-Msg-Id: %s", record->id);
    if (repeated)
        buf_printf(out, "/%" PRIu64, seq);
    buf_printf(
        out, "\r\nNats-Expected-Stream: %s\r\nNats-Expected-Last-Subject-Sequence: %" PRIu64 "\r\n",
        stream, seq);
    buf_put(out, record->headers.bytes, record->headers.len);
}

/* ---- positions ---- */

static bool read_verb(struct str type, enum inf_verb *ret)
{
    static const enum inf_verb verbs[] = {INF_ADDED, INF_MODIFIED, INF_DELETED};
    for (size_t i = 0; i < ARRAY_LEN(verbs); i++)
        if (str_eq(type, str_of(inf_verb_name(verbs[i])))) {
            *ret = verbs[i];
            return true;
        }
    return false;
}

bool nats_headers_position(struct str headers, const struct nats_last *last,
                           struct nats_position *ret)
{
    struct str log, seq, type, resource, uid, rv;
    struct nats_position position = {.final = true};
    if (!nats_headers_get(headers, HEADER("Log"), &log) ||
        !nats_headers_get(headers, HEADER("Seq"), &seq) ||
        !nats_headers_get(headers, HEADER("Type"), &type) ||
        !nats_headers_get(headers, HEADER("Resource"), &resource) ||
        !nats_headers_get(headers, HEADER("Uid"), &uid) ||
        !nats_headers_get(headers, HEADER("Rv"), &rv) || !read_verb(type, &position.verb))
        return false;
    position.log = nats_last_hash(last, log);
    position.seq = nats_version_read(seq);
    position.resource = nats_last_hash(last, resource);
    position.uid = nats_last_hash(last, uid);
    position.version = nats_version_read(rv);
    *ret = position;
    return true;
}

/* ---- the message ---- */

static int set_payload(struct nats_record *m, struct str line, size_t limit, struct inf_error *err)
{
    size_t others = m->headers.len + strlen(m->id) + NATS_HEADERS_ROOM;
    size_t room = limit > others ? limit - others : 0;
    m->payload = line;
    if (line.len <= room)
        return 0;
    record_shorten(&m->shortened, line, room);
    m->payload = (struct str){m->shortened.bytes, m->shortened.len};
    if (m->payload.len <= room)
        return 0;
    return err_set(err, INF_ETOOBIG,
                   "the identity of the object does not fit into a message of %zu "
                   "bytes",
                   limit);
}

static int make(const char *template, const struct record_line *r, size_t limit,
                const struct nats_last *last, struct nats_record *m, struct inf_error *err)
{
    struct str headers;
    m->subject = subject_of(template, r);
    m->subject_hash = nats_last_hash(last, str_of(m->subject));
    if (strlen(m->subject) > NATS_SUBJECT_MAX)
        return err_set(err, INF_ETOOBIG, "its subject has more than %d bytes", NATS_SUBJECT_MAX);
    m->id = id_of(r, template, m->subject);
    buf_puts(&m->headers, "\r\n"); /* in place of the first line */
    put_fixed_headers(&m->headers, r);
    headers = (struct str){m->headers.bytes, m->headers.len};
    if (!nats_headers_position(headers, last, &m->position))
        return err_set(err, INF_EPROTO, "it is not the record of a change");
    buf_consume(&m->headers, 2);
    m->position.final = !json_value_is(r->final, STR("false"));
    return set_payload(m, r->text, limit, err);
}

int nats_record_make(const char *subject_template, struct str line, size_t limit,
                     const struct nats_last *last, struct nats_record *ret, struct inf_error *err)
{
    struct record_line r;
    int rc;
    *ret = (struct nats_record){0};
    line.len -= line.len && line.at[line.len - 1] == '\n';
    if (!record_line_read(line, &r))
        return err_set(err, INF_EPROTO, "it is not a record");
    rc = make(subject_template, &r, limit, last, ret, err);
    if (rc < 0)
        nats_record_free(ret);
    return rc;
}

void nats_record_free(struct nats_record *record)
{
    free(record->subject);
    free(record->id);
    buf_free(&record->headers);
    buf_free(&record->shortened);
    *record = (struct nats_record){0};
}
