/*
 * table_batch.c - the rows of Jobs and CronJobs.
 */
#include "daemon/table/table_cell.h"
#include "daemon/table/table_selector.h"

#define TEMPLATE_COLUMNS                                         \
    {"Containers", "string", "", 1, "names of the containers"},  \
        {"Images", "string", "", 1, "images of the containers"}, \
    {                                                            \
        "Selector", "string", "", 1, "labels of the pods"        \
    }

static void put_template(struct table_row *row, struct str job_spec)
{
    cell_put_containers(row, field_get(job_spec, "template.spec.containers"));
    cell_put_selector(row, field_get(job_spec, "selector"), "<none>");
}

/* ---- Jobs ---- */

static const struct table_column job_columns[] = {
    TABLE_NAME,
    {"Status", "string", "", 0, "state of the job"},
    {"Completions", "string", "", 0, "pods that succeeded, of those required"},
    {"Duration", "string", "", 0, "time from the start to the completion, or until now"},
    TABLE_AGE,
    TEMPLATE_COLUMNS,
};

/* In this order; a deleted job is Terminating after the first two. */
static const struct {
    struct str condition;
    const char *status;
} job_states[] = {
    {FIELD_NAME("Complete"), "Complete"},
    {FIELD_NAME("Failed"), "Failed"},
    {FIELD_NAME(""), "Terminating"},
    {FIELD_NAME("Suspended"), "Suspended"},
    {FIELD_NAME("FailureTarget"), "FailureTarget"},
    {FIELD_NAME("SuccessCriteriaMet"), "SuccessCriteriaMet"},
};

static const char *job_status(struct table_row *row)
{
    struct str conditions = field_get(row->status, "conditions");
    bool deleted = field_get(row->metadata, "deletionTimestamp").len;
    for (size_t i = 0; i < ARRAY_LEN(job_states); i++) {
        struct str type = job_states[i].condition;
        if (type.len ? value_is(condition_status(conditions, type), STR("True")) : deleted)
            return job_states[i].status;
    }
    return "Running";
}

static void put_completions(struct table_row *row)
{
    struct str completions = field_get(row->spec, "completions");
    int64_t parallelism = value_int(field_get(row->spec, "parallelism"));
    cell_open(row);
    text_put_int(row, value_int(field_get(row->status, "succeeded")));
    buf_putc(row->out, '/');
    text_put_int(row, completions.len ? value_int(completions) : 1);
    if (!completions.len && parallelism > 1) {
        text_puts(row, " of ");
        text_put_int(row, parallelism);
    }
    cell_close(row);
}

static void put_job_duration(struct table_row *row)
{
    int64_t start, end;
    cell_open(row);
    if (value_time(field_get(row->status, "startTime"), &start)) {
        if (!value_time(field_get(row->status, "completionTime"), &end))
            end = row->now_us;
        text_put_duration(row, end - start);
    }
    cell_close(row);
}

static void job_put_cells(struct table_row *row)
{
    cell_put_name(row);
    cell_put_text(row, job_status(row));
    put_completions(row);
    put_job_duration(row);
    cell_put_age(row);
    put_template(row, row->spec);
}

const struct table_printer table_jobs = TABLE_PRINTER("batch", "jobs", job_columns, job_put_cells);

/* ---- CronJobs ---- */

static const struct table_column cronjob_columns[] = {
    TABLE_NAME,
    {"Schedule", "string", "", 0, "when jobs are created, in the format of cron"},
    {"Timezone", "string", "", 0, "time zone of the schedule"},
    {"Suspend", "boolean", "", 0, "whether no jobs are created"},
    {"Active", "integer", "", 0, "jobs that are running"},
    {"Last Schedule", "string", "", 0, "time since a job was last created"},
    TABLE_AGE,
    TEMPLATE_COLUMNS,
};

static void put_last_schedule(struct table_row *row, struct str time)
{
    cell_open(row);
    if (time.len)
        text_put_age(row, time);
    else
        text_puts(row, "<none>");
    cell_close(row);
}

/* The cell is a string, although the column is a boolean. */
static void cronjob_put_cells(struct table_row *row)
{
    struct str suspend = field_get(row->spec, "suspend");
    cell_put_name(row);
    cell_put_string(row, field_get(row->spec, "schedule"), "");
    cell_put_optional(row, field_get(row->spec, "timeZone"), "<none>");
    cell_put_text(row, !suspend.len ? "<unset>" : value_is_true(suspend) ? "True" : "False");
    cell_put_count(row, value_count(field_get(row->status, "active")));
    put_last_schedule(row, field_get(row->status, "lastScheduleTime"));
    cell_put_age(row);
    put_template(row, field_get(row->spec, "jobTemplate.spec"));
}

const struct table_printer table_cronjobs =
    TABLE_PRINTER("batch", "cronjobs", cronjob_columns, cronjob_put_cells);
