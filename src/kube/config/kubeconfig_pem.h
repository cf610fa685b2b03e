/*
 * kubeconfig_pem.h - certificates and keys: from a file, or from data in the kubeconfig itself.
 */
#ifndef KUBE_CONFIG_KUBECONFIG_PEM_H
#define KUBE_CONFIG_KUBECONFIG_PEM_H

#include "informer/error.h"

#include "kube/config/kubeconfig_entry.h"

/*
 * Reads the PEM text from @file or @data; if neither is given, changes nothing. The caller frees
 * both results; @ret_path is the file's absolute path (NULL for @data), for reading it again.
 * Returns 0, or -INF_ECONF. Errors do not name the file: if a user wrote the key itself into that
 * field, it would appear in the log.
 */
int kubeconfig_pem(const struct entry *entry, const struct yaml_node *file,
                   const struct yaml_node *data, char **ret_pem, char **ret_path,
                   struct inf_error *err);

/* Reads the text of such a file; the caller frees it with secret_free(). Returns 0, or -INF_EIO
 * with a message that names the file. */
int pem_file_read(const char *path, char **ret_pem, struct inf_error *err);

#endif
