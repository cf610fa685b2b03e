/*
 * conf_levels.c - checks the entries of `levels` and makes rules of them.
 *
 * An entry has a kind, a test (`when` or `changed`) and a level. One with the name of a built-in rule
 * may lack kind and test, which are then those of the built-in rule. Errors are reported at the key or
 * entry that causes them.
 */
#include "daemon/conf/conf_levels.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/text/nearest.h"
#include "daemon/conf/conf.h"
#include "daemon/conf/conf_finalize.h"

/* The built-in rule whose name is similar; NULL: none. */
static const char *similar_rule(const char *name)
{
    struct nearest nearest = {0};
    for (const struct level_rule *rule = level_table; rule->name; rule++)
        nearest_try(&nearest, name, rule->name);
    return nearest.word;
}

/* The entry has no test, or no kind, and no built-in rule has its name. */
static void report_missing(struct conf_reader *reader, const struct conf *conf,
                           const struct conf_level *level)
{
    const char *similar = level->name ? similar_rule(level->name) : NULL;
    if (similar)
        conf_entry_error(reader, conf, "levels", level->head.node, "name",
                         "there is no built-in rule of this name; did you mean '%s'? A rule of "
                         "your own needs 'kind', and 'when' or 'changed'",
                         similar);
    else if (!level->kind)
        conf_entry_error(
            reader, conf, "levels", level->head.node, "kind",
            "missing key 'kind'; for example 'kind: Pod'. Only a rule with the name of "
            "a built-in one can omit it");
    else
        conf_entry_error(reader, conf, "levels", level->head.node, "when",
                         "missing key 'when' or 'changed'; for example 'when: "
                         "\"status.phase=Failed\"'");
}

void conf_levels_check(struct conf_reader *reader, const struct conf *conf)
{
    for (size_t i = 0; i < conf->n_levels; i++) {
        const struct conf_level *level = &conf->levels[i];
        const struct yaml_node *entry = level->head.node;
        bool has_kind = yaml_get(entry, "kind"); /* also an invalid one, which is reported */
        bool has_test = yaml_get(entry, "when") || yaml_get(entry, "changed");
        if (yaml_get(entry, "when") && yaml_get(entry, "changed"))
            conf_entry_error(reader, conf, "levels", entry, "changed",
                             "cannot be combined with 'when'; use only one of them");
        if ((!has_kind || !has_test) && !(level->name && level_rule_find(level->name)))
            report_missing(reader, conf, level);
    }
}

struct level_rules *conf_levels_make(const struct conf *conf, struct inf_error *err)
{
    struct level_rule *rules = xcalloc(conf->n_levels + 1, sizeof(*rules));
    struct level_rules *made;
    for (size_t i = 0; i < conf->n_levels; i++) {
        const struct conf_level *level = &conf->levels[i];
        rules[i] = (struct level_rule){
            .name = level->name,
            .kind = level->kind,
            .match = level->when ? LEVEL_WHEN : LEVEL_CHANGED,
            .tests = {level->when ? level->when : level->changed},
            .level = INF_LOG_INFO + level->level,
        };
    }
    made = level_rules_make(rules, conf->n_levels, err);
    free(rules);
    return made;
}
