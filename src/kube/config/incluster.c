/*
 * incluster.c - builds the configuration of a pod from its service account directory and from
 * KUBERNETES_SERVICE_HOST and _PORT, and passes it to direct_load(), which reports all errors.
 *
 * The namespace is $POD_NAMESPACE, else the first word of DIR/namespace, else "default".
 */
#include "kube/config/incluster.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/file.h"
#include "kube/config/direct.h"

enum {
    NAMESPACE_MAX = 256, /* LIMIT: bytes of the namespace file */
};

static const char *getenv_nonempty(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

bool incluster_possible(const char *dir)
{
    char *token = xasprintf("%s/token", dir);
    struct stat st;
    bool exists = stat(token, &st) == 0 && !S_ISDIR(st.st_mode);
    free(token);
    return exists && getenv_nonempty("KUBERNETES_SERVICE_HOST") &&
           getenv_nonempty("KUBERNETES_SERVICE_PORT");
}

/* The caller frees it. NULL if neither the environment nor the file names one. */
static char *read_own_namespace(const char *dir)
{
    const char *from_env = getenv_nonempty("POD_NAMESPACE");
    char *path, *text = NULL;
    size_t len;
    struct inf_error err;
    if (from_env)
        return xstrdup(from_env);
    path = xasprintf("%s/namespace", dir);
    if (file_read(path, NAMESPACE_MAX, &text, &len, &err) == 0)
        text[strcspn(text, " \t\r\n")] = '\0';
    free(path);
    if (text && *text)
        return text;
    free(text);
    return NULL;
}

int incluster_load(const char *dir, struct kubeconfig *ret, struct inf_error *err)
{
    const char *host = getenv_nonempty("KUBERNETES_SERVICE_HOST");
    const char *port = getenv_nonempty("KUBERNETES_SERVICE_PORT");
    bool v6 = strchr(host, ':');
    char *server = xasprintf("https://%s%s%s:%s", v6 ? "[" : "", host, v6 ? "]" : "", port);
    char *namespace = read_own_namespace(dir);
    char *ca = xasprintf("%s/ca.crt", dir), *token = xasprintf("%s/token", dir);
    int rc = direct_load(&(struct direct){.origin = "in-cluster configuration",
                                          .server = server,
                                          .ca_file = ca,
                                          .token_file = token,
                                          .namespace = namespace},
                         ret, err);
    free(server);
    free(namespace);
    free(ca);
    free(token);
    return rc;
}
