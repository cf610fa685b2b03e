/*
 * fuzz_selector.c - a selector, a newline, a JSON text: parsed as a label selector, then as a field
 * selector. Its canonical spelling is stable and matches the same objects.
 */
#include "core/select/selector.h"
#include "fuzz.h"

typedef struct inf_selector *parse_fn(const char *text, struct inf_error *err);

static void check(parse_fn *parse, const struct fuzz_input *input)
{
    struct inf_error err = {.code = 0};
    struct inf_selector *selector = parse(input->text, &err), *again;
    if (!selector) {
        MUST(err.code == INF_EINVAL && strstr(err.text, "': column "));
        return;
    }
    again = parse(inf_selector_text(selector), NULL);
    MUST(again && again->count == selector->count);
    MUST(strcmp(inf_selector_text(again), inf_selector_text(selector)) == 0);
    MUST(selector_matches_text(again, input->json) == selector_matches_text(selector, input->json));
    if (selector->kind == SELECT_BY_LABELS)
        MUST(selector_matches_labels(again, input->json) ==
             selector_matches_labels(selector, input->json));
    inf_selector_free(again);
    inf_selector_free(selector);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct fuzz_input input = fuzz_split(bytes, len);
    check(inf_selector_parse_labels, &input);
    check(inf_selector_parse_fields, &input);
    fuzz_free(&input);
    return 0;
}
