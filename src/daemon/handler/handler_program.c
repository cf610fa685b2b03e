/*
 * handler_program.c - makes the program of a handler from its conf options, and finds its user and groups.
 *
 * A user or group that does not exist, or that this process has no capabilities for, is an error when the
 * configuration is applied. If a user is removed between that check and its use, its programs fail to start.
 */
#include "daemon/handler/handler_program.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"
#include "base/group.h"
#include "daemon/cli/install_paths.h"

enum {
    ENTRY_MAX = 16 * 1024, /* LIMIT: bytes of an entry of passwd */
};

/* ---- user and groups ---- */

static int find_group(const char *name, gid_t *ret, struct inf_error *err)
{
    return group_find(name, ret) ? 0 : err_set(err, INF_ECONF, "group '%s' does not exist", name);
}

/* The user, its group, and the groups that it is a member of. */
static int find_user(const char *name, struct child_identity *ret, struct inf_error *err)
{
    struct passwd user, *found = NULL;
    char text[ENTRY_MAX];
    int n = CHILD_GROUPS_MAX;
    getpwnam_r(name, &user, text, sizeof(text), &found);
    if (!found)
        return err_set(err, INF_ECONF, "user '%s' does not exist", name);
    if (getgrouplist(name, found->pw_gid, ret->groups, &n) < 0)
        return err_set(err, INF_ECONF, "user '%s' is in more than %d groups", name,
                       CHILD_GROUPS_MAX);
    ret->uid = found->pw_uid;
    ret->gid = found->pw_gid;
    ret->n_groups = (size_t)n;
    return 0;
}

/* With another group than that of the user, its own groups stay; without a user it is the only one. */
static int find_identity(const struct conf_handler *conf, struct child_identity *ret,
                         struct inf_error *err)
{
    int rc = 0;
    *ret = (struct child_identity){.uid = geteuid(), .gid = getegid()};
    if (conf->user)
        rc = find_user(conf->user, ret, err);
    if (rc == 0 && conf->group)
        rc = find_group(conf->group, &ret->gid, err);
    if (rc == 0 && !ret->n_groups)
        ret->groups[ret->n_groups++] = ret->gid;
    return rc;
}

static bool has_identity(const struct conf_handler *conf)
{
    return conf->user || conf->group;
}

/* ---- capabilities ---- */

/* Whether the process may change users and end the programs of others. */
static bool may_change_users(void)
{
    static const unsigned needed[] = {CAP_SETUID, CAP_SETGID, CAP_KILL};
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {{0}};
    if (syscall(SYS_capget, &header, data) < 0)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(needed); i++)
        if (!(data[CAP_TO_INDEX(needed[i])].effective & CAP_TO_MASK(needed[i])))
            return false;
    return true;
}

int handler_program_permit(const struct conf_handler *conf, struct inf_error *err)
{
    struct child_identity identity;
    int rc = has_identity(conf) ? find_identity(conf, &identity, err) : 0;
    if (rc < 0 || !has_identity(conf) || may_change_users())
        return rc;
    return err_set(
        err, INF_ECONF,
        "user and group need the capabilities CAP_SETUID, CAP_SETGID and CAP_KILL; for the "
        "systemd service, copy %s/informerd-handlers.conf to "
        "/etc/systemd/system/informerd.service.d/",
        INFORMERD_DOCDIR);
}

/* ---- options ---- */

int handler_program_check(const struct conf_handler *conf, struct inf_error *err)
{
    if (conf->exec.count && conf->exec.items[0][0] != '/')
        return err_set(err, INF_ECONF,
                       "the program must be an absolute path, like /usr/local/bin/page");
    return 0;
}

char *handler_program_advise(const struct conf_handler *conf)
{
    const char *program = conf->exec.items[0];
    struct child_identity identity;
    struct inf_error err;
    if (has_identity(conf) && find_identity(conf, &identity, &err) < 0)
        return xstrdup(err.text);
    return access(program, X_OK) == 0
               ? NULL
               : xasprintf("'%s' cannot be executed: %s", program, strerror(errno));
}

static const char **copy_argv(const struct conf_list *list)
{
    const char **argv = xcalloc(list->count + 1, sizeof(*argv));
    for (size_t i = 0; i < list->count; i++)
        argv[i] = xstrdup(list->items[i]);
    return argv;
}

static bool same_argv(const char **a, const char **b)
{
    size_t i = 0;
    if (!a || !b)
        return a == b;
    for (; a[i] && b[i]; i++)
        if (strcmp(a[i], b[i]) != 0)
            return false;
    return a[i] == b[i];
}

static bool same_identity(const struct child_identity *a, const struct child_identity *b)
{
    return a->uid == b->uid && a->gid == b->gid && a->n_groups == b->n_groups &&
           memcmp(a->groups, b->groups, a->n_groups * sizeof(gid_t)) == 0;
}

static bool same_limits(const struct child_limits *a, const struct child_limits *b)
{
    return a->cpu_s == b->cpu_s && a->memory == b->memory && a->files == b->files &&
           a->processes == b->processes;
}

static bool same_program(const struct handler_program *a, const struct handler_program *b)
{
    return same_argv(a->argv, b->argv) && strcmp(a->directory, b->directory) == 0 &&
           !a->context.identity == !b->context.identity &&
           same_identity(&a->identity, &b->identity) &&
           same_limits(&a->context.limits, &b->context.limits) &&
           a->context.umask == b->context.umask;
}

bool handler_program_set(struct handler_program *program, const struct conf_handler *conf)
{
    struct handler_program next = {.argv = copy_argv(&conf->exec),
                                   .directory = xstrdup(conf->directory ? conf->directory : "/")};
    bool changed;
    next.context = (struct child_context){
        .limits = {.cpu_s = (conf->limits.cpu_ms + 999) / 1000,
                   .memory = conf->limits.memory,
                   .files = conf->limits.files,
                   .processes = conf->limits.processes},
        .has_umask = true,
        .umask = (mode_t)conf->umask,
    };
    if (has_identity(conf) && find_identity(conf, &next.identity, NULL) < 0)
        next.identity.uid = CHILD_NO_USER;
    changed = !program->argv;
    if (has_identity(conf))
        next.context.identity = &program->identity;
    changed = changed || !same_program(program, &next);
    handler_program_free(program);
    *program = next;
    program->context.directory = program->directory;
    return changed;
}

void handler_program_free(struct handler_program *program)
{
    for (size_t i = 0; program->argv && program->argv[i]; i++)
        free((char *)(uintptr_t)program->argv[i]);
    free(program->argv);
    free(program->directory);
    *program = (struct handler_program){0};
}

bool handler_program_is_shortage(int error)
{
    return error == EAGAIN || error == ENOMEM || error == EMFILE || error == ENFILE;
}
