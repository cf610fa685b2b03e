/*
 * table_config.c - the rows of ConfigMaps, Secrets, ServiceAccounts, Namespaces, Leases and
 * ResourceQuotas.
 */
#include "daemon/table/table_cell.h"
#include "daemon/table/table_selector.h"

/* ---- ConfigMaps and Secrets: the number of keys ---- */

static const struct table_column configmap_columns[] = {
    TABLE_NAME,
    {"Data", "string", "", 0, "number of keys"},
    TABLE_AGE,
};

static void configmap_put_cells(struct table_row *row)
{
    cell_put_name(row);
    cell_put_count(row, value_count(field_get(row->text, "data")) +
                            value_count(field_get(row->text, "binaryData")));
    cell_put_age(row);
}

const struct table_printer table_configmaps =
    TABLE_PRINTER("", "configmaps", configmap_columns, configmap_put_cells);

static const struct table_column secret_columns[] = {
    TABLE_NAME,
    {"Type", "string", "", 0, "what the secret is for"},
    {"Data", "string", "", 0, "number of keys"},
    TABLE_AGE,
};

static void secret_put_cells(struct table_row *row)
{
    cell_put_name(row);
    cell_put_string(row, field_get(row->text, "type"), "");
    cell_put_count(row, value_count(field_get(row->text, "data")));
    cell_put_age(row);
}

const struct table_printer table_secrets =
    TABLE_PRINTER("", "secrets", secret_columns, secret_put_cells);

/* ---- ServiceAccounts ---- */

static const struct table_column account_columns[] = {TABLE_NAME, TABLE_AGE};

static void account_put_cells(struct table_row *row)
{
    cell_put_name(row);
    cell_put_age(row);
}

const struct table_printer table_serviceaccounts =
    TABLE_PRINTER("", "serviceaccounts", account_columns, account_put_cells);

/* ---- Namespaces ---- */

static const struct table_column namespace_columns[] = {
    TABLE_NAME,
    {"Status", "string", "", 0, "Active or Terminating"},
    TABLE_AGE,
};

static void namespace_put_cells(struct table_row *row)
{
    cell_put_name(row);
    cell_put_string(row, field_get(row->status, "phase"), "");
    cell_put_age(row);
}

const struct table_printer table_namespaces =
    TABLE_PRINTER("", "namespaces", namespace_columns, namespace_put_cells);

/* ---- Leases ---- */

static const struct table_column lease_columns[] = {
    TABLE_NAME,
    {"Holder", "string", "", 0, "current holder of the lease"},
    TABLE_AGE,
};

static void lease_put_cells(struct table_row *row)
{
    cell_put_name(row);
    cell_put_string(row, field_get(row->spec, "holderIdentity"), "");
    cell_put_age(row);
}

const struct table_printer table_leases =
    TABLE_PRINTER("coordination.k8s.io", "leases", lease_columns, lease_put_cells);

/* ---- ResourceQuotas ---- */

static const struct table_column quota_columns[] = {
    TABLE_NAME,
    {"Request", "string", "", 0, "requests and counts: used/hard"},
    {"Limit", "string", "", 0, "limits: used/hard"},
    TABLE_AGE,
};

static void read_sorted(struct text_set *set, struct str map)
{
    struct json_walk walk;
    struct json_member member;
    json_walk_start(&walk, map);
    while (json_walk_next(&walk, &member))
        text_set_add(set, member.key, member.value);
    text_set_sort(set);
}

static bool is_limit(struct str resource)
{
    return resource.len >= 7 && memcmp(resource.at, "limits.", 7) == 0;
}

/* "cpu: 1/2, memory: 0/1Gi": those that are limits, or the others. Both sets are sorted. */
static void put_quotas(struct table_row *row, const struct text_set *hard,
                       const struct text_set *used, bool limits)
{
    const char *separator = "";
    size_t at = 0;
    cell_open(row);
    for (size_t i = 0; i < hard->count; i++) {
        struct str name = hard->items[i].key;
        while (at < used->count && str_cmp(used->items[at].key, name) < 0)
            at++;
        if (is_limit(name) != limits)
            continue;
        text_puts(row, separator);
        separator = ", ";
        buf_put(row->out, name.at, name.len);
        text_puts(row, ": ");
        text_put(row, at < used->count && str_eq(used->items[at].key, name) ? used->items[at].value
                                                                            : STR("0"));
        buf_putc(row->out, '/');
        text_put(row, hard->items[i].value);
    }
    cell_close(row);
}

static void quota_put_cells(struct table_row *row)
{
    struct text_set hard = {0}, used = {0};
    read_sorted(&hard, field_get(row->status, "hard"));
    read_sorted(&used, field_get(row->status, "used"));
    cell_put_name(row);
    put_quotas(row, &hard, &used, false);
    put_quotas(row, &hard, &used, true);
    cell_put_age(row);
    text_set_free(&hard);
    text_set_free(&used);
}

const struct table_printer table_resourcequotas =
    TABLE_PRINTER("", "resourcequotas", quota_columns, quota_put_cells);
