/*
 * test_nats_record.c - subjects, headers, positions and replies of JetStream.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/base.h"
#include "daemon/nats/jetstream.h"
#include "daemon/nats/nats_record.h"

#define A        INF_ADDED
#define M        INF_MODIFIED
#define D        INF_DELETED
#define TEMPLATE "k8s.{cluster}.{resource}.{namespace}.{name}"

static char *line_of(const char *members)
{
    return xasprintf("{\"time\":\"2026-01-01T00:00:00.000000Z\",\"seq\":7,\"log\":\"abc\",%s}\n",
                     members);
}

struct world {
    struct nats_last last;
    struct nats_record record;
    char *line;
};

static int set_up(void **state)
{
    struct world *w = NEW(struct world);
    nats_last_init(&w->last, &(struct siphash_key){1, 2});
    *state = w;
    return 0;
}

static int tear_down(void **state)
{
    struct world *w = *state;
    nats_record_free(&w->record);
    nats_last_free(&w->last);
    free(w->line);
    free(w);
    return 0;
}

static int make(struct world *w, const char *template, const char *members, size_t limit,
                struct inf_error *err)
{
    nats_record_free(&w->record);
    free(w->line);
    w->line = line_of(members);
    return nats_record_make(template, str_of(w->line), limit, &w->last, &w->record, err);
}

static void subjects_have_one_token_for_each_name(void **state)
{
    static const struct {
        const char *members, *subject;
    } rows[] = {
        {"\"cluster\":\"prod\",\"resource\":\"pods\",\"namespace\":\"shop\",\"name\":\"web-0_X\"",
         "k8s.prod.pods.shop.web-0_X"},
        {"\"cluster\":\"eu/1\",\"resource\":\"nodes\",\"namespace\":\"\",\"name\":\"a.b:c d\"",
         "k8s.eu%2F1.nodes._.a%2Eb%3Ac%20d"},
        {"\"resource\":\"x\",\"name\":\"*>\\u00e9%\\n\\\"\"", "k8s._.x._.%2A%3E%C3%A9%25%0A%22"},
    };
    struct world *w = *state;
    struct inf_error err;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char *members = xasprintf("\"type\":\"ADDED\",%s", rows[i].members);
        assert_int_equal(make(w, TEMPLATE, members, 100000, &err), 0);
        assert_string_equal(w->record.subject, rows[i].subject);
        free(members);
    }
}

static void headers_identify_the_change(void **state)
{
    struct world *w = *state;
    struct inf_error err;
    struct buf out = {0};
    char *other;
    assert_int_equal(
        make(
            w, TEMPLATE,
            "\"type\":\"MODIFIED\",\"cluster\":\"c/1\",\"group\":\"apps\",\"resource\":\"deployments\","
            "\"name\":\"web\",\"uid\":\"u\\r\\nX: y\",\"rv\":\"12\"",
            100000, &err),
        0);
    nats_record_put_headers(&w->record, "K8S", 5, false, &out);
    buf_putc(&out, '\0');
    assert_string_equal(out.bytes,
                        "Nats-Msg-Id: c%2F1/u%0D%0AX%3A%20y/MODIFIED/12\r\n"
                        "Nats-Expected-Stream: K8S\r\n"
                        "Nats-Expected-Last-Subject-Sequence: 5\r\n"
                        "Informerd-Log: abc\r\nInformerd-Seq: 7\r\nInformerd-Type: MODIFIED\r\n"
                        "Informerd-Resource: deployments.apps\r\n"
                        "Informerd-Uid: u%0D%0AX:%20y\r\nInformerd-Rv: 12\r\n");
    buf_clear(&out);
    nats_record_put_headers(&w->record, "K8S", 5, true, &out);
    assert_memory_equal(out.bytes, "Nats-Msg-Id: c%2F1/u%0D%0AX%3A%20y/MODIFIED/12/5\r\n", 50);
    assert_int_equal(make(w, "x." TEMPLATE, "\"type\":\"ADDED\",\"name\":\"web\"", 100000, &err),
                     0);
    other = xstrdup(w->record.id);
    assert_int_equal(strlen(other), strlen("//ADDED//0123456789abcdef"));
    assert_int_equal(make(w, "y." TEMPLATE, "\"type\":\"ADDED\",\"name\":\"web\"", 100000, &err),
                     0);
    assert_string_not_equal(w->record.id, other);
    free(other);
    buf_free(&out);
}

static void shortens_to_any_limit(void **state)
{
    struct world *w = *state;
    struct inf_error err;
    struct buf members = {0};
    size_t last = SIZE_MAX;
    buf_puts(
        &members,
        "\"type\":\"MODIFIED\",\"resource\":\"pods\",\"name\":\"web\",\"uid\":\"u\",\"rv\":\"12\",\"labels\":{\"a\":\"");
    for (int i = 0; i < 500; i++)
        buf_putc(&members, 'l');
    buf_puts(&members, "\"},\"diff\":{\"a\":\"");
    for (int i = 0; i < 2000; i++)
        buf_putc(&members, 'd');
    buf_puts(&members, "\"},\"object\":{\"a\":\"");
    for (int i = 0; i < 4000; i++)
        buf_putc(&members, 'o');
    buf_puts(&members, "\"}");
    buf_putc(&members, '\0');
    for (size_t limit = 9000; limit > 1000; limit -= 10) {
        int rc = make(w, TEMPLATE, members.bytes, limit, &err);
        if (rc < 0) {
            assert_int_equal(rc, -INF_ETOOBIG);
            assert_true(limit < 1100);
            continue;
        }
        assert_true(w->record.payload.len + w->record.headers.len + NATS_HEADERS_ROOM <= limit);
        assert_true(w->record.payload.len <= last);
        last = w->record.payload.len;
        assert_non_null(memmem(w->record.payload.at, last, "\"uid\":\"u\",\"rv\":\"12\"", 19));
        assert_int_equal(w->record.payload.at[last - 1], '}');
    }
    assert_true(last < 300);
    buf_free(&members);
}

static void refuses_what_is_no_change(void **state)
{
    struct world *w = *state;
    struct inf_error err;
    assert_int_equal(make(w, TEMPLATE, "\"type\":\"SYNCED\",\"rv\":\"12\"", 100000, &err),
                     -INF_EPROTO);
    assert_int_equal(make(w, TEMPLATE, "\"type\":\"ADDED\"", 100, &err), -INF_ETOOBIG);
    assert_int_equal(nats_record_make(TEMPLATE, STR("{}"), 100000, &w->last, &w->record, &err),
                     -INF_EPROTO);
    assert_int_equal(nats_record_make(TEMPLATE, STR(""), 100000, &w->last, &w->record, &err),
                     -INF_EPROTO);
}

/* ---- positions ---- */

