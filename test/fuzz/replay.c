/*
 * replay.c - replay DIRECTORY: runs a target on every file of its corpus and on every prefix of it; in the
 * quick tier of long files only on some of them. The target and the sanitizers check the result.
 */
#include <dirent.h>

#include "base/file.h"
#include "fuzz.h"
#include "tier.h"

enum {
    FILE_MAX = 1024 * 1024,
    PREFIXES_MAX = 4096, /* of longer files no prefixes are tried */
    QUICK_PREFIXES = 500,
};

/* In an allocation of the exact size. */
static void give(const char *text, size_t len)
{
    uint8_t *copy = xmalloc(len ? len : 1);
    memcpy(copy, text, len);
    LLVMFuzzerTestOneInput(copy, len);
    free(copy);
}

/* A prime, so that the prefixes end at all positions of words and records. */
static size_t prefix_step(size_t len)
{
    return tier_is_full() || len <= QUICK_PREFIXES ? 1 : 7;
}

static int replay(const char *directory, const char *name)
{
    char *path = xasprintf("%s/%s", directory, name), *text;
    struct inf_error err;
    size_t len;
    int rc = file_read(path, FILE_MAX, &text, &len, &err);
    free(path);
    if (rc < 0) {
        fprintf(stderr, "%s\n", err.text);
        return rc;
    }
    for (size_t cut = 0; cut < len && len <= PREFIXES_MAX; cut += prefix_step(len))
        give(text, cut);
    give(text, len);
    free(text);
    return 0;
}

int main(int argc, char **argv)
{
    DIR *directory = argc == 2 ? opendir(argv[1]) : NULL;
    const struct dirent *entry;
    size_t files = 0;
    int rc = 0;
    if (!directory) {
        fprintf(stderr, "usage: replay DIRECTORY\n");
        return 2;
    }
    while (rc == 0 && (entry = readdir(directory)))
        if (entry->d_name[0] != '.') {
            rc = replay(argv[1], entry->d_name);
            files++;
        }
    closedir(directory);
    if (rc == 0 && !files)
        fprintf(stderr, "%s is empty\n", argv[1]);
    return rc == 0 && files ? 0 : 1;
}
