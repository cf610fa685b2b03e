/*
 * table_node.c - the row of a Node.
 */
#include "daemon/table/table_cell.h"
#include "daemon/table/table_selector.h"

static const struct table_column columns[] = {
    TABLE_NAME,
    {"Status", "string", "", 0, "whether the node is ready and accepts pods"},
    {"Roles", "string", "", 0, "roles from the labels of the node"},
    TABLE_AGE,
    {"Version", "string", "", 0, "version of the kubelet"},
    {"Internal-IP", "string", "", 1, "first internal IP address"},
    {"External-IP", "string", "", 1, "first external IP address"},
    {"OS-Image", "string", "", 1, "operating system"},
    {"Kernel-Version", "string", "", 1, "version of the kernel, and the architecture"},
    {"Container-Runtime", "string", "", 1, "container runtime and its version"},
};

/* The last condition of the type counts. */
static void put_status(struct table_row *row)
{
    struct json_walk walk;
    struct str item;
    const char *status = "Unknown";
    json_items_start(&walk, field_get(row->status, "conditions"));
    while (json_items_next(&walk, &item))
        if (value_is(field_get(item, "type"), STR("Ready")))
            status = value_is(field_get(item, "status"), STR("True")) ? "Ready" : "NotReady";
    cell_open(row);
    text_puts(row, status);
    if (value_is_true(field_get(row->spec, "unschedulable")))
        text_puts(row, ",SchedulingDisabled");
    cell_close(row);
}

/* From node-role.kubernetes.io/ROLE and kubernetes.io/role=ROLE. */
static void put_roles(struct table_row *row)
{
    static const struct str prefix = FIELD_NAME("node-role.kubernetes.io/");
    struct text_set roles = {0};
    struct json_walk walk;
    struct json_member label;
    json_walk_start(&walk, field_get(row->metadata, "labels"));
    while (json_walk_next(&walk, &label)) {
        struct str role = {0};
        if (label.key.len > prefix.len && memcmp(label.key.at, prefix.at, prefix.len) == 0)
            role = (struct str){label.key.at + prefix.len, label.key.len - prefix.len};
        else if (str_eq(label.key, STR("kubernetes.io/role")))
            role = value_text(label.value);
        if (role.len)
            text_set_add(&roles, role, (struct str){0});
    }
    cell_open(row);
    if (!roles.count)
        text_puts(row, "<none>");
    text_set_put_unique(&roles, row);
    cell_close(row);
}

static void put_address(struct table_row *row, struct str type)
{
    struct json_walk walk;
    struct str item;
    json_items_start(&walk, field_get(row->status, "addresses"));
    while (json_items_next(&walk, &item))
        if (value_is(field_get(item, "type"), type)) {
            cell_put_string(row, field_get(item, "address"), "");
            return;
        }
    cell_put_text(row, "<none>");
}

static void put_kernel(struct table_row *row, struct str info)
{
    struct str kernel = field_get(info, "kernelVersion"), arch = field_get(info, "architecture");
    cell_open(row);
    if (value_is_blank(kernel))
        text_puts(row, "<unknown>");
    else
        text_put(row, kernel);
    if (!value_is_blank(arch)) {
        text_puts(row, " (");
        text_put(row, arch);
        buf_putc(row->out, ')');
    }
    cell_close(row);
}

static void node_put_cells(struct table_row *row)
{
    struct str info = field_get(row->status, "nodeInfo");
    cell_put_name(row);
    put_status(row);
    put_roles(row);
    cell_put_age(row);
    cell_put_string(row, field_get(info, "kubeletVersion"), "");
    put_address(row, STR("InternalIP"));
    put_address(row, STR("ExternalIP"));
    cell_put_string(row, field_get(info, "osImage"), "<unknown>");
    put_kernel(row, info);
    cell_put_string(row, field_get(info, "containerRuntimeVersion"), "<unknown>");
}

const struct table_printer table_nodes = TABLE_PRINTER("", "nodes", columns, node_put_cells);
