/*
 * kubeconfig_entry.c - the fields of a kubeconfig, one table row each, and the loop that reads
 * them.
 *
 * Only the type of a field is checked here (string, list, mapping, bool); kubeconfig.c and
 * kubeconfig_user.c check how fields relate. The first field of the wrong type is the error.
 */
#include "kube/config/kubeconfig_entry.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/base.h"
#include "base/err.h"

enum field_kind {
    FIELD_TEXT, /* kept as its node */
    FIELD_LIST, /* of strings, kept as its node */
    FIELD_MAP,  /* kept as its node */
    FIELD_ANY,  /* of any type, kept as its node */
    FIELD_BOOL, /* kept as a bool */
};

struct field {
    const char *key;
    enum field_kind kind;
    size_t offset; /* of the member that keeps it */
};

/* clang-format off */
#define AT(member) offsetof(struct context_entry, member)
static const struct field context_fields[] = {
    {"cluster",   FIELD_TEXT, AT(cluster)},
    {"user",      FIELD_TEXT, AT(user)},
    {"namespace", FIELD_TEXT, AT(namespace)},
};
#undef AT

#define AT(member) offsetof(struct cluster_entry, member)
static const struct field cluster_fields[] = {
    {"server",                     FIELD_TEXT,  AT(server)},
    {"certificate-authority",      FIELD_TEXT,  AT(ca_file)},
    {"certificate-authority-data", FIELD_TEXT,  AT(ca_data)},
    {"tls-server-name",            FIELD_TEXT,  AT(tls_server_name)},
    {"extensions",                 FIELD_ANY,   AT(extensions)},
    {"insecure-skip-tls-verify",   FIELD_BOOL,  AT(insecure)},
    {"disable-compression",        FIELD_BOOL,  AT(no_compression)},
    {"proxy-url",                  FIELD_TEXT,  AT(proxy_url)},
};
#undef AT

#define AT(member) offsetof(struct user_entry, member)
static const struct field user_fields[] = {
    {"client-certificate",      FIELD_TEXT,  AT(cert_file)},
    {"client-certificate-data", FIELD_TEXT,  AT(cert_data)},
    {"client-key",              FIELD_TEXT,  AT(key_file)},
    {"client-key-data",         FIELD_TEXT,  AT(key_data)},
    {"token",                   FIELD_TEXT,  AT(token)},
    {"tokenFile",               FIELD_TEXT,  AT(token_file)},
    {"exec",                    FIELD_MAP,   AT(exec)},
    {"auth-provider",           FIELD_MAP,   AT(auth_provider)},
    {"username",                FIELD_TEXT,  AT(username)},
    {"password",                FIELD_TEXT,  AT(password)},
    {"as",                      FIELD_TEXT,  AT(as)},
    {"as-uid",                  FIELD_TEXT,  AT(as_uid)},
    {"as-groups",               FIELD_LIST,  AT(as_groups)},
    {"as-user-extra",           FIELD_MAP,   AT(as_user_extra)},
};
#undef AT
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

/* Some tools write "" or {} for a field that is not set. */
static bool is_given(const struct yaml_node *node)
{
    if (yaml_is_null(node))
        return false;
    return node->kind == YAML_SCALAR ? node->text[0] != '\0' : node->count > 0;
}

static bool is_list_of_texts(const struct yaml_node *node)
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
    case FIELD_TEXT:
        if (node->kind != YAML_SCALAR)
            return entry_error(entry, node, err, "must be a string");
        break;
    case FIELD_LIST:
        if (!is_list_of_texts(node))
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

static int read_fields(struct entry *entry, const struct field *fields, size_t n_fields,
                       struct inf_error *err)
{
    const struct yaml_node *body = yaml_get(entry->node, entry->what);
    int rc = 0;
    if (!yaml_is_null(body) && body->kind != YAML_MAPPING)
        return entry_error(entry, body, err, "must be a mapping of fields");
    for (size_t i = 0; i < n_fields && !rc; i++) {
        const struct yaml_node *node = yaml_get(body, fields[i].key);
        if (is_given(node))
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
    return read_fields(&ret->entry, context_fields, ARRAY_LEN(context_fields), err);
}

int cluster_entry_read(const struct yaml_node *node, const char *context, struct cluster_entry *ret,
                       struct inf_error *err)
{
    *ret = (struct cluster_entry){.entry = entry_of("cluster", node, context)};
    return read_fields(&ret->entry, cluster_fields, ARRAY_LEN(cluster_fields), err);
}

int user_entry_read(const struct yaml_node *node, const char *context, struct user_entry *ret,
                    struct inf_error *err)
{
    *ret = (struct user_entry){.entry = entry_of("user", node, context)};
    return read_fields(&ret->entry, user_fields, ARRAY_LEN(user_fields), err);
}
