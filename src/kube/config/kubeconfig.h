/*
 * kubeconfig.h - how to reach one cluster as one user, found the way kubectl finds it.
 *
 *     rc = kubeconfig_load(&(struct kubeconfig_choice){0}, &config, err);     as kubectl finds it
 *     ... config.host, config.port, config.token ...
 *     kubeconfig_free(&config);
 *
 * Read once and resolved: what comes out needs no look at the kubeconfig again. Certificates, keys
 * and tokens that came from files of their own may change there; their paths are kept. Anything that can't be done as written is an error that names file, entry,
 * field and what would be right; nothing is guessed, and no credentials are left out quietly.
 */
#ifndef KUBE_CONFIG_KUBECONFIG_H
#define KUBE_CONFIG_KUBECONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "informer/error.h"

#include "kube/auth/exec_plugin.h"
#include "wire/proxy.h"

struct named_value {
    char *name;
    char *value;
};

/* Owned strings, NULL where nothing was said. */
struct kubeconfig {
    char *origin;  /* the file(s) it came from, for messages */
    char *context; /* names of the entries */
    char *cluster;
    char *user; /* NULL: nobody, and so no credentials */

    char *server; /* as it is written */
    char *host;   /* a name, or an address without brackets */
    uint16_t port;
    char *path_prefix;   /* "" or "/prefix" */
    bool https;          /* false: no credentials are here either */
    bool no_compression; /* don't ask for gzip */
    struct proxy proxy;  /* without a host: none is named */
    char *proxy_url;     /* as it is written */

    char *tls_server_name;
    bool insecure; /* don't verify the server; never together with ca_pem */
    char *ca_pem;  /* contents, from file or data; NULL: the system's authorities */
    char *ca_file; /* absolute path, as of the other files; NULL: it is from data */
    char *cert_pem;
    char *cert_file;
    char *key_pem; /* with cert_pem, or neither */
    char *key_file;

    char *token;      /* literal; used until token_file was read, if both are here */
    char *token_file; /* absolute path, re-read by the auth layer; not looked at here */
    char *basic;      /* base64 of user:password; never with a token */

    struct exec_plugin *exec; /* the program that knows; NULL if one of the above is here */
    char *exec_extension;     /* what the cluster's entry has to say to it, JSON */

    struct named_value *impersonate; /* the headers that ask to act as somebody else */
    size_t n_impersonate;

    char *namespace; /* "default" if not said */
};

/* What is asked for; NULL is what the files say. Borrowed. */
struct kubeconfig_choice {
    const char *path;    /* the only file; NULL: those of $KUBECONFIG, then ~/.kube/config */
    const char *context; /* NULL: the current one */
    const char *cluster; /* instead of the context's; with it no context is needed */
    const char *user;    /* instead of the context's */
    const char *const *exec_allow; /* to NULL: the only plugins that may be run, by name if PATH is
                                      searched for it, else by absolute path; NULL: any may */
};

/*
 * Returns 0; -INF_ENOTFOUND if no path was given and the usual places have no file, or only files
 * with neither contexts nor clusters (a caller may then try to be in a cluster); -INF_ECONF for all
 * else.
 */
int kubeconfig_load(const struct kubeconfig_choice *choice, struct kubeconfig *ret,
                    struct inf_error *err);

/* Whether both reach the same server as the same user; where that was read does not count. Certificates and keys that are
 * in files are compared by the files' paths, others by their contents. */
bool kubeconfig_equal(const struct kubeconfig *a, const struct kubeconfig *b);

/* Overwrites secrets first. Fine with a zeroed or an already freed one. */
void kubeconfig_free(struct kubeconfig *c);

#endif
