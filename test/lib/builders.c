#include "builders.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

struct inf_object *object_from(const char *text)
{
    struct object_maker maker = {.text = {0}};
    struct inf_object *object = NULL;
    struct inf_error err;
    if (object_make(&maker, str_of(text), NULL, &object, &err) < 0) {
        fprintf(stderr, "test: %s: %s\n", text, err.text);
        abort();
    }
    object_maker_free(&maker);
    return object;
}

struct inf_object *pod(const char *key, const char *uid, uint64_t version, int n)
{
    const char *slash = strchr(key, '/');
    char *text = xasprintf("{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"%s\","
                           "\"namespace\":\"%.*s\",\"uid\":\"%s\",\"resourceVersion\":\"%" PRIu64
                           "\"},\"spec\":{\"n\":%d}}",
                           slash + 1, (int)(slash - key), key, uid, version, n);
    struct inf_object *object = object_from(text);
    free(text);
    return object;
}
