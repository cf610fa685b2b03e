/*
 * table_access.c - the rows of RoleBindings and ClusterRoleBindings. Roles and ClusterRoles have the
 * server's default columns.
 */
#include "daemon/table/table_cell.h"

static const struct table_column columns[] = {
    TABLE_NAME,
    {"Role", "string", "", 0, "role that is granted"},
    TABLE_AGE,
    {"Users", "string", "", 1, "users that have the role"},
    {"Groups", "string", "", 1, "groups that have the role"},
    {"ServiceAccounts", "string", "", 1, "service accounts that have the role"},
};

/* The names of all subjects of one kind; those of service accounts have their namespace. */
static void put_subjects(struct table_row *row, struct str subjects, struct str kind)
{
    struct json_walk walk;
    struct str item;
    const char *separator = "";
    cell_open(row);
    json_items_start(&walk, subjects);
    while (json_items_next(&walk, &item)) {
        if (!value_is(field_get(item, "kind"), kind))
            continue;
        text_puts(row, separator);
        separator = ", ";
        if (str_eq(kind, STR("ServiceAccount"))) {
            text_put(row, field_get(item, "namespace"));
            buf_putc(row->out, '/');
        }
        text_put(row, field_get(item, "name"));
    }
    cell_close(row);
}

static void binding_put_cells(struct table_row *row)
{
    struct str role = field_get(row->text, "roleRef"), subjects = field_get(row->text, "subjects");
    cell_put_name(row);
    cell_open(row);
    text_put(row, field_get(role, "kind"));
    buf_putc(row->out, '/');
    text_put(row, field_get(role, "name"));
    cell_close(row);
    cell_put_age(row);
    put_subjects(row, subjects, STR("User"));
    put_subjects(row, subjects, STR("Group"));
    put_subjects(row, subjects, STR("ServiceAccount"));
}

const struct table_printer table_clusterrolebindings =
    TABLE_PRINTER("rbac.authorization.k8s.io", "clusterrolebindings", columns, binding_put_cells);
const struct table_printer table_rolebindings =
    TABLE_PRINTER("rbac.authorization.k8s.io", "rolebindings", columns, binding_put_cells);
