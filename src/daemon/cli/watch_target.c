/*
 * watch_target.c - splits arguments into resources and names.
 *
 * Normal path: each argument is split at its commas, each item at its last slash. After a first
 * argument without names, further arguments are names. What follows a slash is a version, not a
 * name, if it looks like one and the resource has a group (deployments.apps/v1); an object with
 * such a name is named by a separate argument. The first problem is the error.
 */
#include "daemon/cli/watch_target.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/str.h"

void watch_targets_add(struct watch_targets *targets, const char *resource, const char *name)
{
    size_t size = (targets->count + 1) * sizeof(targets->items[0]);
    targets->items = xrealloc(targets->items, size);
    targets->items[targets->count++] =
        (struct watch_target){.resource = xstrdup(resource), .name = xstrdup_or_null(name)};
}

void watch_targets_free(struct watch_targets *targets)
{
    for (size_t i = 0; i < targets->count; i++) {
        free(targets->items[i].resource);
        free(targets->items[i].name);
    }
    free(targets->items);
    *targets = (struct watch_targets){0};
}

bool watch_target_is_category(const struct watch_target *target)
{
    return strcasecmp(target->resource, WATCH_CATEGORY) == 0;
}

/* ---- items ---- */

/* Whether @text is v1, v2beta1, v1alpha1, ... */
static bool is_version(const char *text)
{
    size_t digits;
    if (text[0] != 'v')
        return false;
    digits = strspn(text + 1, "0123456789");
    text += 1 + digits;
    if (!digits || !text[0])
        return digits;
    if (strncmp(text, "alpha", 5) == 0)
        text += 5;
    else if (strncmp(text, "beta", 4) == 0)
        text += 4;
    else
        return false;
    return text[0] && text[strspn(text, "0123456789")] == '\0';
}

/* The slash before the name in @item; NULL: it is a resource without a name. */
static char *name_slash(char *item)
{
    char *slash = strrchr(item, '/'), *dot = strchr(item, '.');
    bool version =
        slash && is_version(slash + 1) && dot && dot < slash && strchr(item, '/') == slash;
    return version ? NULL : slash;
}

static bool has_name(const char *argument)
{
    char *item = xstrndup(argument, strcspn(argument, ","));
    bool found = name_slash(item);
    free(item);
    return found;
}

/* Names of objects become part of a field selector, in which these characters have a meaning. No
 * resource allows them in names. */
static int check_name(const char *name, struct inf_error *err)
{
    if (!name[0])
        return err_set(err, INF_EINVAL, "empty object name");
    if (strpbrk(name, ",=\\/% ") || str_has_control(str_of(name)))
        return err_set(err, INF_EINVAL,
                       "'%s' is not the name of an object; write names as separate arguments",
                       name);
    return 0;
}

/* Refuses what would be printed twice. */
static int add_target(struct watch_targets *targets, const char *resource, const char *name,
                      struct inf_error *err)
{
    if (name && strcasecmp(resource, WATCH_CATEGORY) == 0)
        return err_set(
            err, INF_EINVAL,
            "'%s' cannot be combined with the name '%s'; name one resource, or use --name",
            WATCH_CATEGORY, name);
    for (size_t i = 0; i < targets->count; i++) {
        const struct watch_target *other = &targets->items[i];
        if (strcasecmp(other->resource, resource) == 0 &&
            (!name || !other->name || strcmp(name, other->name) == 0))
            return err_set(err, INF_EINVAL, "duplicate resource '%s%s%s'; name each %s once",
                           resource, name ? "/" : "", name ? name : "",
                           name ? "object" : "resource");
    }
    if (targets->count == WATCH_TARGETS_MAX)
        return err_set(err, INF_EINVAL,
                       "more than %d resources and names; select names with --name REGEX instead",
                       WATCH_TARGETS_MAX);
    watch_targets_add(targets, resource, name);
    return 0;
}

static int add_item(struct watch_targets *targets, char *item, const char *argument,
                    struct inf_error *err)
{
    char *slash = name_slash(item);
    if (!item[0] || slash == item)
        return err_set(err, INF_EINVAL, "empty resource name in '%s'", argument);
    if (!slash)
        return add_target(targets, item, NULL, err);
    *slash = '\0';
    return check_name(slash + 1, err) < 0 ? -INF_EINVAL : add_target(targets, item, slash + 1, err);
}

/* ---- arguments ---- */

static int add_argument(struct watch_targets *targets, const char *argument, struct inf_error *err)
{
    char *copy = xstrdup(argument), *rest = copy, *item;
    int rc = 0;
    while (rc == 0 && (item = strsep(&rest, ",")))
        rc = add_item(targets, item, argument, err);
    free(copy);
    return rc;
}

static int add_names(struct watch_targets *targets, int argc, char *const *argv,
                     struct inf_error *err)
{
    int rc = 0;
    if (strchr(argv[0], ','))
        return err_set(err, INF_EINVAL,
                       "names need one resource: write '%.*s %s', or RESOURCE/NAME for each object",
                       (int)strcspn(argv[0], ","), argv[0], argv[1]);
    for (int i = 1; rc == 0 && i < argc; i++) {
        rc = check_name(argv[i], err);
        rc = rc ? rc : add_target(targets, argv[0], argv[i], err);
    }
    return rc;
}

int watch_targets_parse(int argc, char *const *argv, struct watch_targets *ret,
                        struct inf_error *err)
{
    struct watch_targets targets = {0};
    int rc = 0;
    if (argc == 0 || !argv[0][0])
        return err_set(err, INF_EINVAL, "missing resource; for example 'informerd watch pods'");
    if (argc > 1 && !has_name(argv[0]))
        rc = add_names(&targets, argc, argv, err);
    else
        for (int i = 0; rc == 0 && i < argc; i++) {
            if (i > 0 && !has_name(argv[i]))
                rc = err_set(err, INF_EINVAL, "'%s' has no name; after '%s' write RESOURCE/NAME",
                             argv[i], argv[0]);
            rc = rc ? rc : add_argument(&targets, argv[i], err);
        }
    if (rc < 0) {
        watch_targets_free(&targets);
        return rc;
    }
    *ret = targets;
    return 0;
}
