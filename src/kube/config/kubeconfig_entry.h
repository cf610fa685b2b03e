/*
 * kubeconfig_entry.h - one context, cluster or user as it is written, before it is made sense of.
 *
 * A field is the node it was written as, so that whoever finds it wrong can say where; NULL means
 * it wasn't given (absent, null, "", {} or []). HINT: a new field is one member here and one row in the .c
 * file.
 */
#ifndef KUBE_CONFIG_KUBECONFIG_ENTRY_H
#define KUBE_CONFIG_KUBECONFIG_ENTRY_H

#include <stdbool.h>

#include "base/yaml.h"

/* What they have in common: enough to name the entry in a message. */
struct entry {
    const char *what;             /* "context", "cluster" or "user" */
    const char *name;             /* its name */
    const char *context;          /* that of the context it is used in; NULL or "": none */
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
    const struct yaml_node *as_groups;     /* a list of texts */
    const struct yaml_node *as_user_extra; /* a mapping */
    const struct yaml_node *auth_provider; /* a mapping */
};

/*
 * Read the fields of the list entry @node. Fields nobody knows are passed over. Return 0, or
 * -INF_ECONF.
 */
int context_entry_read(const struct yaml_node *node, struct context_entry *ret,
                       struct inf_error *err);
int cluster_entry_read(const struct yaml_node *node, const char *context, struct cluster_entry *ret,
                       struct inf_error *err);
int user_entry_read(const struct yaml_node *node, const char *context, struct user_entry *ret,
                    struct inf_error *err);

/* Says "file:line:column: context 'c': user 'x': token: ..." (without the field if it is NULL);
 * returns -INF_ECONF. */
__attribute__((format(printf, 4, 5))) int entry_error(const struct entry *entry,
                                                      const struct yaml_node *field,
                                                      struct inf_error *err, const char *fmt, ...);

#endif
