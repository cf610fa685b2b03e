#include "folder.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/buf.h"

void folder_make(struct folder *folder)
{
    const char *tmp = getenv("TMPDIR");
    snprintf(folder->path, sizeof(folder->path), "%s/informerd.XXXXXX", tmp ? tmp : "/tmp");
    assert_non_null(mkdtemp(folder->path));
}

static void remove_below(const char *path)
{
    DIR *dir = opendir(path);
    struct dirent *entry;
    while (dir && (entry = readdir(dir))) {
        char *below = xasprintf("%s/%s", path, entry->d_name);
        bool special = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
        if (!special && unlink(below) < 0) {
            remove_below(below);
            rmdir(below);
        }
        free(below);
    }
    if (dir)
        closedir(dir);
}

void folder_remove(struct folder *folder)
{
    chmod(folder->path, 0700);
    remove_below(folder->path);
    assert_int_equal(rmdir(folder->path), 0);
}

char *folder_file(const struct folder *folder, const char *name)
{
    return xasprintf("%s/%s", folder->path, name);
}

char *folder_read(const struct folder *folder, const char *name)
{
    char *path = folder_file(folder, name);
    FILE *file = fopen(path, "r");
    struct buf text = {0};
    size_t n = 1;
    free(path);
    if (!file)
        return xstrdup("(none)");
    while (n) {
        n = fread(buf_room(&text, 4096), 1, 4096, file);
        text.len += n;
    }
    fclose(file);
    buf_putc(&text, '\0');
    return text.bytes;
}

void folder_write(const struct folder *folder, const char *name, const char *text)
{
    char *path = folder_file(folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
    free(path);
}

void assert_file(const struct folder *folder, const char *name, const char *text)
{
    char *there = folder_read(folder, name);
    assert_string_equal(there, text);
    free(there);
}
