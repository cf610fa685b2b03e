/*
 * test_metrics.c - pages of metrics, parsed by a strict parser of the format, which refuses
 * errors that a scraper might ignore.
 */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "informer/informer.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "daemon/http/metrics.h"

/* ---- the strict reader ---- */

enum {
    SERIES_MAX = 64,
};

struct page {
    const char *at;
    char *families[SERIES_MAX];
    size_t n_families;
    char *series[SERIES_MAX]; /* name{labels}, as written */
    double values[SERIES_MAX];
    size_t n_series;
};

static bool is_name_start(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* A name of a metric, or of a label, which may not have a colon; neither do ours. */
static char *read_name(struct page *p)
{
    const char *begin = p->at;
    assert_true(is_name_start(*p->at));
    while (is_name_start(*p->at) || (*p->at >= '0' && *p->at <= '9'))
        p->at++;
    return xstrndup(begin, (size_t)(p->at - begin));
}

static void expect(struct page *p, const char *text)
{
    size_t len = strlen(text);
    if (strncmp(p->at, text, len) != 0)
        fail_msg("expected '%s' at '%.40s'", text, p->at);
    p->at += len;
}

static void read_label_value(struct page *p)
{
    expect(p, "\"");
    while (*p->at != '"') {
        assert_true(*p->at && *p->at != '\n');
        if (*p->at++ == '\\') {
            assert_non_null(strchr("\\\"n", *p->at));
            p->at++;
        }
    }
    expect(p, "\"");
}

static void read_labels(struct page *p)
{
    char *names[8];
    size_t n = 0;
    if (*p->at != '{')
        return;
    do {
        p->at++;
        names[n] = read_name(p);
        for (size_t i = 0; i < n; i++)
            assert_string_not_equal(names[i], names[n]);
        n++;
        expect(p, "=");
        read_label_value(p);
    } while (*p->at == ',');
    expect(p, "}");
    while (n)
        free(names[--n]);
}

static double read_value(struct page *p)
{
    double value;
    char *end;
    assert_non_null(strchr("+-0123456789N", *p->at));
    value = strtod(p->at, &end);
    p->at = end;
    expect(p, "\n");
    return value;
}

static void read_sample(struct page *p, const char *family)
{
    const char *begin = p->at;
    char *name = read_name(p);
    assert_string_equal(name, family); /* so families are contiguous */
    free(name);
    read_labels(p);
    p->series[p->n_series] = xstrndup(begin, (size_t)(p->at - begin));
    for (size_t i = 0; i < p->n_series; i++)
        assert_string_not_equal(p->series[i], p->series[p->n_series]);
    expect(p, " ");
    p->values[p->n_series++] = read_value(p);
    assert_true(p->n_series < SERIES_MAX);
}

static void read_help(struct page *p)
{
    for (; *p->at != '\n'; p->at++)
        if (*p->at == '\\') {
            p->at++;
            assert_non_null(strchr("\\n", *p->at));
        }
    expect(p, "\n");
}

static void read_family(struct page *p)
{
    char *family;
    bool counter;
    expect(p, "# HELP ");
    family = p->families[p->n_families] = read_name(p);
    for (size_t i = 0; i < p->n_families; i++)
        assert_string_not_equal(p->families[i], family);
    p->n_families++;
    expect(p, " ");
    read_help(p);
    expect(p, "# TYPE ");
    expect(p, family);
    counter = strncmp(p->at, " counter\n", 9) == 0;
    expect(p, counter ? " counter\n" : " gauge\n");
    assert_int_equal(counter,
                     strlen(family) > 6 && strcmp(family + strlen(family) - 6, "_total") == 0);
    while (*p->at && *p->at != '#')
        read_sample(p, family);
}

static void page_read(struct page *p, struct buf *out)
{
    *p = (struct page){.families = {NULL}};
    buf_putc(out, '\0');
    assert_int_equal(strlen(out->bytes), out->len - 1);
    p->at = out->bytes;
    while (*p->at)
        read_family(p);
}

/* Its value; the test fails if there is no such series. */
static double page_value(const struct page *p, const char *series)
{
    for (size_t i = 0; i < p->n_series; i++)
        if (strcmp(p->series[i], series) == 0)
            return p->values[i];
    fail_msg("no %s", series);
    return 0;
}

static void page_free(struct page *p, struct buf *out)
{
    while (p->n_families)
        free(p->families[--p->n_families]);
    while (p->n_series)
        free(p->series[--p->n_series]);
    buf_free(out);
}

/* ---- the writer ---- */

static void a_page_has_families_with_their_samples(void **state)
{
    struct buf out = {0};
    struct metrics m = {.out = &out};
    struct page p;
    (void)state;
    metrics_family(&m, "a_total", METRICS_COUNTER, "All a's.");
    metrics_sample(&m, 2, (struct metrics_label[]){{"watch", "pods"}, {"verb", "ADDED"}}, 3);
    metrics_sample(&m, 2, (struct metrics_label[]){{"watch", "pods"}, {"verb", "DELETED"}}, 0.5);
    metrics_single(&m, "b", METRICS_GAUGE, "One b.", -1);
    page_read(&p, &out);
    assert_string_equal(out.bytes, "# HELP a_total All a's.\n# TYPE a_total counter\n"
                                   "a_total{watch=\"pods\",verb=\"ADDED\"} 3\n"
                                   "a_total{watch=\"pods\",verb=\"DELETED\"} 0.5\n"
                                   "# HELP b One b.\n# TYPE b gauge\nb -1\n");
    page_free(&p, &out);
}

static void label_values_are_escaped(void **state)
{
    struct buf out = {0};
    struct metrics m = {.out = &out};
    struct page p;
    (void)state;
    metrics_family(&m, "a", METRICS_GAUGE, "A \"quoted\" \\ and\nbroken line.");
    metrics_sample(&m, 1, (struct metrics_label[]){{"watch", "a\"b\\c\nd\xc3\xa4"}}, 1);
    metrics_sample(&m, 1, (struct metrics_label[]){{"watch", ""}}, 2);
    page_read(&p, &out);
    assert_non_null(strstr(out.bytes, "# HELP a A \"quoted\" \\\\ and\\nbroken line.\n"));
    assert_true(page_value(&p, "a{watch=\"a\\\"b\\\\c\\nd\xc3\xa4\"}") > 0);
    assert_true(page_value(&p, "a{watch=\"\"}") > 1);
    page_free(&p, &out);
}

static void numbers_read_back_as_the_same_value(void **state)
{
    static const double numbers[] = {
        0.0,
        -0.0,
        1.0,
        0.1,
        1.0 / 3,
        1e15,
        9007199254740993.0,
        1767225600.123456,
        1e21,
        DBL_MAX,
        DBL_MIN,
        5e-324,
        -2.5,
        123456789.0,
        0.30000000000000004,
    };
    (void)state;
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        struct buf out = {0};
        struct metrics m = {.out = &out};
        struct page p;
        metrics_single(&m, "n", METRICS_GAUGE, "", numbers[i]);
        page_read(&p, &out);
        assert_memory_equal(&p.values[0], &numbers[i], sizeof(double));
        page_free(&p, &out);
    }
}

