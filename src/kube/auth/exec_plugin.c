/*
 * exec_plugin.c - reads the exec mapping of a user entry.
 *
 * Fields are checked as kubectl checks them; the first wrong one is the error. Command, arguments
 * and environment may contain secrets by mistake, so messages show only a filtered name.
 */
#include "kube/auth/exec_plugin.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/file.h"
#include "kube/auth/secret_filter.h"
#include "kube/config/kubeconfig_entry.h"

#define API_GROUP "client.authentication.k8s.io/"

/* The mapping under way, for the position in errors. */
struct exec_reader {
    const struct entry *entry;
    const struct yaml_node *node;
    struct inf_error *err;
};

#define PLUGIN_ERROR(r, ...) entry_error((r)->entry, (r)->node, (r)->err, __VA_ARGS__)

/* Sets NULL if it is missing or "". */
static int read_string(const struct exec_reader *r, const char *key, const char **ret)
{
    const struct yaml_node *node = yaml_get(r->node, key);
    *ret = NULL;
    if (yaml_is_null(node))
        return 0;
    if (node->kind != YAML_SCALAR)
        return PLUGIN_ERROR(r, "%s must be a string", key);
    *ret = *node->text ? node->text : NULL;
    return 0;
}

/* Sets NULL if it is missing. */
static int find_list(const struct exec_reader *r, const char *key, const struct yaml_node **ret)
{
    const struct yaml_node *node = yaml_get(r->node, key);
    *ret = yaml_is_null(node) ? NULL : node;
    return *ret && node->kind != YAML_SEQUENCE ? PLUGIN_ERROR(r, "%s must be a list", key) : 0;
}

/* An existing path is shown as it is. Anything else may be a whole command line, or a token in the
 * wrong field: then only the first word is shown, without its directory and filtered. */
static char *printable_name(const char *command)
{
    struct str word = {command, strcspn(command, " \t\r\n")};
    const char *slash = memrchr(word.at, '/', word.len);
    struct buf name = {0};
    if (strchr(command, '/') && access(command, F_OK) == 0)
        return xstrdup(command);
    if (slash)
        word = (struct str){slash + 1, word.len - (size_t)(slash + 1 - word.at)};
    secret_filter_put(&name, word);
    buf_putc(&name, '\0');
    return name.bytes;
}

static int read_modes(const struct exec_reader *r, struct exec_plugin *p)
{
    const char *version, *mode;
    int rc = read_string(r, "apiVersion", &version);
    if (rc)
        return rc;
    if (!version ||
        (strcmp(version, API_GROUP "v1") != 0 && strcmp(version, API_GROUP "v1beta1") != 0))
        return PLUGIN_ERROR(r, "apiVersion must be " API_GROUP "v1 or " API_GROUP "v1beta1");
    p->api_version = xstrdup(version);
    rc = read_string(r, "interactiveMode", &mode);
    if (rc)
        return rc;
    if (!mode && strcmp(version, API_GROUP "v1beta1") == 0)
        return 0;
    if (mode && strcmp(mode, "Always") == 0)
        return PLUGIN_ERROR(r, "interactiveMode Always is not supported; there is no terminal");
    if (!mode || (strcmp(mode, "Never") != 0 && strcmp(mode, "IfAvailable") != 0))
        return PLUGIN_ERROR(r, "interactiveMode must be Never, IfAvailable or Always");
    return 0; /* without a terminal, IfAvailable means Never */
}

static int read_argv(const struct exec_reader *r, struct exec_plugin *p)
{
    const struct yaml_node *args;
    const char *command;
    size_t n = 0;
    int rc = read_string(r, "command", &command);
    if (!rc)
        rc = find_list(r, "args", &args);
    if (rc)
        return rc;
    if (!command)
        return PLUGIN_ERROR(r, "needs a command");
    p->argv = xcalloc((args ? args->count : 0) + 2, sizeof(char *));
    if (strchr(command, '/')) {
        /* Relative to the file. A leading "./" is removed so that the path matches exec_allow. */
        while (strncmp(command, "./", 2) == 0)
            command += 2;
        p->argv[n++] = path_beside(r->node->file, command);
    } else {
        p->argv[n++] = xstrdup(command);
    }
    p->name = printable_name(p->argv[0]);
    for (const struct yaml_node *arg = args ? args->first : NULL; arg; arg = arg->next) {
        if (arg->kind != YAML_SCALAR)
            return PLUGIN_ERROR(r, "args must be a list of strings");
        p->argv[n++] = xstrdup(arg->text);
    }
    return 0;
}

static int read_env(const struct exec_reader *r, struct exec_plugin *p)
{
    const struct yaml_node *env;
    size_t n = 0;
    int rc = find_list(r, "env", &env);
    if (rc)
        return rc;
    p->env = xcalloc((env ? env->count : 0) + 1, sizeof(char *));
    for (const struct yaml_node *e = env ? env->first : NULL; e; e = e->next) {
        const char *name = yaml_string(yaml_get(e, "name"));
        const struct yaml_node *value = yaml_get(e, "value");
        if (!name || !*name || strchr(name, '=') || (value && value->kind != YAML_SCALAR))
            return PLUGIN_ERROR(r, "env must be a list of {name: NAME, value: TEXT}");
        p->env[n++] = xasprintf("%s=%s", name, yaml_is_null(value) ? "" : value->text);
    }
    return 0;
}

int exec_plugin_read(const struct entry *entry, const struct yaml_node *node,
                     struct exec_plugin **ret, struct inf_error *err)
{
    struct exec_reader r = {entry, node, err};
    const struct yaml_node *info = yaml_get(node, "provideClusterInfo");
    struct exec_plugin *p = NEW(struct exec_plugin);
    const char *hint = NULL;
    int rc = read_argv(&r, p);
    if (!rc)
        rc = read_modes(&r, p);
    if (!rc)
        rc = read_env(&r, p);
    if (!rc)
        rc = read_string(&r, "installHint", &hint);
    if (!rc && !yaml_is_null(info) && yaml_bool(info, &p->cluster_info) < 0)
        rc = PLUGIN_ERROR(&r, "provideClusterInfo must be true or false");
    if (rc) {
        exec_plugin_free(p);
        return rc;
    }
    p->install_hint = xstrdup_or_null(hint);
    *ret = p;
    return 0;
}

static bool string_lists_equal(char **a, char **b)
{
    for (; *a && *b; a++, b++)
        if (strcmp(*a, *b) != 0)
            return false;
    return !*a && !*b;
}

bool exec_plugin_equal(const struct exec_plugin *a, const struct exec_plugin *b)
{
    if (!a || !b)
        return a == b;
    return strcmp(a->api_version, b->api_version) == 0 && string_lists_equal(a->argv, b->argv) &&
           string_lists_equal(a->env, b->env) && a->cluster_info == b->cluster_info;
}

/* Environment and arguments may hold secrets. */
static void free_string_list(char **list)
{
    for (char **at = list; at && *at; at++)
        secret_free(*at);
    free(list);
}

void exec_plugin_free(struct exec_plugin *p)
{
    if (!p)
        return;
    free(p->name);
    free(p->api_version);
    free(p->install_hint);
    free_string_list(p->argv);
    free_string_list(p->env);
    free(p);
}
