/*
 * conf_world.h - an empty directory to put conf files into, and what comes of loading them.
 */
#ifndef TEST_CONF_WORLD_H
#define TEST_CONF_WORLD_H

#include "daemon/conf/conf.h"

/* cmocka's: each test runs in a directory of its own, whose name is its state. */
int conf_world_setup(void **state);
int conf_world_teardown(void **state);

/* Writes a file into it; the folder before a '/' is made. */
void conf_world_put(const char *name, const char *text);

/* Loads a text called "x.conf" that must be good. The caller frees it. */
struct conf conf_world_text(const char *text);

/* The same for the file "x.conf". */
struct conf conf_world_file(void);

/* The errors of a text or of the file "x.conf", which must have some. The caller frees them. */
char *conf_world_text_errors(const char *text);
char *conf_world_file_errors(void);

/* What conf_print() makes of @conf; the caller frees it. Without the comments: what is in effect. */
char *conf_world_print(const struct conf *conf);
char *conf_world_effect(const struct conf *conf);

#endif