static void wrote(double value, const char *text)
{
    struct buf out = {0};
    struct metrics m = {.out = &out};
    struct page p;
    metrics_single(&m, "n", METRICS_GAUGE, "", value);
    page_read(&p, &out);
    assert_string_equal(strrchr(out.bytes, ' ') + 1, text);
    page_free(&p, &out);
}

static void numbers_have_the_shortest_form(void **state)
{
    (void)state;
    wrote((double)NAN, "NaN\n");
    wrote((double)INFINITY, "+Inf\n");
    wrote(-(double)INFINITY, "-Inf\n");
    wrote(0.1, "0.1\n");
    wrote(123456789, "123456789\n");
    wrote(1e14, "100000000000000\n");
}

static void metrics_of_the_process(void **state)
{
    struct buf out = {0};
    struct metrics m = {.out = &out};
    struct page p;
    char *build = xasprintf("informerd_build_info{version=\"%s\"}", inf_version());
    (void)state;
    metrics_process(&m, 1767225600.5);
    page_read(&p, &out);
    assert_true(page_value(&p, "process_cpu_seconds_total") >= 0);
    assert_true(page_value(&p, "process_resident_memory_bytes") > 100 * 1000);
    assert_true(page_value(&p, "process_open_fds") >= 3);
    assert_true(fabs(page_value(&p, "process_start_time_seconds") - 1767225600.5) < 0.01);
    assert_true(page_value(&p, build) > 0);
    free(build);
    page_free(&p, &out);
}

static void a_histogram_has_cumulative_buckets(void **state)
{
    static const uint64_t bounds_ms[] = {10, 1500}, counts[] = {2, 0, 3};
    struct metrics_label labels[2] = {{"handler", "h"}};
    struct buf out = {0};
    struct metrics m = {.out = &out};
    (void)state;
    metrics_family(&m, "run_seconds", METRICS_HISTOGRAM, "Runs.");
    metrics_histogram(&m, 1, labels, bounds_ms, 2, counts, 7.5);
    buf_putc(&out, '\0');
    assert_string_equal(out.bytes, "# HELP run_seconds Runs.\n"
                                   "# TYPE run_seconds histogram\n"
                                   "run_seconds_bucket{handler=\"h\",le=\"0.01\"} 2\n"
                                   "run_seconds_bucket{handler=\"h\",le=\"1.5\"} 2\n"
                                   "run_seconds_bucket{handler=\"h\",le=\"+Inf\"} 5\n"
                                   "run_seconds_sum{handler=\"h\"} 7.5\n"
                                   "run_seconds_count{handler=\"h\"} 5\n");
    buf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_page_has_families_with_their_samples),
        cmocka_unit_test(label_values_are_escaped),
        cmocka_unit_test(numbers_read_back_as_the_same_value),
        cmocka_unit_test(numbers_have_the_shortest_form),
        cmocka_unit_test(metrics_of_the_process),
        cmocka_unit_test(a_histogram_has_cumulative_buckets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
