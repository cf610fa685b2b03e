/*
 * test_nearest.c - the nearest known word to a misspelled one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base.h"
#include "base/text/nearest.h"

static const char *const words[] = {"label_selector", "field_selector", "namespaces", "name",
                                    "resync",         "http",           "log"};

static const char *nearest_to(const char *text)
{
    struct nearest nearest = {0};
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        nearest_try(&nearest, text, words[i]);
    return nearest.word;
}

static void suggests_a_similar_word(void **state)
{
    (void)state;
    assert_string_equal(nearest_to("lable_selector"), "label_selector");  /* two letters swapped */
    assert_string_equal(nearest_to("labelselector"), "label_selector");   /* a letter missing */
    assert_string_equal(nearest_to("field_sellector"), "field_selector"); /* a letter too many */
    assert_string_equal(nearest_to("rezync"), "resync");                  /* a wrong letter */
    assert_string_equal(nearest_to("NAMESPACES"), "namespaces");          /* uppercase letters */
    assert_string_equal(nearest_to("namespace"), "namespaces");
    assert_string_equal(nearest_to("names"), "name");
    assert_string_equal(nearest_to("lgo"), "log"); /* one edit, although two letters differ */
    assert_string_equal(nearest_to("name"), "name");
}

static void suggests_nothing_for_a_different_word(void **state)
{
    (void)state;
    assert_null(nearest_to("colour"));
    assert_null(nearest_to("g"));
    assert_null(nearest_to(""));
    assert_null(nearest_to("label_selector_label_selector_label_selector_label_selector_label_"));
}

static void suggests_the_first_of_equally_similar_words(void **state)
{
    struct nearest nearest = {0};
    (void)state;
    nearest_try(&nearest, "cart", "card");
    nearest_try(&nearest, "cart", "care");
    assert_string_equal(nearest.word, "card");
    assert_int_equal(nearest.steps, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(suggests_a_similar_word),
        cmocka_unit_test(suggests_nothing_for_a_different_word),
        cmocka_unit_test(suggests_the_first_of_equally_similar_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
