#include "builders.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* Test data that is not valid is a mistake in the test. */
static void require(bool valid, const char *text, const struct inf_error *err)
{
    if (valid)
        return;
    fprintf(stderr, "test: %s: %s\n", text, err->text);
    abort();
}

struct inf_path *path_from(const char *text)
{
    struct inf_error err;
    struct inf_path *path = inf_path_parse(text, &err);
    require(path != NULL, text, &err);
    return path;
}

struct inf_selector *selector_from(selector_parse_fn *parse, const char *text)
{
    struct inf_error err;
    struct inf_selector *selector = parse(text, &err);
    require(selector != NULL, text, &err);
    return selector;
}

struct inf_object *object_from(const char *text)
{
    struct object_maker maker = {.text = {0}};
    struct inf_object *object = NULL;
    struct inf_error err;
    require(object_make(&maker, str_of(text), NULL, &object, &err) == 0, text, &err);
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
