/*
 * test_conf_levels.c - the entries of `levels`: errors, and the rules that they stand for.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "conf_world.h"
#include "daemon/conf/conf_levels.h"

static void errors_name_the_entry_and_the_remedy(void **state)
{
    static const struct {
        const char *text, *error;
    } rows[] = {
        {"levels:\n  - {kind: Pod, level: warn}\n",
         "x.conf:2:5: levels[0]: missing key 'when' or 'changed'; for example 'when: "
         "\"status.phase=Failed\"'\n"},
        {"levels:\n  - {kind: Pod, when: status.phase, level: warn}\n",
         "x.conf:2:23: levels[0].when: condition 'status.phase': column 13: expected an operator: =, !=, "
         ">, >=, <, <=, ~ or in (a, b)\n"},
        {"levels:\n  - {kind: Pod, when: a=1, changed: b, level: warn}\n",
         "x.conf:2:37: levels[0].changed: cannot be combined with 'when'; use only one of them\n"},
        {"levels:\n  - {when: a=1, level: warn}\n",
         "x.conf:2:5: levels[0]: missing key 'kind'; for example 'kind: Pod'. Only a rule with the name "
         "of a built-in one can omit it\n"},
        {"levels:\n  - {kind: Pod, when: a=1}\n",
         "x.conf:2:5: levels[0]: missing key 'level'; for example 'level: error'\n"},
        {"levels:\n  - {kind: Pod, when: a=1, level: debug}\n",
         "x.conf:2:35: levels[0].level: unknown value 'debug'; valid values: info, warn, error\n"},
        {"levels:\n  - {kind: po/d, when: a=1, level: warn}\n",
         "x.conf:2:12: levels[0].kind: 'po/d' is not a kind; use letters and digits only, like Pod or "
         "PersistentVolumeClaim\n"},
        {"levels:\n  - {name: crash-lop, level: warn}\n",
         "x.conf:2:12: levels[0].name: there is no built-in rule of this name; did you mean "
         "'crash-loop'? A rule of your own needs 'kind', and 'when' or 'changed'\n"},
        {"levels:\n  - {name: crash-loop, level: warn}\n  - {name: crash-loop, level: info}\n",
         "x.conf:3:12: levels[1].name: duplicate rule name 'crash-loop', first used at x.conf:2:12; "
         "choose another name\n"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char *errors = conf_world_text_errors(rows[i].text);
        assert_string_equal(errors, rows[i].error);
        free(errors);
    }
}

static void entries_become_rules(void **state)
{
    struct conf conf = conf_world_text(
        "levels:\n"
        "  - {kind: ConfigMap, changed: 'data[*]', level: warn}\n"
        "  - {name: crash-loop, level: info}\n"
        "  - {name: mine, kind: Pod, when: 'status.phase in (Failed, Unknown)', level: error}\n");
    struct inf_error err;
    struct level_rules *rules = conf_levels_make(&conf, &err);
    char *shown = conf_world_effect(&conf);
    (void)state;
    assert_non_null(rules);
    assert_int_equal(conf.n_levels, 3);
    assert_string_equal(conf.levels[0].changed, "data[*]");
    assert_int_equal(conf.levels[1].level, CONF_LEVEL_INFO);
    assert_int_equal(conf.levels[2].level, CONF_LEVEL_ERROR);
    assert_non_null(strstr(shown, "when: \"status.phase in (Failed, Unknown)\""));
    free(shown);
    level_rules_free(rules);
    conf_free(&conf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_name_the_entry_and_the_remedy),
        cmocka_unit_test(entries_become_rules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
