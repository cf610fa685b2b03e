/*
 * conf_api.c - checks the entries of `api.readers`.
 *
 * A reader has a unique name, exactly one identity (uid, group or token_file), and refers only to
 * watches that exist. Every error is reported at the key or entry that causes it; users, groups and
 * token files are looked up later, when the configuration is applied.
 */
#include "daemon/conf/conf_api.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "daemon/conf/conf.h"
#include "daemon/conf/conf_finalize.h"
#include "loop/peer_credentials.h"

static const char *const identities[] = {"uid", "group", "token_file"};

/* Enters "api.readers[1]". Entries are counted within their file, not over all files. */
static size_t enter_reader(struct conf_reader *reader, const struct conf *conf,
                           const struct yaml_node *entry)
{
    size_t before = conf_reader_enter(reader, "api");
    conf_reader_enter(reader, "readers");
    for (size_t i = 0; i < conf->n_files; i++) {
        const struct yaml_node *api = yaml_get(conf->files[i], "api");
        const struct yaml_node *all = api ? yaml_get(api, "readers") : NULL;
        size_t n = 0;
        for (const struct yaml_node *e = all ? all->first : NULL; e; e = e->next, n++)
            if (e == entry)
                conf_reader_enter_nth(reader, n);
    }
    return before;
}

static void check_identity(struct conf_reader *reader, const struct yaml_node *entry)
{
    const struct yaml_node *first = NULL;
    for (size_t i = 0; i < ARRAY_LEN(identities); i++) {
        const struct yaml_node *node = yaml_get(entry, identities[i]);
        if (node && first)
            conf_reader_error(reader, node, "a reader has only one of uid, group and token_file");
        first = first ? first : node;
    }
    if (!first)
        conf_reader_error(reader, entry,
                          "missing key 'uid', 'group' or 'token_file'; for example 'uid: 1000'");
}

static void check_uid(struct conf_reader *reader, const struct conf_api_reader *r)
{
    if (r->uid && strtoul(r->uid, NULL, 10) == PEER_OVERFLOW_UID)
        conf_reader_error(reader, yaml_get(r->head.node, "uid"),
                          "uid %d stands for all users of other user namespaces and is never a "
                          "reader; use another user",
                          PEER_OVERFLOW_UID);
}

static void check_unique_reader(struct conf_reader *reader, const struct conf_api *api, size_t n)
{
    const struct conf_api_reader *r = &api->readers[n];
    const struct yaml_node *node = yaml_get(r->head.node, "name");
    for (size_t i = 0; r->name && i < n; i++)
        if (api->readers[i].name && strcmp(api->readers[i].name, r->name) == 0) {
            conf_reader_error(reader, node ? node : r->head.node,
                              "duplicate reader name '%s'; choose another name", r->name);
            return;
        }
}

/* The n-th name of the list always corresponds to the n-th node: see conf_type_list.c. */
static void check_watches(struct conf_reader *reader, const struct conf *conf,
                          const struct conf_api_reader *r)
{
    const struct yaml_node *list = yaml_get(r->head.node, "watches");
    const struct yaml_node *node = list ? list->first : NULL;
    size_t before = conf_reader_enter(reader, "watches");
    for (size_t i = 0; i < r->watches.count; i++, node = node->next) {
        size_t within = conf_reader_enter_nth(reader, i);
        if (r->watches.items[i][0])
            conf_check_watch_name(reader, conf, node, r->watches.items[i]);
        conf_reader_leave(reader, within);
    }
    conf_reader_leave(reader, before);
}

void conf_api_check(struct conf_reader *reader, const struct conf *conf)
{
    const struct conf_api *api = &conf->api;
    for (size_t i = 0; i < api->n_readers; i++) {
        const struct yaml_node *entry = api->readers[i].head.node;
        size_t before = enter_reader(reader, conf, entry);
        if (entry->kind == YAML_MAPPING)
            check_identity(reader, entry);
        check_uid(reader, &api->readers[i]);
        check_unique_reader(reader, api, i);
        check_watches(reader, conf, &api->readers[i]);
        conf_reader_leave(reader, before);
    }
}
