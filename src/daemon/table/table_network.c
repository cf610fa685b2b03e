/*
 * table_network.c - the rows of Services, Endpoints, EndpointSlices, Ingresses and NetworkPolicies.
 */
#include "daemon/table/table_cell.h"
#include "daemon/table/table_selector.h"

/* ---- addresses of load balancers, for Services and Ingresses ---- */

/* The addresses, or host names, each once and in order. Returns whether there are any. */
static bool put_load_balancer(struct table_row *row)
{
    struct text_set set = {0};
    struct json_walk walk;
    struct str item;
    size_t count;
    json_items_start(&walk, field_get(row->status, "loadBalancer.ingress"));
    while (json_items_next(&walk, &item)) {
        struct str ip = value_text(field_get(item, "ip"));
        struct str address = ip.len ? ip : value_text(field_get(item, "hostname"));
        if (address.len)
            text_set_add(&set, address, (struct str){0});
    }
    count = set.count;
    text_set_put_unique(&set, row);
    return count;
}

/* ---- Services ---- */

static const struct table_column service_columns[] = {
    TABLE_NAME,
    {"Type", "string", "", 0, "how the service is exposed"},
    {"Cluster-IP", "string", "", 0, "IP address inside of the cluster"},
    {"External-IP", "string", "", 0, "IP addresses or name outside of the cluster"},
    {"Port(s)", "string", "", 0, "ports, with the ports on the nodes"},
    TABLE_AGE,
    {"Selector", "string", "", 1, "labels of the pods"},
};

static void put_cluster_ip(struct table_row *row)
{
    struct json_walk walk;
    struct str first = {0};
    json_items_start(&walk, field_get(row->spec, "clusterIPs"));
    if (json_items_next(&walk, &first))
        cell_put_string(row, first, "");
    else
        cell_put_string(row, field_get(row->spec, "clusterIP"), "<none>");
}

static void put_external_ip(struct table_row *row, struct str type)
{
    struct str external = field_get(row->spec, "externalIPs");
    bool has_external = value_count(external) > 0;
    cell_open(row);
    if (value_is(type, STR("LoadBalancer"))) {
        bool has_address = put_load_balancer(row);
        if (has_address && has_external)
            buf_putc(row->out, ',');
        text_put_each(row, external, NULL);
        if (!has_address && !has_external)
            text_puts(row, "<pending>");
    } else if (value_is(type, STR("ExternalName"))) {
        text_put(row, field_get(row->spec, "externalName"));
    } else if (!value_is(type, STR("ClusterIP")) && !value_is(type, STR("NodePort"))) {
        text_puts(row, "<unknown>");
    } else if (has_external) {
        text_put_each(row, external, NULL);
    } else {
        text_puts(row, "<none>");
    }
    cell_close(row);
}

/* 80/TCP, or 80:30080/TCP with a port on the nodes. */
static void put_service_ports(struct table_row *row)
{
    struct json_walk walk;
    struct str item;
    size_t count = 0;
    cell_open(row);
    json_items_start(&walk, field_get(row->spec, "ports"));
    for (; json_items_next(&walk, &item); count++) {
        int64_t node_port = value_int(field_get(item, "nodePort"));
        if (count)
            buf_putc(row->out, ',');
        text_put_int(row, value_int(field_get(item, "port")));
        if (node_port > 0) {
            buf_putc(row->out, ':');
            text_put_int(row, node_port);
        }
        buf_putc(row->out, '/');
        text_put(row, field_get(item, "protocol"));
    }
    if (!count)
        text_puts(row, "<none>");
    cell_close(row);
}

static void service_put_cells(struct table_row *row)
{
    struct str type = field_get(row->spec, "type");
    cell_put_name(row);
    cell_put_string(row, type, "");
    put_cluster_ip(row);
    put_external_ip(row, type);
    put_service_ports(row);
    cell_put_age(row);
    cell_put_labels(row, field_get(row->spec, "selector"));
}

const struct table_printer table_services =
    TABLE_PRINTER("", "services", service_columns, service_put_cells);

/* ---- Endpoints ---- */

enum {
    ENDPOINTS_SHOWN = 3,
};

static const struct table_column endpoints_columns[] = {
    TABLE_NAME,
    {"Endpoints", "string", "", 0, "addresses and ports of ready pods"},
    TABLE_AGE,
};

/* An IPv6 address gets brackets before a port. */
static void put_address(struct table_row *row, struct str ip, int64_t port)
{
    struct str text = value_text(ip);
    bool brackets = port >= 0 && text.len && memchr(text.at, ':', text.len);
    if (brackets)
        buf_putc(row->out, '[');
    text_put(row, ip);
    if (brackets)
        buf_putc(row->out, ']');
    if (port >= 0) {
        buf_putc(row->out, ':');
        text_put_int(row, port);
    }
}

/* All addresses of a subset with one port; -1: without a port, as headless services may have none. */
static void put_addresses(struct table_row *row, struct short_list *list, struct str addresses,
                          int64_t port)
{
    struct json_walk walk;
    struct str item;
    json_items_start(&walk, addresses);
    while (json_items_next(&walk, &item))
        if (short_list_add(list, row))
            put_address(row, field_get(item, "ip"), port);
}

/* Addresses count once per port. They are not walked again after the list is full. */
static void put_subset(struct table_row *row, struct short_list *list, struct str subset)
{
    struct json_walk walk;
    struct str ports = field_get(subset, "ports"), addresses = field_get(subset, "addresses"), port;
    size_t count = value_count(addresses);
    json_items_start(&walk, ports);
    if (!json_items_next(&walk, &port)) {
        put_addresses(row, list, addresses, -1);
        return;
    }
    do {
        if (list->count < list->max)
            put_addresses(row, list, addresses, value_int(field_get(port, "port")));
        else
            list->count += count;
    } while (json_items_next(&walk, &port));
}

