/*
 * test_webhook_presets.c - the bodies of webhook requests, and what presets read in responses.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "daemon/handler/webhook_preset.h"

#define POD(seq, level)                                                                       \
    "{\"time\":\"2026-01-01T12:00:00.000000Z\",\"seq\":" seq ",\"log\":\"L\",\"type\":"       \
    "\"MODIFIED\",\"cluster\":\"prod\",\"resource\":\"pods\",\"kind\":\"Pod\",\"namespace\":" \
    "\"shop\",\"name\":\"web-0\",\"uid\":\"u-1\",\"level\":\"" level                          \
    "\",\"msg\":\"Pod shop/web-0: a \\\"b\\\" <c> & d\"}"
#define NODE                                                                                \
    "{\"time\":\"2026-01-01T12:00:01.000000Z\",\"seq\":3,\"log\":\"L\",\"type\":\"ADDED\"," \
    "\"cluster\":\"a b\",\"resource\":\"nodes\",\"kind\":\"Node\",\"namespace\":\"\","      \
    "\"name\":\"n\",\"uid\":\"u-2\",\"msg\":\"Node n added\"}"

#define TEXT(literal)                  \
    {                                  \
        (literal), sizeof(literal) - 1 \
    }
static const struct webhook_record records[] = {
    {TEXT(POD("1", "warn")), TEXT("L"), TEXT("1"), 1767268800000042},
    {TEXT(POD("2", "warn")), TEXT("L"), TEXT("2"), 1767268800000043},
    {TEXT(NODE), TEXT("L"), TEXT("3"), 1767268801000000},
};

static void assert_body(const char *preset, size_t n, bool batch, const char *expected)
{
    struct buf body = {0};
    webhook_preset_find(preset, NULL)->put_body(&body, records, n, batch);
    buf_putc(&body, '\0');
    assert_string_equal(body.bytes, expected);
    buf_free(&body);
}

static void jsonl_is_the_records(void **state)
{
    (void)state;
    assert_body("jsonl", 3, true, POD("1", "warn") "\n" POD("2", "warn") "\n" NODE "\n");
}

#define EVENT(seq, source, type, subject, time, data)                                            \
    "{\"specversion\":\"1.0\",\"id\":\"L-" seq "\",\"source\":\"" source                         \
    "\",\"type\":\"informerd." type "\",\"subject\":\"" subject "\",\"time\":\"2026-01-01T" time \
    "Z\",\"datacontenttype\":\"application/json\",\"data\":" data "}"
#define POD_EVENT(seq) \
    EVENT(seq, "/clusters/prod/pods", "modified", "shop/web-0", "12:00:00.000000", POD(seq, "warn"))

static void cloudevents_are_one_event_or_an_array(void **state)
{
    (void)state;
    assert_body("cloudevents", 1, false, POD_EVENT("1"));
    assert_body("cloudevents", 1, true, "[" POD_EVENT("1") "]");
    assert_body("cloudevents", 3, true,
                "[" POD_EVENT("1") "," POD_EVENT("2") "," EVENT(
                    "3", "/clusters/a%20b/nodes", "added", "n", "12:00:01.000000", NODE) "]");
}

static void loki_groups_records_by_labels(void **state)
{
    struct buf body = {0};
    (void)state;
    webhook_preset_loki.put_body(&body, records, 3, true);
    buf_putc(&body, '\0');
    assert_non_null(strstr(
        body.bytes, "{\"streams\":[{\"stream\":{\"job\":\"informerd\",\"cluster\":\"prod\","
                    "\"namespace\":\"shop\",\"kind\":\"Pod\",\"type\":\"MODIFIED\",\"level\":"
                    "\"warn\"},\"values\":[[\"1767268800000042000\",\"{\\\"time\\\":"));
    assert_non_null(strstr(body.bytes, "}\"],[\"1767268800000043000\",\"{"));
    assert_non_null(strstr(
        body.bytes, "}\"]]},{\"stream\":{\"job\":\"informerd\",\"cluster\":\"a b\",\"kind\":"
                    "\"Node\",\"type\":\"ADDED\"},\"values\":[[\"1767268801000000000\",\"{"));
    assert_string_equal(body.bytes + body.len - 1 - strlen("}\"]]}]}"), "}\"]]}]}");
    buf_free(&body);
}

static void elastic_bulk_creates_by_id(void **state)
{
    (void)state;
    assert_body("elastic-bulk", 1, false,
                "{\"create\":{\"_id\":\"L-1\"}}\n"
                "{\"@timestamp\":\"2026-01-01T12:00:00.000000Z\","
                "\"time\":\"2026-01-01T12:00:00.000000Z\",\"seq\":1,\"log\":\"L\",\"type\":"
                "\"MODIFIED\",\"cluster\":\"prod\",\"resource\":\"pods\",\"kind\":\"Pod\","
                "\"namespace\":\"shop\",\"name\":\"web-0\",\"uid\":\"u-1\",\"level\":\"warn\","
                "\"msg\":\"Pod shop/web-0: a \\\"b\\\" <c> & d\"}\n");
}

static void otlp_has_a_resource_for_each_cluster(void **state)
{
    struct buf body = {0};
    (void)state;
    webhook_preset_otlp_json.put_body(&body, records, 3, true);
    buf_putc(&body, '\0');
    assert_non_null(strstr(
        body.bytes, "{\"resourceLogs\":[{\"resource\":{\"attributes\":[{\"key\":\"service.name\","
                    "\"value\":{\"stringValue\":\"informerd\"}},{\"key\":\"k8s.cluster.name\","
                    "\"value\":{\"stringValue\":\"prod\"}}]},\"scopeLogs\":[{\"scope\":{\"name\":"
                    "\"informerd\"},\"logRecords\":[{\"timeUnixNano\":\"1767268800000042000\","
                    "\"severityNumber\":13,\"severityText\":\"WARN\",\"body\":{\"stringValue\":"
                    "\"Pod shop/web-0: a \\\"b\\\" <c> & d\"},\"attributes\":[{\"key\":"
                    "\"k8s.namespace.name\",\"value\":{\"stringValue\":\"shop\"}},"));
    assert_non_null(
        strstr(body.bytes, "{\"key\":\"informerd.seq\",\"value\":{\"intValue\":\"2\"}}"));
    assert_non_null(strstr(body.bytes, "\"stringValue\":\"a b\"}}]},\"scopeLogs\""));
    assert_non_null(strstr(body.bytes, "\"severityNumber\":9,\"severityText\":\"INFO\""));
    assert_string_equal(body.bytes + body.len - 1 - strlen("}}]}]}]}]}"), "}}]}]}]}]}");
    buf_free(&body);
}

static void slack_has_a_line_for_each_record(void **state)
{
    (void)state;
    assert_body("slack", 3, true,
                "{\"text\":\":warning: *prod* Pod shop/web-0: a \\\"b\\\" &lt;c&gt; &amp; d\\n"
                ":warning: *prod* Pod shop/web-0: a \\\"b\\\" &lt;c&gt; &amp; d\\n"
                "*a b* Node n added\"}");
}

static void slack_messages_are_bounded(void **state)
{
    enum {
        MANY = 2000
    };
    struct webhook_record *many = calloc(MANY, sizeof(*many));
    struct buf body = {0};
    (void)state;
    for (size_t i = 0; i < MANY; i++)
        many[i] = records[0];
    webhook_preset_slack.put_body(&body, many, MANY, true);
    assert_in_range(body.len, 30000, 40000);
    buf_putc(&body, '\0');
    assert_non_null(strstr(body.bytes, " more\"}"));
    buf_free(&body);
    free(many);
}

static void otlp_reads_rejected_records(void **state)
{
    static const struct {
        const char *body;
        enum handler_outcome outcome;
    } rows[] = {
        {"", HANDLER_DONE},
        {"{}", HANDLER_DONE},
        {"{\"partialSuccess\":{}}", HANDLER_DONE},
        {"{\"partialSuccess\":{\"rejectedLogRecords\":\"0\"}}", HANDLER_DONE},
        {"{\"partialSuccess\":{\"rejectedLogRecords\":\"2\",\"errorMessage\":\"too\\nlong\"}}",
         HANDLER_REFUSED},
        {"{\"partialSuccess\":{\"rejectedLogRecords\":1}}", HANDLER_REFUSED},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        enum handler_outcome outcomes[2];
        struct buf why = {0};
        assert_true(
            webhook_preset_otlp_json.read_response(str_of(rows[i].body), 2, outcomes, &why));
        assert_int_equal(outcomes[0], rows[i].outcome);
        assert_int_equal(outcomes[1], rows[i].outcome);
        assert_int_equal(why.len > 0, rows[i].outcome != HANDLER_DONE);
        assert_true(!why.len || !memchr(why.bytes, '\n', why.len));
        buf_free(&why);
    }
}

static void unknown_presets_are_refused_with_the_list(void **state)
{
    struct inf_error err;
    (void)state;
    assert_null(webhook_preset_find("splunk", &err));
    assert_string_equal(err.text, "is not a preset; use one of jsonl, cloudevents, loki, "
                                  "elastic-bulk, otlp-json, slack");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jsonl_is_the_records),
        cmocka_unit_test(cloudevents_are_one_event_or_an_array),
        cmocka_unit_test(loki_groups_records_by_labels),
        cmocka_unit_test(elastic_bulk_creates_by_id),
        cmocka_unit_test(otlp_has_a_resource_for_each_cluster),
        cmocka_unit_test(slack_has_a_line_for_each_record),
        cmocka_unit_test(slack_messages_are_bounded),
        cmocka_unit_test(otlp_reads_rejected_records),
        cmocka_unit_test(unknown_presets_are_refused_with_the_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
