/*
 * conf_dirs.c - defaults of paths that depend on the environment.
 *
 * A variable counts only if it is an absolute path. systemd separates several directories with
 * colons; the first one is used. Nothing is created here, and nothing can fail: whether the
 * directory can be used is known when it is opened.
 */
#include "daemon/conf/conf_dirs.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "daemon/conf/conf_read.h"

#define SYSTEM_STATE_DIR "/var/lib/informerd"

/* A default, and the variable that it comes from; NULL: none. */
struct default_path {
    char *path;
    const char *env;
};

/* The first directory of the variable @env, followed by @rest. Returns whether there is one. */
static bool path_from_env(const char *env, const char *rest, struct default_path *ret)
{
    const char *value = getenv(env);
    if (!value || value[0] != '/')
        return false;
    ret->path = xasprintf("%.*s%s", (int)strcspn(value, ":"), value, rest);
    ret->env = env;
    return true;
}

static struct default_path default_state_dir(void)
{
    struct default_path found = {NULL, NULL};
    bool is_system;
    if (path_from_env("STATE_DIRECTORY", "", &found))
        return found;
    is_system = geteuid() == 0 || access(SYSTEM_STATE_DIR, W_OK) == 0;
    if (!is_system && (path_from_env("XDG_STATE_HOME", "/informerd", &found) ||
                       path_from_env("HOME", "/.local/state/informerd", &found)))
        return found;
    return (struct default_path){.path = xstrdup(SYSTEM_STATE_DIR)};
}

static struct conf_origin *origin_of(const struct conf_table *table, const char *name,
                                     const void *base)
{
    return conf_origin_of(table, conf_option_find(table, name), base);
}

void conf_dirs_default(struct conf *conf)
{
    const struct conf_table *socket = conf_option_find(&conf_table, "socket")->table;
    struct default_path found = {NULL, NULL};
    if (!conf->state_dir) {
        found = default_state_dir();
        conf->state_dir = found.path;
        origin_of(&conf_table, "state_dir", conf)->env = found.env;
    }
    if (!conf->socket.path && path_from_env("RUNTIME_DIRECTORY", "/informerd.sock", &found)) {
        conf->socket.path = found.path;
        origin_of(socket, "path", &conf->socket)->env = found.env;
    }
}

bool conf_state_dir_is_below_home(const struct conf *conf)
{
    const char *env = origin_of(&conf_table, "state_dir", conf)->env;
    return env && (strcmp(env, "HOME") == 0 || strcmp(env, "XDG_STATE_HOME") == 0);
}

bool conf_state_dir_is_default(const struct conf *conf)
{
    return !origin_of(&conf_table, "state_dir", conf)->node;
}
