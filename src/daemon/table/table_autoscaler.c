/*
 * table_autoscaler.c - the row of a HorizontalPodAutoscaler, with the current and target value of its
 * metrics.
 *
 * The fields are those of autoscaling/v2. An object of autoscaling/v1 has only the target for the CPU in
 * its spec; other metrics, which are in annotations there, are not shown.
 */
#include "daemon/table/table_cell.h"

enum {
    METRICS_SHOWN = 2,
};

static const struct table_column columns[] = {
    TABLE_NAME,
    {"Reference", "string", "", 0, "object that is scaled"},
    {"Targets", "string", "", 0, "metrics: current value/target"},
    {"MinPods", "string", "", 0, "smallest number of pods"},
    {"MaxPods", "string", "", 0, "largest number of pods"},
    {"Replicas", "string", "", 0, "current number of pods"},
    TABLE_AGE,
};

/* How a type of metric is shown. */
static const struct metric_type {
    struct str type;
    const char *field;   /* of the metric and of its status */
    bool named;          /* "cpu: " before the values */
    bool only_average;   /* there is no other target */
    bool average_suffix; /* " (avg)" after an average */
    bool percent;        /* without an average: utilization in percent, not a value */
} metric_types[] = {
    {FIELD_NAME("External"), "external", false, false, true, false},
    {FIELD_NAME("Pods"), "pods", false, true, false, false},
    {FIELD_NAME("Object"), "object", false, false, true, false},
    {FIELD_NAME("Resource"), "resource", true, false, false, true},
    {FIELD_NAME("ContainerResource"), "containerResource", true, false, false, true},
};

/* A quantity or a percentage; @fallback if it is missing. */
static void put_value(struct table_row *row, struct str value, bool percent, const char *fallback)
{
    if (!value.len) {
        text_puts(row, fallback);
        return;
    }
    text_put(row, value);
    if (percent)
        buf_putc(row->out, '%');
}

/* @metric and @status are the parts for its type. If the status is missing the value is unknown; where
 * the server does not expect that a value is missing it prints <nil>. */
static void put_values(struct table_row *row, const struct metric_type *type, struct str metric,
                       struct str status)
{
    struct str average = field_get(metric, "target.averageValue");
    bool is_average = type->only_average || average.len;
    bool percent = type->percent && !is_average;
    const char *target = is_average ? "target.averageValue"
                         : percent  ? "target.averageUtilization"
                                    : "target.value";
    const char *current = is_average ? "current.averageValue"
                          : percent  ? "current.averageUtilization"
                                     : "current.value";
    bool may_miss = percent || (is_average && type->average_suffix) || !status.len;
    put_value(row, field_get(status, current), percent, may_miss ? "<unknown>" : "<nil>");
    buf_putc(row->out, '/');
    put_value(row, field_get(metric, target), percent, percent ? "<auto>" : "<nil>");
    if (is_average && type->average_suffix)
        text_puts(row, " (avg)");
}

static void put_metric(struct table_row *row, struct str spec, struct str status)
{
    struct str name = field_get(spec, "type");
    for (size_t i = 0; i < ARRAY_LEN(metric_types); i++) {
        const struct metric_type *type = &metric_types[i];
        struct str metric;
        if (!value_is(name, type->type))
            continue;
        metric = field_get(spec, type->field);
        if (type->named) {
            text_put(row, field_get(metric, "name"));
            text_puts(row, ": ");
        }
        put_values(row, type, metric, field_get(status, type->field));
        return;
    }
    text_puts(row, "<unknown type>");
}

/* The items of the status are those of the spec, in the same order. */
static void put_metrics(struct table_row *row, struct str metrics)
{
    struct short_list list = {.separator = ", ", .max = METRICS_SHOWN};
    struct json_walk walk, statuses;
    struct str spec, status;
    json_items_start(&walk, metrics);
    json_items_start(&statuses, field_get(row->status, "currentMetrics"));
    while (json_items_next(&walk, &spec)) {
        if (!json_items_next(&statuses, &status))
            status = (struct str){0};
        if (short_list_add(&list, row))
            put_metric(row, spec, status);
    }
    short_list_end(&list, row);
    if (!list.count)
        text_puts(row, "<none>");
}

/* autoscaling/v1 */
static void put_cpu(struct table_row *row, struct str target)
{
    text_puts(row, "cpu: ");
    put_value(row, field_get(row->status, "currentCPUUtilizationPercentage"), true, "<unknown>");
    buf_putc(row->out, '/');
    put_value(row, target, true, "");
}

static void autoscaler_put_cells(struct table_row *row)
{
    struct str target = field_get(row->spec, "scaleTargetRef");
    struct str cpu = field_get(row->spec, "targetCPUUtilizationPercentage");
    cell_put_name(row);
    cell_open(row);
    text_put(row, field_get(target, "kind"));
    buf_putc(row->out, '/');
    text_put(row, field_get(target, "name"));
    cell_close(row);
    cell_open(row);
    if (cpu.len)
        put_cpu(row, cpu);
    else
        put_metrics(row, field_get(row->spec, "metrics"));
    cell_close(row);
    cell_put_optional(row, field_get(row->spec, "minReplicas"), "<unset>");
    cell_put_int(row, field_get(row->spec, "maxReplicas"));
    cell_put_int(row, field_get(row->status, "currentReplicas"));
    cell_put_age(row);
}

const struct table_printer table_horizontalpodautoscalers =
    TABLE_PRINTER("autoscaling", "horizontalpodautoscalers", columns, autoscaler_put_cells);
