/*
 * kubeconfig_pem.h - certificates and keys: from a file, or from data in the kubeconfig itself.
 */
#ifndef KUBE_CONFIG_KUBECONFIG_PEM_H
#define KUBE_CONFIG_KUBECONFIG_PEM_H

#include "informer/error.h"

#include "kube/config/kubeconfig_entry.h"

/*
 * Errors do not name the file: who has put the key itself there would read it in the log.
 *
 * Takes it from the one that is given; neither is fine and leaves all as it is. Both are the
 * caller's to free; @ret_path is the file's absolute path, for whoever reads it again.
 */
int kubeconfig_pem(const struct entry *entry, const struct yaml_node *file,
                   const struct yaml_node *data, char **ret_pem, char **ret_path,
                   struct inf_error *err);

/* Reads the text of such a file; the caller gives it to secret_free(). Returns 0, or -INF_EIO with
 * a sentence that names the file. */
int pem_file_read(const char *path, char **ret_pem, struct inf_error *err);

#endif
