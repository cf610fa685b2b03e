/*
 * folder.h - a temporary directory for a test that needs real files.
 */
#ifndef TEST_FOLDER_H
#define TEST_FOLDER_H

struct folder {
    char path[64];
};

void folder_make(struct folder *folder);

/* Removes the directory with its content. */
void folder_remove(struct folder *folder);

/* "<folder>/name"; the caller frees it. */
char *folder_file(const struct folder *folder, const char *name);

/* The text of a file, or "(none)" if it does not exist; the caller frees it. */
char *folder_read(const struct folder *folder, const char *name);

void folder_write(const struct folder *folder, const char *name, const char *text);

/* Asserts the content of a file; "(none)": that it does not exist. */
void assert_file(const struct folder *folder, const char *name, const char *text);

#endif
