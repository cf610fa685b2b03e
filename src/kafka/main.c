/*
 * main.c - entry point and command line of informerd-kafka.
 */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "kafka/kafka_message.h"
#include "kafka/kafka_sink.h"

static const char *const key_choices[] = {"uid", "name", NULL};

#define AT(member) offsetof(struct kafka_options, member)
static const struct flag kafka_flags[] = {
    {0, "handler", "NAME", AT(handler),
     .help = "handler of informerd with client: true whose records are sent"},
    {0, "topic", "TEMPLATE", AT(topic),
     .help = "topic, like k8s.{cluster}.{resource}; also {watch}, {group}, {kind} and {namespace}"},
    {0, "brokers", "HOST:PORT,...", AT(brokers),
     .help = "brokers to start with (bootstrap.servers)"},
    {0, "compact", NULL, AT(compact),
     .help =
         "for compacted topics: the value is the newest object, and none for a deleted one; needs object: full in the handler"},
    {0, "key", "uid|name", AT(key), .choices = key_choices,
     .help =
         "key of messages: the uid, or cluster/resource/namespace/name (default: uid, with --compact: name)"},
    {0, "property", "NAME=VALUE", AT(properties), .repeatable = true,
     .help = "property of librdkafka; repeatable"},
    {0, "properties-file", "FILE", AT(properties_file),
     .help =
         "file with properties of librdkafka, a NAME=VALUE on each line: SASL, TLS and secrets"},
    {'s', "socket", "FILE", AT(socket),
     .help =
         "Unix socket of informerd (default: $INFORMERD_SOCKET, $RUNTIME_DIRECTORY/informerd.sock or "
         "/run/informerd/informerd.sock)"},
    {0},
};
#undef AT

static const struct command kafka_command;

static int kafka_parse(void *options, int argc, char **argv)
{
    struct kafka_options *o = options;
    struct inf_error err;
    rd_kafka_conf_t *conf;
    if (argc)
        return command_usage_error(&kafka_command, "unexpected argument '%s'", argv[0]);
    if (!o->handler || !o->topic)
        return command_usage_error(&kafka_command, "--handler and --topic are required");
    if (o->key && strcmp(o->key, "uid") != 0 && strcmp(o->key, "name") != 0)
        return command_usage_error(&kafka_command, "--key: '%s' is neither uid nor name", o->key);
    if (kafka_topic_check(o->topic, &err) < 0)
        return command_usage_error(&kafka_command, "--topic: %s", err.text);
    conf = kafka_conf_make(o, &err);
    if (!conf)
        return command_usage_error(&kafka_command, "%s", err.text);
    rd_kafka_conf_destroy(conf);
    return 0;
}

static int kafka_run(const void *options)
{
    return kafka_sink_run(options);
}

static const struct command kafka_command = {
    .name = "",
    .arguments = "--handler NAME --topic TEMPLATE --brokers HOST:PORT,... [flags]",
    .summary = "send records to Kafka",
    .description =
        "informerd-kafka sends the changes of a handler of informerd to Kafka, each at least "
        "once and those of an object in order. See informerd-kafka(8).",
    .flags = kafka_flags,
    .notes = "Signals: TERM/INT stop after the messages in flight are delivered, at most 10 s.\n",
    .size = sizeof(struct kafka_options),
    .parse = kafka_parse,
    .run = kafka_run,
};

static const struct command *const kafka_commands[] = {&kafka_command, &command_help,
                                                       &command_version, NULL};

const struct program command_program = {
    .name = "informerd-kafka",
    .commands = kafka_commands,
    .flags_heading = "Flags",
};

int main(int argc, char **argv)
{
    const struct command *command;
    void *options = NULL;
    int rc = command_line_parse(argc, argv, &command, &options);
    if (rc == 0)
        rc = command->run(options);
    free(options);
    return rc;
}
