/*
 * kubeconfig_place.h - an empty directory that is HOME and the working directory, with kubeconfigs
 * that the test writes.
 *
 * KUBECONFIG is not set; ca.pem is some text, empty.pem is empty.
 */
#ifndef TEST_KUBECONFIG_PLACE_H
#define TEST_KUBECONFIG_PLACE_H

#include <stddef.h>

#include "kube/config/kubeconfig.h"

/* Cluster fields are on line 5, from column 13; user fields on line 8, from column 10. */
#define CONFIG(cluster, user)                                 \
    "current-context: c\n"                                    \
    "contexts: [{name: c, context: {cluster: k, user: u}}]\n" \
    "clusters:\n"                                             \
    "- name: k\n"                                             \
    "  cluster: {" cluster "}\n"                              \
    "users:\n"                                                \
    "- name: u\n"                                             \
    "  user: {" user "}\n"
#define HTTPS "server: 'https://h'"
#define EXEC  "exec: {command: x, apiVersion: client.authentication.k8s.io/v1"

/* For cmocka; the state is the path of the directory. */
int kubeconfig_place_setup(void **state);
int kubeconfig_place_teardown(void **state);

/* Writes a file. */
void put_config(const char *name, const char *text);

/* Loads a valid configuration, which the caller frees. */
struct kubeconfig load_config(const char *path, const char *context);

/* Expects this error. */
void assert_config_error(const char *path, const char *context, int code, const char *text);

/* An invalid file, called "config", and its error. */
struct bad_config {
    const char *text;
    const char *error;
};

/* Expects each error, also if no error is requested. */
void assert_bad_configs(const struct bad_config *rows, size_t n);

/* A row of the table of tests; each runs in its own directory. */
#define KUBECONFIG_TEST(name) \
    cmocka_unit_test_setup_teardown(name, kubeconfig_place_setup, kubeconfig_place_teardown)

#endif
