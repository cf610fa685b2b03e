/*
 * conf_filter.c - copies the settings of a filter; see conf_filter.h. Nothing here fails.
 */
#include "daemon/conf/conf_filter.h"

struct filter_settings conf_filter_settings(const struct conf_filter *conf)
{
    return (struct filter_settings){
        .watches = (const char *const *)conf->watches.items,
        .n_watches = conf->watches.count,
        .namespaces = (const char *const *)conf->namespaces.items,
        .n_namespaces = conf->namespaces.count,
        .names = (const char *const *)conf->names.items,
        .n_names = conf->names.count,
        .verbs = conf->verbs,
        .level = INF_LOG_INFO + conf->level,
        .changed = (const char *const *)conf->changed.items,
        .n_changed = conf->changed.count,
        .labels = conf->label_selector,
        .when = conf->when,
        .initial = conf->initial,
    };
}
