/*
 * kafka_conf.c - makes the properties of librdkafka.
 *
 * The defaults keep order and lose nothing: an idempotent producer that repeats without a time limit. Properties that would
 * break that are refused. Secrets belong into the file: the command line of a process is visible to other users.
 */
#include "kafka/kafka_conf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"
#include "base/file.h"

enum {
    PROPERTIES_MAX = 64 * 1024, /* LIMIT: bytes of the file */
    OVERHEAD = 4096,            /* key, headers and framing of a message */
};

static const struct {
    const char *name, *value;
} defaults[] = {
    {"client.id", "informerd-kafka"},    {"enable.idempotence", "true"},
    {"message.timeout.ms", "0"},         {"linger.ms", "5"},
    {"compression.codec", "lz4"},        {"log.connection.close", "false"},
    {"socket.keepalive.enable", "true"}, {"enable.gapless.guarantee", "true"},
};

static const struct {
    const char *name, *why;
} refused[] = {
    {"enable.idempotence", "it keeps the order of an object's changes"},
    {"enable.gapless.guarantee", "it keeps the order of an object's changes"},
    {"message.timeout.ms", "messages are repeated until they are delivered"},
    {"delivery.timeout.ms", "messages are repeated until they are delivered"},
};

static const char *const secrets[] = {"sasl.password",
                                      "ssl.key.password",
                                      "ssl.keystore.password",
                                      "ssl.key.pem",
                                      "sasl.oauthbearer.client.secret",
                                      "sasl.oauthbearer.config"};

static int set_property(rd_kafka_conf_t *conf, const char *place, const char *name,
                        const char *value, struct inf_error *err)
{
    char why[256];
    for (size_t i = 0; i < ARRAY_LEN(refused); i++)
        if (strcmp(name, refused[i].name) == 0)
            return err_set(err, INF_ECONF, "%s: %s cannot be set: %s; remove it", place, name,
                           refused[i].why);
    switch (rd_kafka_conf_set(conf, name, value, why, sizeof(why))) {
    case RD_KAFKA_CONF_OK: return 0;
    case RD_KAFKA_CONF_UNKNOWN:
        return err_set(err, INF_ECONF,
                       "%s: unknown property '%.100s'; see CONFIGURATION.md of librdkafka", place,
                       name);
    case RD_KAFKA_CONF_INVALID: break;
    }
    return err_set(err, INF_ECONF, "%s: the value of property %.100s is invalid", place, name);
}

static char *trimmed(char *text)
{
    size_t len;
    text += strspn(text, " \t\r");
    len = strlen(text);
    while (len && strchr(" \t\r", text[len - 1]))
        text[--len] = '\0';
    return text;
}

/* "NAME=VALUE"; writes to @line. */
static int set_line(rd_kafka_conf_t *conf, const char *place, char *line, struct inf_error *err)
{
    char *equals = strchr(line, '=');
    if (!equals)
        return err_set(err, INF_ECONF, "%s: no '='; write NAME=VALUE", place);
    *equals = '\0';
    return set_property(conf, place, trimmed(line), trimmed(equals + 1), err);
}

static int set_file(rd_kafka_conf_t *conf, const char *path, struct inf_error *err)
{
    char *text, *rest, *line;
    size_t len, number = 0;
    int rc = file_read(path, PROPERTIES_MAX, &text, &len, err);
    if (rc < 0)
        return rc;
    rest = text;
    while (rc == 0 && (line = strsep(&rest, "\n"))) {
        char *place = xasprintf("%s:%zu", path, ++number);
        line = trimmed(line);
        if (*line && *line != '#')
            rc = set_line(conf, place, line, err);
        free(place);
    }
    secret_wipe(text, len);
    free(text);
    return rc;
}

static bool is_secret(const char *property)
{
    for (size_t i = 0; i < ARRAY_LEN(secrets); i++)
        if (strncmp(property, secrets[i], strlen(secrets[i])) == 0 &&
            property[strlen(secrets[i])] == '=')
            return true;
    return false;
}

static int set_flags(rd_kafka_conf_t *conf, const struct kafka_options *options,
                     struct inf_error *err)
{
    int rc = options->brokers
                 ? set_property(conf, "--brokers", "bootstrap.servers", options->brokers, err)
                 : 0;
    for (size_t i = 0; rc == 0 && i < options->properties.count; i++) {
        char *line;
        if (is_secret(options->properties.items[i]))
            return err_set(
                err, INF_ECONF,
                "--property %.*s: a secret on the command line is visible to other users; write it "
                "to --properties-file",
                (int)strcspn(options->properties.items[i], "="), options->properties.items[i]);
        line = xstrdup(options->properties.items[i]);
        rc = set_line(conf, "--property", line, err);
        free(line);
    }
    return rc;
}

rd_kafka_conf_t *kafka_conf_make(const struct kafka_options *options, struct inf_error *err)
{
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    size_t size = 0;
    int rc;
    for (size_t i = 0; i < ARRAY_LEN(defaults); i++)
        rd_kafka_conf_set(conf, defaults[i].name, defaults[i].value, NULL, 0);
    rc = options->properties_file ? set_file(conf, options->properties_file, err) : 0;
    if (rc == 0)
        rc = set_flags(conf, options, err);
    if (rc == 0 && (rd_kafka_conf_get(conf, "bootstrap.servers", NULL, &size) != RD_KAFKA_CONF_OK ||
                    size <= 1))
        rc = err_set(
            err, INF_ECONF,
            "no brokers; set --brokers HOST:PORT[,...] or bootstrap.servers in --properties-file");
    if (rc == 0)
        return conf;
    rd_kafka_conf_destroy(conf);
    return NULL;
}

void kafka_conf_limit_batch(rd_kafka_conf_t *conf, size_t bytes)
{
    char text[32] = "";
    size_t size = sizeof(text);
    if (rd_kafka_conf_get(conf, "batch.size", text, &size) == RD_KAFKA_CONF_OK &&
        strtoul(text, NULL, 10) <= bytes)
        return;
    snprintf(text, sizeof(text), "%zu", bytes);
    rd_kafka_conf_set(conf, "batch.size", text, NULL, 0);
}

size_t kafka_conf_value_max(const rd_kafka_conf_t *conf)
{
    char text[32] = "";
    size_t size = sizeof(text), max;
    rd_kafka_conf_get(conf, "message.max.bytes", text, &size);
    max = strtoul(text, NULL, 10);
    return max > OVERHEAD + KAFKA_VALUE_MIN ? max - OVERHEAD : KAFKA_VALUE_MIN;
}
