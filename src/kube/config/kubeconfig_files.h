/*
 * kubeconfig_files.h - reads the kubeconfig files and merges them as kubectl does.
 *
 * The files are the one given by the caller, else those of $KUBECONFIG, else ~/.kube/config. If two
 * files have an entry of the same name, the first file's entry is used as a whole; the contents of
 * entries are not merged.
 */
#ifndef KUBE_CONFIG_KUBECONFIG_FILES_H
#define KUBE_CONFIG_KUBECONFIG_FILES_H

#include <stddef.h>

#include "informer/error.h"

#include "base/buf.h"

struct yaml_node;

struct kubeconfig_files {
    struct yaml_node **roots; /* one per file, highest precedence first */
    size_t count;
    char *origin; /* their names, as $KUBECONFIG would list them */
};

/*
 * Reads and checks the files; nodes found in them live until kubeconfig_files_free().
 *
 * Returns 0; -INF_ENOTFOUND if no @path was given and the default locations have no file;
 * -INF_ECONF if a file can't be used.
 */
int kubeconfig_files_read(const char *path, struct kubeconfig_files *ret, struct inf_error *err);

void kubeconfig_files_free(struct kubeconfig_files *files);

/* The entry ({name: ..., ...}) of that name in @list, "contexts", "clusters" or "users"; or NULL.
 */
const struct yaml_node *kubeconfig_files_find(const struct kubeconfig_files *files,
                                              const char *list, const char *name);

/* Adds "'a', 'b'", or "none". */
void kubeconfig_files_names(const struct kubeconfig_files *files, const char *list,
                            struct buf *names);

/* The first current-context that isn't empty, a scalar; or NULL. */
const struct yaml_node *kubeconfig_files_current(const struct kubeconfig_files *files);

#endif
