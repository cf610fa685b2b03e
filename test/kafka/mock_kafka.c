/*
 * mock_kafka.c - a simulated Kafka for tests of informerd-kafka: the mock cluster of librdkafka, and a consumer that prints each message of a
 * topic as a line of JSON.
 *
 *     mock_kafka TOPIC PARTITIONS BROKERS [NAME=VALUE...]
 *                                      only the consumer, of a real Kafka; with settings it creates the topic first
 *     mock_kafka TOPIC PARTITIONS      prints the address first; the end of stdin ends it. Commands on stdin, one on each line:
 *                                      Each is confirmed with the line "ok".
 *     down, up                         the broker closes all connections; accepts them again
 *     refuse N                         the next N produce requests fail with MSG_SIZE_TOO_LARGE
 */
#include <inttypes.h>
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    PRODUCE = 0, /* ApiKey */
    CREATE_MS = 60 * 1000,
};

static void fail(const char *what)
{
    fprintf(stderr, "mock_kafka: %s\n", what);
    exit(1);
}

static rd_kafka_t *client_new(rd_kafka_type_t type, const char *servers)
{
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    char why[200];
    rd_kafka_t *rk;
    if (servers)
        rd_kafka_conf_set(conf, "bootstrap.servers", servers, NULL, 0);
    rd_kafka_conf_set(conf, "group.id", "test", NULL, 0);
    rd_kafka_conf_set(conf, "fetch.wait.max.ms", "50", NULL, 0);
    rd_kafka_conf_set(conf, "fetch.error.backoff.ms", "50", NULL, 0);
    rd_kafka_conf_set(conf, "reconnect.backoff.max.ms", "200", NULL, 0);
    rd_kafka_conf_set(conf, "log_level", "0", NULL, 0);
    rk = rd_kafka_new(type, conf, why, sizeof(why));
    if (!rk)
        fail(why);
    return rk;
}

static void print_json(const char *bytes, size_t len)
{
    putchar('"');
    for (size_t i = 0; i < len; i++)
        if (bytes[i] == '"' || bytes[i] == '\\')
            printf("\\%c", bytes[i]);
        else if ((unsigned char)bytes[i] < ' ')
            printf("\\u%04x", (unsigned)bytes[i]);
        else
            putchar(bytes[i]);
    putchar('"');
}

static void print_headers(const rd_kafka_message_t *m)
{
    rd_kafka_headers_t *headers;
    const char *name;
    const void *value;
    size_t size;
    printf(",\"headers\":{");
    if (rd_kafka_message_headers(m, &headers) == RD_KAFKA_RESP_ERR_NO_ERROR)
        for (size_t i = 0; rd_kafka_header_get_all(headers, i, &name, &value, &size) == 0; i++) {
            printf("%s\"%s\":", i ? "," : "", name);
            print_json(value, size);
        }
    printf("}}\n");
    fflush(stdout);
}

static void print_message(const rd_kafka_message_t *m)
{
    printf("{\"partition\":%d,\"offset\":%" PRId64 ",\"key\":", m->partition, m->offset);
    print_json(m->key, m->key_len);
    printf(",\"value\":");
    if (m->payload)
        print_json(m->payload, m->len);
    else
        printf("null");
    print_headers(m);
}

static void consume(rd_kafka_t *rk)
{
    rd_kafka_message_t *m = rd_kafka_consumer_poll(rk, 20);
    if (m && !m->err)
        print_message(m);
    if (m)
        rd_kafka_message_destroy(m);
}

static void assign(rd_kafka_t *rk, const char *topic, int partitions)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(partitions);
    for (int i = 0; i < partitions; i++)
        rd_kafka_topic_partition_list_add(list, topic, i)->offset = RD_KAFKA_OFFSET_BEGINNING;
    if (rd_kafka_assign(rk, list))
        fail("assign");
    rd_kafka_topic_partition_list_destroy(list);
}

/* With settings "NAME=VALUE". */
static void create_topic(rd_kafka_t *rk, const char *topic, int partitions, char **settings, int n)
{
    char why[200];
    rd_kafka_NewTopic_t *made = rd_kafka_NewTopic_new(topic, partitions, 1, why, sizeof(why));
    rd_kafka_queue_t *queue = rd_kafka_queue_new(rk);
    rd_kafka_event_t *event;
    const rd_kafka_topic_result_t **results;
    size_t count;
    if (!made)
        fail(why);
    for (int i = 0; i < n; i++) {
        char *equals = strchr(settings[i], '=');
        if (!equals)
            fail("a setting is NAME=VALUE");
        *equals = '\0';
        rd_kafka_NewTopic_set_config(made, settings[i], equals + 1);
    }
    rd_kafka_CreateTopics(rk, &made, 1, NULL, queue);
    event = rd_kafka_queue_poll(queue, CREATE_MS);
    if (!event || rd_kafka_event_error(event))
        fail(event ? rd_kafka_event_error_string(event) : "the topic is not created");
    results =
        rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(event), &count);
    if (count != 1 || rd_kafka_topic_result_error(results[0]))
        fail(count ? rd_kafka_topic_result_error_string(results[0]) : "the topic is not created");
    rd_kafka_event_destroy(event);
    rd_kafka_queue_destroy(queue);
    rd_kafka_NewTopic_destroy(made);
}

/* Returns false at the end of stdin. */
static bool obey(rd_kafka_mock_cluster_t *cluster)
{
    struct pollfd input = {0, POLLIN, 0};
    char line[80];
    ssize_t n = poll(&input, 1, 0) > 0 ? read(0, line, sizeof(line) - 1) : -1;
    if (n <= 0)
        return n < 0;
    line[n] = '\0';
    if (strncmp(line, "down", 4) == 0)
        rd_kafka_mock_broker_set_down(cluster, 1);
    else if (strncmp(line, "up", 2) == 0)
        rd_kafka_mock_broker_set_up(cluster, 1);
    else if (strncmp(line, "refuse ", 7) == 0)
        for (long i = strtol(line + 7, NULL, 10); i > 0; i--)
            rd_kafka_mock_push_request_errors(cluster, PRODUCE, 1,
                                              RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE);
    else
        fail("unknown command");
    puts("ok");
    fflush(stdout);
    return true;
}

static rd_kafka_mock_cluster_t *start_cluster(const char *topic, int partitions)
{
    rd_kafka_mock_cluster_t *cluster =
        rd_kafka_mock_cluster_new(client_new(RD_KAFKA_PRODUCER, NULL), 1);
    if (!cluster || rd_kafka_mock_topic_create(cluster, topic, partitions, 1))
        fail("cannot create the cluster");
    printf("%s\n", rd_kafka_mock_cluster_bootstraps(cluster));
    fflush(stdout);
    return cluster;
}

int main(int argc, char **argv)
{
    int partitions = argc >= 3 ? atoi(argv[2]) : 0;
    rd_kafka_mock_cluster_t *cluster;
    rd_kafka_t *consumer;
    if (partitions <= 0)
        fail("usage: mock_kafka TOPIC PARTITIONS [BROKERS [NAME=VALUE...]]");
    cluster = argc >= 4 ? NULL : start_cluster(argv[1], partitions);
    consumer = client_new(RD_KAFKA_CONSUMER,
                          cluster ? rd_kafka_mock_cluster_bootstraps(cluster) : argv[3]);
    if (argc > 4)
        create_topic(consumer, argv[1], partitions, argv + 4, argc - 4);
    assign(consumer, argv[1], partitions);
    while (obey(cluster))
        consume(consumer);
    _exit(0); /* closing a consumer whose broker is down would wait */
}
