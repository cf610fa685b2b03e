/*
 * folder.h - a directory of its own for a test that needs real files.
 */
#ifndef TEST_FOLDER_H
#define TEST_FOLDER_H

struct folder {
    char path[64];
};

void folder_make(struct folder *folder);

/* With all that is in it. */
void folder_remove(struct folder *folder);

/* "<folder>/name", the caller's to free. */
char *folder_file(const struct folder *folder, const char *name);

/* The text of a file, the caller's to free; "(none)" if there is no such file. */
char *folder_read(const struct folder *folder, const char *name);

void folder_write(const struct folder *folder, const char *name, const char *text);

/* That a file says exactly this; "(none)": that it is not there. */
void assert_file(const struct folder *folder, const char *name, const char *text);

#endif
