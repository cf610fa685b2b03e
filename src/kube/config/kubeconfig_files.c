/*
 * kubeconfig_files.c - finds the files, parses each into a tree, checks its structure, and looks up
 * entries by name.
 *
 * A missing file in $KUBECONFIG is skipped if another one exists. Any other problem with a file is
 * an error, even if none of its entries will be used, because the user named the file.
 */
#include "kube/config/kubeconfig_files.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"
#include "base/file.h"
#include "base/text/yaml.h"

enum {
    ENTRIES_MAX = 4096, /* LIMIT: of one list; each name is compared with all before it */
};

/* -- the shape of a file -------------------------------------------------------------------------
 */

static int check_value(const struct yaml_node *root, const char *key, const char *word,
                       struct inf_error *err)
{
    const struct yaml_node *node = yaml_get(root, key);
    const char *text = yaml_string(node);
    if (yaml_is_null(node) || (text && (!*text || strcmp(text, word) == 0)))
        return 0;
    return yaml_error(node->key, err, "not a kubeconfig: %s must be '%s'", key, word);
}

static const char *entry_name(const struct yaml_node *entry)
{
    return yaml_string(yaml_get(entry, "name"));
}

static const struct yaml_node *find_entry(const struct yaml_node *list, const char *name,
                                          const struct yaml_node *end)
{
    if (!list)
        return NULL;
    for (const struct yaml_node *n = list->first; n && n != end; n = n->next)
        if (strcmp(entry_name(n), name) == 0)
            return n;
    return NULL;
}

static int check_entry(const struct yaml_node *list, const struct yaml_node *entry,
                       struct inf_error *err)
{
    const char *name = entry_name(entry);
    const struct yaml_node *before;
    if (!name || !*name)
        return yaml_error(entry, err, "an entry of %s needs a name", list->key->text);
    before = find_entry(list, name, entry);
    if (before)
        return yaml_error(entry, err, "%s: duplicate name '%s'; first defined at %zu:%zu",
                          list->key->text, name, before->line, before->column);
    return 0;
}

static int check_list(const struct yaml_node *root, const char *key, struct inf_error *err)
{
    const struct yaml_node *list = yaml_get(root, key);
    int rc = 0;
    if (yaml_is_null(list))
        return 0;
    if (list->kind != YAML_SEQUENCE)
        return yaml_error(list, err, "%s must be a list of entries (- name: ...)", key);
    if (list->count > ENTRIES_MAX)
        return yaml_error(list, err, "%s has more than %d entries", key, ENTRIES_MAX);
    for (const struct yaml_node *n = list->first; n && !rc; n = n->next)
        rc = check_entry(list, n, err);
    return rc;
}

/* An empty file is an empty kubeconfig. */
static int check_root(const struct yaml_node *root, struct inf_error *err)
{
    const struct yaml_node *current;
    int rc;
    if (yaml_is_null(root))
        return 0;
    if (root->kind != YAML_MAPPING)
        return yaml_error(root, err, "not a kubeconfig: must be a mapping (clusters: ...)");
    rc = check_value(root, "kind", "Config", err);
    if (!rc)
        rc = check_value(root, "apiVersion", "v1", err);
    current = yaml_get(root, "current-context");
    if (!rc && current && current->kind != YAML_SCALAR)
        rc = yaml_error(current, err, "current-context must be the name of a context");
    if (!rc)
        rc = check_list(root, "clusters", err);
    if (!rc)
        rc = check_list(root, "contexts", err);
    if (!rc)
        rc = check_list(root, "users", err);
    return rc;
}

/* -- reading one file ----------------------------------------------------------------------------
 */

static void add_root(struct kubeconfig_files *files, struct yaml_node *root)
{
    char *before = files->origin;
    files->origin = before ? xasprintf("%s:%s", before, root->file) : xstrdup(root->file);
    free(before);
    files->roots = xrealloc(files->roots, (files->count + 1) * sizeof(struct yaml_node *));
    files->roots[files->count++] = root;
}

/* Returns 0, -INF_ENOTFOUND, or -INF_ECONF for other errors. */
static int read_text(const char *name, char **ret_text, size_t *ret_len, struct inf_error *err)
{
    struct inf_error why;
    int rc = file_read(name, YAML_TEXT_MAX, ret_text, ret_len, &why);
    if (rc && rc != -INF_ENOTFOUND)
        why.code = INF_ECONF;
    return rc ? err_set(err, why.code, "kubeconfig %s", why.text) : 0;
}

