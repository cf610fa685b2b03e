/*
 * fuzz_condition.c - a condition, a newline, a JSON value that becomes the status of a pod. A condition
 * that holds for an object has not begun with a change that changed nothing, and begins with the object.
 */
#include "core/object/object.h"
#include "daemon/rule/condition.h"
#include "fuzz.h"

static struct inf_object *object_of(struct str status)
{
    char *text = xasprintf("{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"a\","
                           "\"namespace\":\"b\",\"uid\":\"c\",\"resourceVersion\":\"1\"},"
                           "\"status\":%.*s}",
                           STR_FMT(status));
    struct object_maker maker = {.text = {0}};
    struct inf_object *object = NULL;
    if (object_make(&maker, str_of(text), NULL, &object, NULL) < 0)
        object = NULL;
    object_maker_free(&maker);
    free(text);
    return object;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct fuzz_input input = fuzz_split(bytes, len);
    struct inf_error err = {.code = 0};
    struct condition *condition = condition_parse(input.text, &err);
    struct inf_object *object;
    MUST(condition || (err.code == INF_EINVAL && strstr(err.text, "': column ")));
    object = condition ? object_of(input.json) : NULL;
    if (object) {
        bool holds = condition_holds(condition, object);
        MUST(condition_began(condition, NULL, object) == holds);
        MUST(!condition_began(condition, object, object));
        inf_object_unref(object);
    }
    condition_free(condition);
    fuzz_free(&input);
    return 0;
}
