/*
 * kafka_message.c - reads the members of a record and makes the message. The members are read in one walk, and only the
 * short ones are decoded; the object is passed on as it is written.
 */
#include "kafka/kafka_message.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"
#include "base/json/json.h"
#include "base/text/json_decode.h"
#include "daemon/record/record_shorten.h"

/* The members of a record that are used. */
enum member {
    M_LOG,
    M_SEQ,
    M_TYPE,
    M_CLUSTER,
    M_WATCH,
    M_GROUP,
    M_RESOURCE,
    M_KIND,
    M_NAMESPACE,
    M_NAME,
    M_UID,
    M_RV,
    M_OBJECT,
    M_TRUNCATED,
    MEMBERS,
};

static const char *const member_names[MEMBERS] = {
    [M_LOG] = "log",
    [M_SEQ] = "seq",
    [M_TYPE] = "type",
    [M_CLUSTER] = "cluster",
    [M_WATCH] = "watch",
    [M_GROUP] = "group",
    [M_RESOURCE] = "resource",
    [M_KIND] = "kind",
    [M_NAMESPACE] = "namespace",
    [M_NAME] = "name",
    [M_UID] = "uid",
    [M_RV] = "rv",
    [M_OBJECT] = "object",
    [M_TRUNCATED] = "truncated",
};

struct record {
    struct str members[MEMBERS]; /* as written; at NULL: missing */
};

static void read_record(struct str line, struct record *ret)
{
    struct json_walk walk;
    struct json_member m;
    *ret = (struct record){0};
    json_walk_start(&walk, line);
    while (json_walk_next(&walk, &m))
        for (size_t i = 0; i < MEMBERS; i++)
            if (str_eq(m.key, str_of(member_names[i])))
                ret->members[i] = m.value;
}

/* Decoded; "" if it is missing. */
static char *text_of(const struct record *r, enum member member)
{
    struct buf out = {0};
    json_value_put(&out, r->members[member]);
    buf_putc(&out, '\0');
    return out.bytes;
}

static bool is_text(const struct record *r, enum member member, const char *text)
{
    return r->members[member].at && json_value_is(r->members[member], str_of(text));
}

/* ---- topic ---- */

static const struct {
    const char *name;
    enum member member;
} placeholders[] = {
    {"{cluster}", M_CLUSTER},   {"{watch}", M_WATCH}, {"{group}", M_GROUP},
    {"{resource}", M_RESOURCE}, {"{kind}", M_KIND},   {"{namespace}", M_NAMESPACE},
};

static bool is_topic_char(char c)
{
    return isalnum((unsigned char)c) || c == '.' || c == '_' || c == '-';
}

/* The placeholder at @at; returns its index, or -1. */
static int placeholder_at(const char *at)
{
    for (size_t i = 0; i < ARRAY_LEN(placeholders); i++)
        if (strncmp(at, placeholders[i].name, strlen(placeholders[i].name)) == 0)
            return (int)i;
    return -1;
}

int kafka_topic_check(const char *topic, struct inf_error *err)
{
    if (!*topic)
        return err_set(err, INF_ECONF, "the topic is empty");
    if (strcmp(topic, ".") == 0 || strcmp(topic, "..") == 0)
        return err_set(err, INF_ECONF, "Kafka does not allow the topic '%s'", topic);
    for (const char *at = topic; *at; at++) {
        int i = placeholder_at(at);
        if (i >= 0)
            at += strlen(placeholders[i].name) - 1;
        else if (!is_topic_char(*at))
            return err_set(
                err, INF_ECONF,
                "topic '%.100s': unexpected '%c'; a topic has letters, digits, '.', '_', '-' "
                "and {cluster}, {watch}, {group}, {resource}, {kind} or {namespace}",
                topic, *at);
    }
    return 0;
}

