/*
 * kubeconfig.h - how to reach one cluster as one user, found the way kubectl finds it.
 *
 *     rc = kubeconfig_load(&(struct kubeconfig_choice){0}, &config, err);
 *     ... config.host, config.port, config.token ...
 *     kubeconfig_free(&config);
 *
 * The files are read once and resolved completely; the result does not refer to them. Certificates,
 * keys and tokens that come from files of their own may change later, so their paths are kept too.
 * Anything that can't be used as written is an error that names the file, the entry, the field and
 * the remedy. Nothing is guessed, and credentials are never dropped silently.
 */
#ifndef KUBE_CONFIG_KUBECONFIG_H
#define KUBE_CONFIG_KUBECONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "informer/error.h"

#include "kube/auth/exec_plugin.h"
#include "wire/proxy/proxy.h"

struct named_value {
    char *name;
    char *value;
};

/* Owned strings, NULL if not set. */
struct kubeconfig {
    char *origin;  /* the file(s) it came from, for messages */
    char *context; /* names of the entries */
    char *cluster;
    char *user; /* NULL: no user, hence no credentials */

    char *server; /* as written in the file */
    char *host;   /* a name, or an address without brackets */
    uint16_t port;
    char *path_prefix;   /* "" or "/prefix" */
    bool https;          /* if false, there are no credentials */
    bool no_compression; /* don't request gzip */
    struct proxy proxy;  /* no proxy is configured if it has no host */
    char *proxy_url;     /* as written in the file */

    char *tls_server_name;
    bool insecure; /* don't verify the server; never together with ca_pem */
    char *ca_pem;  /* contents, from file or data; NULL: the system's authorities */
    char *ca_file; /* absolute path, like those of the other files; NULL: ca_pem is inline data */
    char *cert_pem;
    char *cert_file;
    char *key_pem; /* set if and only if cert_pem is */
    char *key_file;

    char *token;      /* literal; if both are set, used until token_file has been read */
    char *token_file; /* absolute path; read by the auth layer, not checked here */
    char *basic;      /* base64 of user:password; never with a token */

    struct exec_plugin *exec; /* credential plugin; NULL if other credentials are set */
    char *exec_extension;     /* the cluster entry's extension for the plugin, as JSON */

    struct named_value *impersonate; /* impersonation headers, the user first */
    size_t n_impersonate;

    char *namespace; /* "default" if not set */
};

/* Selected by the caller; NULL: as in the files. Borrowed. */
struct kubeconfig_choice {
    const char *path;    /* the only file; NULL: those of $KUBECONFIG, then ~/.kube/config */
    const char *context; /* NULL: the current one */
    const char *cluster; /* instead of the context's; with it no context is needed */
    const char *user;    /* instead of the context's */
    const char *const *exec_allow; /* ends with NULL: the only plugins that may run, by name if they
                                      are found in PATH, else by absolute path; NULL: all may run */
};

/*
 * Returns 0; -INF_ENOTFOUND if no path was given and the default locations have no file, or only
 * files without contexts and clusters (callers may then try the in-cluster configuration);
 * -INF_ECONF for all other errors.
 */
int kubeconfig_load(const struct kubeconfig_choice *choice, struct kubeconfig *ret,
                    struct inf_error *err);

/* Whether both connect to the same server as the same user; their origins are ignored. Certificates
 * and keys from files are compared by path, inline ones by contents. */
bool kubeconfig_equal(const struct kubeconfig *a, const struct kubeconfig *b);

/* Overwrites secrets first. A zeroed or already freed struct is allowed. */
void kubeconfig_free(struct kubeconfig *c);

#endif