static void a_record_is_published_if_it_is_newer(void **state)
{
    static const struct {
        const char *what;
        struct nats_position last, record;
        bool newer;
    } rows[] = {
        {"the same", {1, 5, 1, 9, 10, M, true}, {1, 5, 1, 9, 10, M, true}, false},
        {"our next", {1, 5, 1, 9, 10, M, true}, {1, 6, 1, 9, 11, M, true}, true},
        {"our next, after the backup of etcd",
         {1, 5, 1, 9, 10, M, true},
         {1, 6, 1, 9, 3, M, true},
         true},
        {"our repetition, a relist", {1, 9, 1, 9, 20, A, true}, {1, 5, 1, 9, 10, D, false}, false},
        {"the other one was faster", {2, 5, 1, 9, 11, M, true}, {1, 6, 1, 9, 11, M, true}, false},
        {"the other one is ahead", {2, 5, 1, 9, 12, M, true}, {1, 6, 1, 9, 11, M, true}, false},
        {"the other one is late", {2, 5, 1, 9, 10, M, true}, {1, 6, 1, 9, 11, M, true}, true},
        {"longer is greater", {2, 5, 1, 9, 99, M, true}, {1, 6, 1, 9, 100, M, true}, true},
        {"deleted", {2, 5, 1, 9, 10, M, true}, {1, 6, 1, 9, 11, D, true}, true},
        {"deleted, found by a relist", {2, 5, 1, 9, 10, M, true}, {1, 6, 1, 9, 8, D, false}, true},
        {"deleted already", {2, 5, 1, 9, 11, D, true}, {1, 6, 1, 9, 8, D, false}, false},
        {"deleted already, by a relist",
         {2, 5, 1, 9, 8, D, true},
         {1, 6, 1, 9, 11, D, true},
         false},
        {"of a deleted object", {2, 5, 1, 9, 8, D, true}, {1, 6, 1, 9, 10, M, true}, false},
        {"selected again", {2, 5, 1, 9, 8, D, true}, {1, 6, 1, 9, 10, A, true}, true},
        {"selected before", {2, 5, 1, 9, 8, D, true}, {1, 6, 1, 9, 7, A, true}, false},
        {"made again", {2, 5, 1, 9, 10, D, true}, {1, 6, 1, 8, 12, A, true}, true},
        {"made again, the deletion is missing",
         {2, 5, 1, 9, 10, M, true},
         {1, 6, 1, 8, 12, A, true},
         true},
        {"of the former object", {2, 5, 1, 8, 12, A, true}, {1, 6, 1, 9, 11, D, true}, false},
        {"of the former object, by a relist",
         {2, 5, 1, 8, 12, A, true},
         {1, 6, 1, 9, 8, D, false},
         false},
        {"no number", {2, 5, 1, 9, 0, M, true}, {1, 6, 1, 9, 11, M, true}, true},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (nats_position_is_newer(&rows[i].record, &rows[i].last) != rows[i].newer)
            fail_msg("%s", rows[i].what);
}

static void remembers_last_messages(void **state)
{
    struct world *w = *state;
    struct nats_position position = {.version = 3};
    uint64_t one = nats_last_hash(&w->last, STR("k8s.a"));
    assert_null(nats_last_find(&w->last, one));
    nats_last_put(&w->last, one, 17, &position);
    assert_int_equal(nats_last_find(&w->last, one)->seq, 17);
    nats_last_put(&w->last, one + NATS_LAST_ENTRIES, 18, &position); /* the same place */
    assert_null(nats_last_find(&w->last, one));
    nats_last_forget(&w->last, one);
    assert_non_null(nats_last_find(&w->last, one + NATS_LAST_ENTRIES));
    nats_last_clear(&w->last);
    assert_null(nats_last_find(&w->last, one + NATS_LAST_ENTRIES));
}

static void reads_versions(void **state)
{
    (void)state;
    assert_int_equal(nats_version_read(STR("17")), 17);
    assert_int_equal(nats_version_read(STR("18446744073709551615")), UINT64_MAX);
    assert_int_equal(nats_version_read(STR("18446744073709551616")), 0);
    assert_int_equal(nats_version_read(STR("1x")), 0);
    assert_int_equal(nats_version_read(STR("")), 0);
}

/* ---- replies ---- */

static struct nats_message reply(const char *headers, const char *payload)
{
    return (struct nats_message){
        .op = NATS_MSG, .headers = str_of(headers), .payload = str_of(payload)};
}

static void reads_acknowledgements(void **state)
{
    static const struct {
        const char *headers, *payload;
        enum jetstream_outcome outcome;
        uint64_t seq;
        bool duplicate;
    } rows[] = {
        {"", "{\"stream\":\"K8S\",\"seq\":12}", JETSTREAM_STORED, 12, false},
        {"", "{\"stream\":\"K8S\", \"domain\":\"x\", \"seq\":12, \"duplicate\": true}",
         JETSTREAM_STORED, 12, true},
        {"",
         "{\"error\":{\"code\":400,\"err_code\":10071,\"description\":\"wrong last sequence: 7\"},\"seq\":0}",
         JETSTREAM_CONFLICT, 0, false},
        {"",
         "{\"error\":{\"code\":400,\"err_code\":10164,\"description\":\"wrong last sequence\"}}",
         JETSTREAM_CONFLICT, 0, false},
        {"", "{\"error\":{\"code\":400,\"err_code\":10054,\"description\":\"x\"}}",
         JETSTREAM_TOO_BIG, 0, false},
        {"",
         "{\"error\":{\"code\":503,\"err_code\":10077,\"description\":\"maximum bytes exceeded\"}}",
         JETSTREAM_UNAVAILABLE, 0, false},
        {"", "{\"error\":{}}", JETSTREAM_UNAVAILABLE, 0, false},
        {"NATS/1.0 503\r\n\r\n", "", JETSTREAM_UNAVAILABLE, 0, false},
        {"", "", JETSTREAM_UNAVAILABLE, 0, false},
        {"", "nonsense", JETSTREAM_UNAVAILABLE, 0, false},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct nats_message m = reply(rows[i].headers, rows[i].payload);
        struct jetstream_ack ack;
        jetstream_ack_read(&m, &ack);
        assert_int_equal(ack.outcome, rows[i].outcome);
        assert_int_equal(ack.seq, rows[i].seq);
        assert_int_equal(ack.duplicate, rows[i].duplicate);
        assert_int_equal(!ack.why[0], ack.outcome == JETSTREAM_STORED);
    }
}

static void reads_streams(void **state)
{
    struct jetstream_stream stream;
    struct inf_error err;
    struct nats_message m = reply(
        "", "{\"config\":{\"name\":\"S\",\"max_msg_size\":-1,\"allow_direct\":true},\"state\":{}}");
    (void)state;
    assert_int_equal(jetstream_stream_read(&m, "S", &stream, &err), 0);
    assert_true(stream.direct && stream.max_message == SIZE_MAX);
    m = reply("", "{\"config\":{\"max_msg_size\":5000}}");
    assert_int_equal(jetstream_stream_read(&m, "S", &stream, &err), 0);
    assert_true(!stream.direct && stream.max_message == 5000);
    m = reply("",
              "{\"error\":{\"code\":404,\"err_code\":10059,\"description\":\"stream not found\"}}");
    assert_true(jetstream_stream_read(&m, "S", &stream, &err) < 0);
    assert_non_null(strstr(err.text, "there is no stream S; create it"));
    m = reply("", "{\"config\":{\"no_ack\":true}}");
    assert_true(jetstream_stream_read(&m, "S", &stream, &err) < 0);
    m = reply("NATS/1.0 503\r\n\r\n", "");
    assert_true(jetstream_stream_read(&m, "S", &stream, &err) < 0);
    assert_non_null(strstr(err.text, "is it enabled"));
}

#define HEADERS                                                                                         \
    "Informerd-Log: abc\r\nInformerd-Seq: 7\r\nInformerd-Type: DELETED\r\nInformerd-Resource: pods\r\n" \
    "Informerd-Uid: u\r\nInformerd-Rv: 12\r\n"

static void reads_stored_messages_in_both_ways(void **state)
{
    struct world *w = *state;
    struct jetstream_last last;
    /* NATS/1.0 and HEADERS in base64 */
    struct nats_message m = reply("NATS/1.0\r\n" HEADERS "Nats-Sequence: 31\r\n\r\n", "{}");
    assert_int_equal(jetstream_last_read(&m, true, &w->last, &last), JETSTREAM_FOUND);
    assert_true(last.is_ours && last.seq == 31 && last.position.verb == INF_DELETED);
    assert_int_equal(last.position.version, 12);
    assert_int_equal(last.position.uid, nats_last_hash(&w->last, STR("u")));
    m = reply("NATS/1.0\r\nNats-Sequence: 31\r\n\r\n", "x");
    assert_int_equal(jetstream_last_read(&m, true, &w->last, &last), JETSTREAM_FOUND);
    assert_false(last.is_ours);
    m = reply("NATS/1.0 404 Message Not Found\r\n\r\n", "");
    assert_int_equal(jetstream_last_read(&m, true, &w->last, &last), JETSTREAM_NONE);
    m = reply("NATS/1.0 503\r\n\r\n", "");
    assert_int_equal(jetstream_last_read(&m, true, &w->last, &last), JETSTREAM_UNKNOWN);
    m = reply(
        "",
        "{\"message\":{\"subject\":\"a\",\"seq\":9,\"hdrs\":\"TkFUUy8xLjANCkE6IGINCg0K\",\"data\":\"eA==\"}}");
    assert_int_equal(jetstream_last_read(&m, false, &w->last, &last), JETSTREAM_FOUND);
    assert_true(!last.is_ours && last.seq == 9);
    m = reply("",
              "{\"error\":{\"code\":404,\"err_code\":10037,\"description\":\"no message found\"}}");
    assert_int_equal(jetstream_last_read(&m, false, &w->last, &last), JETSTREAM_NONE);
    m = reply("", "{}");
    assert_int_equal(jetstream_last_read(&m, false, &w->last, &last), JETSTREAM_UNKNOWN);
}

#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_WORLD(subjects_have_one_token_for_each_name),
        IN_WORLD(headers_identify_the_change),
        IN_WORLD(shortens_to_any_limit),
        IN_WORLD(refuses_what_is_no_change),
        cmocka_unit_test(a_record_is_published_if_it_is_newer),
        IN_WORLD(remembers_last_messages),
        cmocka_unit_test(reads_versions),
        cmocka_unit_test(reads_acknowledgements),
        cmocka_unit_test(reads_streams),
        IN_WORLD(reads_stored_messages_in_both_ways),
    };
    return cmocka_run_group_tests_name("nats_record", tests, NULL, NULL);
}