static void put_topic_value(struct buf *out, const struct record *r, enum member member)
{
    char *text = text_of(r, member);
    for (const char *at = text; *at; at++)
        buf_putc(out, is_topic_char(*at) ? *at : '_');
    if (!*text)
        buf_putc(out, '_');
    free(text);
}

static char *topic_of(const char *template, const struct record *r)
{
    struct buf out = {0};
    for (const char *at = template; *at; at++) {
        int i = placeholder_at(at);
        if (i >= 0) {
            put_topic_value(&out, r, placeholders[i].member);
            at += strlen(placeholders[i].name) - 1;
        } else {
            buf_putc(&out, *at);
        }
    }
    if (out.len > KAFKA_TOPIC_MAX)
        out.len = KAFKA_TOPIC_MAX;
    buf_putc(&out, '\0');
    return out.bytes;
}

/* ---- key, value, headers ---- */

/* "prod/deployments.apps/shop/web" */
static char *name_key_of(const struct record *r)
{
    char *cluster = text_of(r, M_CLUSTER), *resource = text_of(r, M_RESOURCE);
    char *group = text_of(r, M_GROUP), *ns = text_of(r, M_NAMESPACE), *name = text_of(r, M_NAME);
    char *key = xasprintf("%s/%s%s%s/%s/%s", cluster, resource, *group ? "." : "", group, ns, name);
    free(cluster);
    free(resource);
    free(group);
    free(ns);
    free(name);
    return key;
}

static char *key_of(const struct kafka_message_options *options, const struct record *r)
{
    char *uid = options->key_is_name ? NULL : text_of(r, M_UID);
    if (uid && *uid)
        return uid;
    free(uid);
    return name_key_of(r);
}

static int set_value(const struct kafka_message_options *options, struct str line, size_t limit,
                     const struct record *r, struct kafka_message *m, struct inf_error *err)
{
    struct str object = r->members[M_OBJECT];
    bool cut = r->members[M_TRUNCATED].at;
    if (options->compact && is_text(r, M_TYPE, "DELETED"))
        return 0; /* a tombstone */
    if (options->compact && !object.at && !cut)
        return err_set(err, INF_ECONF,
                       "--compact: the records have no object; set `object: full` in the handler");
    m->value = options->compact && object.at ? object : line;
    m->is_shortened = cut;
    if (m->value.len <= limit)
        return 0;
    record_shorten(&m->shortened, line, limit);
    m->is_shortened = true;
    m->value = (struct str){m->shortened.bytes, m->shortened.len};
    return 0;
}

static void set_headers(const struct record *r, struct kafka_message *m)
{
    static const struct {
        const char *name;
        enum member member;
    } rows[] = {{"log", M_LOG}, {"seq", M_SEQ}, {"uid", M_UID}, {"rv", M_RV}, {"verb", M_TYPE}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        m->headers[i] = (struct kafka_header){rows[i].name, text_of(r, rows[i].member)};
    if (m->is_shortened)
        m->headers[ARRAY_LEN(rows)] = (struct kafka_header){"truncated", xstrdup("true")};
}

int kafka_message_make(const struct kafka_message_options *options, struct str line, size_t limit,
                       struct kafka_message *ret, struct inf_error *err)
{
    struct kafka_message m = {0};
    struct record r;
    int rc;
    read_record(line, &r);
    if (!r.members[M_SEQ].at || !r.members[M_TYPE].at || !r.members[M_NAME].at)
        return err_set(err, INF_EPROTO, "informerd has sent a line that is no record of a change");
    rc = set_value(options, line, limit, &r, &m, err);
    if (rc < 0)
        return rc;
    m.topic = topic_of(options->topic, &r);
    m.key = key_of(options, &r);
    set_headers(&r, &m);
    *ret = m;
    return 0;
}

void kafka_message_free(struct kafka_message *message)
{
    free(message->topic);
    free(message->key);
    buf_free(&message->shortened);
    for (size_t i = 0; i < KAFKA_HEADERS; i++)
        free(message->headers[i].value);
}