static int add_file(struct kubeconfig_files *files, const char *name, struct inf_error *err)
{
    struct yaml_node *root = NULL;
    char *text = NULL;
    size_t len = 0;
    int rc = read_text(name, &text, &len, err);
    if (!rc)
        rc = yaml_parse(name, text, len, &root, err);
    if (!rc)
        rc = check_root(root, err);
    secret_wipe(text, len); /* UTF-16 has NULs in it */
    free(text);
    if (rc) {
        yaml_tree_free(root);
        return rc;
    }
    add_root(files, root);
    return 0;
}

/* -- which files ---------------------------------------------------------------------------------
 */

static int add_named(struct kubeconfig_files *files, const char *path, struct inf_error *err)
{
    int rc = add_file(files, path, err);
    if (rc == -INF_ENOTFOUND)
        rc = err_set(err, INF_ECONF, "kubeconfig file '%s' doesn't exist", path);
    return rc;
}

static bool has_file(const struct kubeconfig_files *files, const char *name)
{
    for (size_t i = 0; i < files->count; i++)
        if (strcmp(files->roots[i]->file, name) == 0)
            return true;
    return false;
}

/* Empty names are skipped, and so is a file that is named again or is missing. */
static int add_if_there(struct kubeconfig_files *files, const char *name, struct inf_error *err)
{
    int rc = *name && !has_file(files, name) ? add_file(files, name, err) : 0;
    return rc == -INF_ENOTFOUND ? 0 : rc;
}

static int add_listed(struct kubeconfig_files *files, const char *list, struct inf_error *err)
{
    char *names = xstrdup(list);
    char *rest = names, *name;
    int rc = 0;
    while (!rc && (name = strsep(&rest, ":")))
        rc = add_if_there(files, name, err);
    if (!rc && !files->count)
        rc = err_set(err, INF_ENOTFOUND, "none of the files in KUBECONFIG='%s' exists", list);
    free(names);
    return rc;
}

static int add_home(struct kubeconfig_files *files, struct inf_error *err)
{
    const char *home = getenv("HOME");
    char *path;
    int rc;
    if (!home || !*home)
        return err_set(err, INF_ENOTFOUND, "no kubeconfig: neither KUBECONFIG nor HOME is set");
    path = xasprintf("%s/.kube/config", home);
    rc = add_file(files, path, err);
    if (rc == -INF_ENOTFOUND)
        rc = err_set(err, INF_ENOTFOUND,
                     "no kubeconfig: KUBECONFIG is not set and '%s' doesn't exist", path);
    free(path);
    return rc;
}

int kubeconfig_files_read(const char *path, struct kubeconfig_files *ret, struct inf_error *err)
{
    struct kubeconfig_files files = {0};
    const char *list = path ? NULL : getenv("KUBECONFIG");
    int rc;
    if (path)
        rc = add_named(&files, path, err);
    else if (list && *list)
        rc = add_listed(&files, list, err);
    else
        rc = add_home(&files, err);
    if (rc) {
        kubeconfig_files_free(&files);
        return rc;
    }
    *ret = files;
    return 0;
}

void kubeconfig_files_free(struct kubeconfig_files *files)
{
    for (size_t i = 0; i < files->count; i++)
        yaml_tree_free(files->roots[i]);
    free(files->roots);
    free(files->origin);
    *files = (struct kubeconfig_files){0};
}

/* -- looking up ----------------------------------------------------------------------------------
 */

const struct yaml_node *kubeconfig_files_find(const struct kubeconfig_files *files,
                                              const char *list, const char *name)
{
    const struct yaml_node *found = NULL;
    for (size_t i = 0; i < files->count && !found; i++)
        found = find_entry(yaml_get(files->roots[i], list), name, NULL);
    return found;
}

void kubeconfig_files_names(const struct kubeconfig_files *files, const char *list,
                            struct buf *names)
{
    size_t begin = names->len;
    for (size_t i = 0; i < files->count; i++) {
        const struct yaml_node *entries = yaml_get(files->roots[i], list);
        for (const struct yaml_node *n = entries ? entries->first : NULL; n; n = n->next)
            if (kubeconfig_files_find(files, list, entry_name(n)) ==
                n) /* not of a file with lower precedence */
                buf_printf(names, "%s'%s'", names->len > begin ? ", " : "", entry_name(n));
    }
    if (names->len == begin)
        buf_puts(names, "none");
}

const struct yaml_node *kubeconfig_files_current(const struct kubeconfig_files *files)
{
    for (size_t i = 0; i < files->count; i++) {
        const struct yaml_node *current = yaml_get(files->roots[i], "current-context");
        const char *name = yaml_string(current);
        if (name && *name)
            return current;
    }
    return NULL;
}
