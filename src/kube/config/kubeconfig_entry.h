/*
 * kubeconfig_entry.h - the fields of one context, cluster or user, before they are interpreted.
 *
 * A field is kept as its YAML node, so that errors can name its position; NULL means not given
 * (absent, null, "", {} or []). HINT: a new field is one member here and one row in the .c file.
 */
#ifndef KUBE_CONFIG_KUBECONFIG_ENTRY_H
#define KUBE_CONFIG_KUBECONFIG_ENTRY_H

#include <stdbool.h>

#include "base/text/yaml.h"

/* Common to all of them: names the entry in messages. */
struct entry {
    const char *what;             /* "context", "cluster" or "user" */
    const char *name;             /* its name */
    const char *context;          /* name of the context that uses it; NULL or "": none */
    const struct yaml_node *node; /* {name: ..., <what>: {...}} */
};

struct context_entry {
    struct entry entry;
    const struct yaml_node *cluster;
    const struct yaml_node *user;
    const struct yaml_node *namespace;
};

struct cluster_entry {
    struct entry entry;
    const struct yaml_node *server;
    const struct yaml_node *ca_file;
    const struct yaml_node *ca_data;
    const struct yaml_node *tls_server_name;
    const struct yaml_node *extensions; /* a list of {name, extension} */
    const struct yaml_node *proxy_url;
    bool insecure;
    bool no_compression;
};

struct user_entry {
    struct entry entry;
    const struct yaml_node *cert_file;
    const struct yaml_node *cert_data;
    const struct yaml_node *key_file;
    const struct yaml_node *key_data;
    const struct yaml_node *token;
    const struct yaml_node *token_file;
    const struct yaml_node *username;
    const struct yaml_node *password;
    const struct yaml_node *exec; /* a mapping */
    const struct yaml_node *as;
    const struct yaml_node *as_uid;
    const struct yaml_node *as_groups;     /* a list of strings */
    const struct yaml_node *as_user_extra; /* a mapping */
    const struct yaml_node *auth_provider; /* a mapping */
};

/*
 * Read the fields of the list entry @node. Unknown fields are ignored. Return 0, or -INF_ECONF.
 */
int context_entry_read(const struct yaml_node *node, struct context_entry *ret,
                       struct inf_error *err);
int cluster_entry_read(const struct yaml_node *node, const char *context, struct cluster_entry *ret,
                       struct inf_error *err);
int user_entry_read(const struct yaml_node *node, const char *context, struct user_entry *ret,
                    struct inf_error *err);

/* Sets @err to "file:line:column: context 'c': user 'x': token: ..." (without the field if it is
 * NULL) and returns -INF_ECONF. */
__attribute__((format(printf, 4, 5))) int entry_error(const struct entry *entry,
                                                      const struct yaml_node *field,
                                                      struct inf_error *err, const char *fmt, ...);

#endif
