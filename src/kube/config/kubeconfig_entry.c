/*
 * kubeconfig_entry.c - the fields of a kubeconfig, one table row each, and the loop that reads
 * those of an entry.
 *
 * Only the type of a field is checked here (string, list, mapping, bool); kubeconfig.c and
 * kubeconfig_user.c check how fields relate. The first field of the wrong type is the error.
 */
#include "kube/config/kubeconfig_entry.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "base/err.h"

enum field_kind {
    FIELD_STRING, /* kept as its node */
    FIELD_LIST,   /* of strings, kept as its node */
    FIELD_MAP,    /* kept as its node */
    FIELD_ANY,    /* of any type, kept as its node */
    FIELD_BOOL,   /* kept as a bool */
};

struct field {
    const char *of; /* the kind of entry: entry.what */
    const char *key;
    enum field_kind kind;
    size_t offset; /* of the member that keeps it */
};

/* clang-format off */
#define FIELD(entry, key, kind, member) {#entry, key, FIELD_##kind, offsetof(struct entry##_entry, member)}
static const struct field fields[] = {
    FIELD(context, "cluster",                    STRING, cluster),
    FIELD(context, "user",                       STRING, user),
    FIELD(context, "namespace",                  STRING, namespace),
    FIELD(cluster, "server",                     STRING, server),
    FIELD(cluster, "certificate-authority",      STRING, ca_file),
    FIELD(cluster, "certificate-authority-data", STRING, ca_data),
    FIELD(cluster, "tls-server-name",            STRING, tls_server_name),
    FIELD(cluster, "extensions",                 ANY,    extensions),
    FIELD(cluster, "insecure-skip-tls-verify",   BOOL,   insecure),
    FIELD(cluster, "disable-compression",        BOOL,   no_compression),
    FIELD(cluster, "proxy-url",                  STRING, proxy_url),
    FIELD(user,    "client-certificate",         STRING, cert_file),
    FIELD(user,    "client-certificate-data",    STRING, cert_data),
    FIELD(user,    "client-key",                 STRING, key_file),
    FIELD(user,    "client-key-data",            STRING, key_data),
    FIELD(user,    "token",                      STRING, token),
    FIELD(user,    "tokenFile",                  STRING, token_file),
    FIELD(user,    "exec",                       MAP,    exec),
    FIELD(user,    "auth-provider",              MAP,    auth_provider),
    FIELD(user,    "username",                   STRING, username),
    FIELD(user,    "password",                   STRING, password),
    FIELD(user,    "as",                         STRING, as),
    FIELD(user,    "as-uid",                     STRING, as_uid),
    FIELD(user,    "as-groups",                  LIST,   as_groups),
    FIELD(user,    "as-user-extra",              MAP,    as_user_extra),
};
#undef FIELD
/* clang-format on */

int entry_error(const struct entry *entry, const struct yaml_node *field, struct inf_error *err,
                const char *fmt, ...)
{
    bool used = entry->context && entry->context[0];
    const char *of[3] = {used ? "context '" : "", used ? entry->context : "", used ? "': " : ""};
    char text[INF_ERROR_TEXT_MAX];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    if (!field)
        return yaml_error(entry->node, err, "%s%s%s%s '%s': %s", of[0], of[1], of[2], entry->what,
                          entry->name, text);
    return yaml_error(field->key, err, "%s%s%s%s '%s': %s: %s", of[0], of[1], of[2], entry->what,
                      entry->name, field->key->text, text);
}

static bool is_list_of_strings(const struct yaml_node *node)
{
    if (node->kind != YAML_SEQUENCE)
        return false;
    for (const struct yaml_node *n = node->first; n; n = n->next)
        if (n->kind != YAML_SCALAR)
            return false;
    return true;
}

/* @entry is the first member of the struct that @field's offset refers to. */
static int read_field(struct entry *entry, const struct field *field, const struct yaml_node *node,
                      struct inf_error *err)
{
    void *member = (char *)entry + field->offset;
    switch (field->kind) {
    case FIELD_STRING:
        if (node->kind != YAML_SCALAR)
            return entry_error(entry, node, err, "must be a string");
        break;
    case FIELD_LIST:
        if (!is_list_of_strings(node))
            return entry_error(entry, node, err, "must be a list of strings");
        break;
    case FIELD_MAP:
        if (node->kind != YAML_MAPPING)
            return entry_error(entry, node, err, "must be a mapping of fields");
        break;
    case FIELD_ANY: break;
    case FIELD_BOOL:
        return yaml_bool(node, member) < 0 ? entry_error(entry, node, err, "must be true or false")
                                           : 0;
    }
    *(const struct yaml_node **)member = node;
    return 0;
}

/* Reads all fields that are set. Some tools write "" or {} for a field that is not. */
static int read_fields(struct entry *entry, struct inf_error *err)
{
    const struct yaml_node *body = yaml_get(entry->node, entry->what);
    int rc = 0;
    if (!yaml_is_null(body) && body->kind != YAML_MAPPING)
        return entry_error(entry, body, err, "must be a mapping of fields");
    for (size_t i = 0; i < ARRAY_LEN(fields) && !rc; i++) {
        bool applies = strcmp(fields[i].of, entry->what) == 0;
        const struct yaml_node *node = applies ? yaml_get(body, fields[i].key) : NULL;
        if (!yaml_is_null(node) && (node->kind == YAML_SCALAR ? node->text[0] : node->count > 0))
            rc = read_field(entry, &fields[i], node, err);
    }
    return rc;
}

static struct entry entry_of(const char *what, const struct yaml_node *node, const char *context)
{
    return (struct entry){.what = what,
                          .name = yaml_string(yaml_get(node, "name")),
                          .context = context,
                          .node = node};
}

int context_entry_read(const struct yaml_node *node, struct context_entry *ret,
                       struct inf_error *err)
{
    *ret = (struct context_entry){.entry = entry_of("context", node, NULL)};
    return read_fields(&ret->entry, err);
}

int cluster_entry_read(const struct yaml_node *node, const char *context, struct cluster_entry *ret,
                       struct inf_error *err)
{
    *ret = (struct cluster_entry){.entry = entry_of("cluster", node, context)};
    return read_fields(&ret->entry, err);
}

int user_entry_read(const struct yaml_node *node, const char *context, struct user_entry *ret,
                    struct inf_error *err)
{
    *ret = (struct user_entry){.entry = entry_of("user", node, context)};
    return read_fields(&ret->entry, err);
}
