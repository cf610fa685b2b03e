/*
 * conf_world.h - an empty directory for configuration files, and the results of loading them.
 */
#ifndef TEST_CONF_WORLD_H
#define TEST_CONF_WORLD_H

#include "daemon/conf/conf.h"

/* For cmocka: each test runs in its own directory, whose path is the state. */
int conf_world_setup(void **state);
int conf_world_teardown(void **state);

/* Writes a file into it; creates the directory before a '/'. */
void conf_world_put(const char *name, const char *text);

/* Loads a text named "x.conf" that must be valid. The caller frees it. */
struct conf conf_world_text(const char *text);

/* The same for the file "x.conf". */
struct conf conf_world_file(void);

/* The errors of a text or of the file "x.conf", which must be invalid. The caller frees them. */
char *conf_world_text_errors(const char *text);
char *conf_world_file_errors(void);

/* The output of conf_print(), with comments and without. The caller frees it. */
char *conf_world_print(const struct conf *conf);
char *conf_world_effect(const struct conf *conf);

#endif
