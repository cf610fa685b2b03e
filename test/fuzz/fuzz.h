/*
 * fuzz.h - the interface of a target: it gets arbitrary bytes and asserts what must hold. replay.c and
 * libFuzzer call it.
 */
#ifndef TEST_FUZZ_H
#define TEST_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static inline void fuzz_must(int holds, const char *what, const char *file, int line)
{
    if (holds)
        return;
    fprintf(stderr, "%s:%d: must hold: %s\n", file, line, what);
    abort();
}

/* Like assert(), but also in a release build. */
#define MUST(holds) fuzz_must((holds), #holds, __FILE__, __LINE__)

/* A text and the JSON it is applied to, each in an allocation of its exact size. */
struct fuzz_input {
    char *text; /* everything except the last line */
    struct str json;
    char *json_bytes;
};

static inline struct fuzz_input fuzz_split(const uint8_t *bytes, size_t len)
{
    const char *at = (const char *)bytes, *line = len ? memrchr(at, '\n', len) : NULL;
    size_t text_len = line ? (size_t)(line - at) : len, skipped = line ? text_len + 1 : len;
    struct fuzz_input input = {.text = xstrndup(at, text_len)};
    input.json_bytes = xmalloc(len - skipped + 1);
    if (len > skipped)
        memcpy(input.json_bytes + 1, at + skipped, len - skipped);
    input.json = (struct str){input.json_bytes + 1, len - skipped};
    return input;
}

static inline void fuzz_free(struct fuzz_input *input)
{
    free(input->text);
    free(input->json_bytes);
}

#endif