static void endpoints_put_cells(struct table_row *row)
{
    struct short_list list = {.separator = ",", .max = ENDPOINTS_SHOWN};
    struct json_walk walk;
    struct str subset;
    size_t subsets = 0;
    cell_put_name(row);
    cell_open(row);
    json_items_start(&walk, field_get(row->text, "subsets"));
    for (; json_items_next(&walk, &subset); subsets++)
        put_subset(row, &list, subset);
    short_list_end(&list, row);
    if (!subsets)
        text_puts(row, "<none>");
    cell_close(row);
    cell_put_age(row);
}

const struct table_printer table_endpoints =
    TABLE_PRINTER("", "endpoints", endpoints_columns, endpoints_put_cells);

/* ---- EndpointSlices ---- */

static const struct table_column slice_columns[] = {
    TABLE_NAME,
    {"AddressType", "string", "", 0, "IPv4, IPv6 or FQDN"},
    {"Ports", "string", "", 0, "ports of all endpoints"},
    {"Endpoints", "string", "", 0, "addresses of the endpoints"},
    TABLE_AGE,
};

static void slice_end_list(struct table_row *row, struct short_list *list)
{
    short_list_end(list, row);
    if (!list->count)
        text_puts(row, "<unset>");
    cell_close(row);
}

static void put_slice_ports(struct table_row *row)
{
    struct short_list list = {.separator = ",", .max = ENDPOINTS_SHOWN};
    struct json_walk walk;
    struct str item;
    cell_open(row);
    json_items_start(&walk, field_get(row->text, "ports"));
    while (json_items_next(&walk, &item)) {
        struct str port = field_get(item, "port"), name = field_get(item, "name");
        if (short_list_add(&list, row))
            text_put(row, port.len ? port : name.len ? name : STR("*"));
    }
    slice_end_list(row, &list);
}

static void put_slice_endpoints(struct table_row *row)
{
    struct short_list list = {.separator = ",", .max = ENDPOINTS_SHOWN};
    struct json_walk walk, addresses;
    struct str item, address;
    cell_open(row);
    json_items_start(&walk, field_get(row->text, "endpoints"));
    while (json_items_next(&walk, &item)) {
        json_items_start(&addresses, field_get(item, "addresses"));
        while (json_items_next(&addresses, &address))
            if (short_list_add(&list, row))
                text_put(row, address);
    }
    slice_end_list(row, &list);
}

static void slice_put_cells(struct table_row *row)
{
    cell_put_name(row);
    cell_put_string(row, field_get(row->text, "addressType"), "");
    put_slice_ports(row);
    put_slice_endpoints(row);
    cell_put_age(row);
}

const struct table_printer table_endpointslices =
    TABLE_PRINTER("discovery.k8s.io", "endpointslices", slice_columns, slice_put_cells);

/* ---- Ingresses ---- */

enum {
    HOSTS_SHOWN = 3,
};

static const struct table_column ingress_columns[] = {
    TABLE_NAME,
    {"Class", "string", "", 0, "ingress class"},
    {"Hosts", "string", "", 0, "host names of the rules"},
    {"Address", "string", "", 0, "addresses of the load balancer"},
    {"Ports", "string", "", 0, "80, and 443 with TLS"},
    TABLE_AGE,
};

/* Rules after the third host are only counted, and so are rules before it that have no host. */
static void put_hosts(struct table_row *row)
{
    struct json_walk walk;
    struct str rule;
    int64_t shown = 0, rules = 0;
    bool more = false;
    cell_open(row);
    json_items_start(&walk, field_get(row->spec, "rules"));
    for (; json_items_next(&walk, &rule); rules++) {
        struct str host = field_get(rule, "host");
        more = more || shown == HOSTS_SHOWN;
        if (more || value_is_blank(host))
            continue;
        if (shown++)
            buf_putc(row->out, ',');
        text_put(row, host);
    }
    if (!shown)
        buf_putc(row->out, '*');
    if (more) {
        text_puts(row, " + ");
        text_put_int(row, rules - HOSTS_SHOWN);
        text_puts(row, " more...");
    }
    cell_close(row);
}

static void ingress_put_cells(struct table_row *row)
{
    cell_put_name(row);
    cell_put_optional(row, field_get(row->spec, "ingressClassName"), "<none>");
    put_hosts(row);
    cell_open(row);
    put_load_balancer(row);
    cell_close(row);
    cell_put_text(row, value_count(field_get(row->spec, "tls")) ? "80, 443" : "80");
    cell_put_age(row);
}

const struct table_printer table_ingresses =
    TABLE_PRINTER("networking.k8s.io", "ingresses", ingress_columns, ingress_put_cells);

/* ---- NetworkPolicies ---- */

static const struct table_column policy_columns[] = {
    TABLE_NAME,
    {"Pod-Selector", "string", "", 0, "labels of the pods"},
    TABLE_AGE,
};

static void policy_put_cells(struct table_row *row)
{
    cell_put_name(row);
    cell_put_selector(row, field_get(row->spec, "podSelector"), "<none>");
    cell_put_age(row);
}

const struct table_printer table_networkpolicies =
    TABLE_PRINTER("networking.k8s.io", "networkpolicies", policy_columns, policy_put_cells);
