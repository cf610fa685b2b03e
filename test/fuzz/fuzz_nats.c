/*
 * fuzz_nats.c - any bytes from a NATS server: cut into two pieces they give the same messages, and every message can be read
 * as each kind of reply.
 */
#include "daemon/nats/jetstream.h"
#include "daemon/nats/nats_record.h"
#include "fuzz.h"
#include "wire/nats/nats_credentials.h"
#include "wire/nats/nats_info.h"

static void read_reply(const struct nats_message *m, const struct nats_last *last)
{
    struct jetstream_ack ack;
    struct jetstream_stream stream;
    struct jetstream_last found;
    struct nats_info info;
    struct inf_error err;
    jetstream_ack_read(m, &ack);
    MUST(ack.outcome != JETSTREAM_STORED || ack.seq);
    jetstream_stream_read(m, "S", &stream, &err);
    for (int direct = 0; direct <= 1; direct++)
        MUST(jetstream_last_read(m, direct, last, &found) != JETSTREAM_FOUND || found.seq);
    nats_info_read(m->op == NATS_INFO ? m->text : m->payload, &info, &err);
}

static void put_message(const struct nats_message *m, struct buf *out)
{
    buf_printf(out, "%d|%.*s|%.*s|%.*s|%.*s\n", (int)m->op, STR_FMT(m->text), STR_FMT(m->subject),
               STR_FMT(m->headers), STR_FMT(m->payload));
}

/* The messages of the two pieces, and the result. */
static void parse(struct str bytes, size_t cut, const struct nats_last *last, struct buf *out)
{
    struct str pieces[] = {{bytes.at, cut}, {bytes.at + cut, bytes.len - cut}};
    struct nats_parser parser = {0};
    struct nats_message m;
    struct inf_error err;
    int rc = 0;
    for (size_t i = 0; i < 2 && rc == 0; i++)
        while ((rc = nats_parser_next(&parser, &pieces[i], &m, &err)) == 1) {
            put_message(&m, out);
            read_reply(&m, last);
        }
    buf_printf(out, "%d", rc);
    nats_parser_free(&parser);
}

static void read_credentials(struct str bytes)
{
    struct nats_credentials credentials = {0};
    struct inf_error err;
    char *text = xstrndup(bytes.at, bytes.len);
    nats_credentials_set_file(&credentials, text, &err);
    nats_credentials_set_seed(&credentials, text, &err);
    nats_credentials_free(&credentials);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct str input = {(const char *)bytes, len};
    static struct nats_last last; /* once: its table is large, and empty all the time */
    struct nats_record record;
    struct buf whole = {0}, cut = {0};
    struct inf_error err;
    if (!last.entries)
        nats_last_init(&last, &(struct siphash_key){0});
    parse(input, 0, &last, &whole);
    parse(input, len / 2, &last, &cut);
    MUST(str_eq((struct str){whole.bytes, whole.len}, (struct str){cut.bytes, cut.len}));
    if (nats_record_make("{cluster}.{resource}.{namespace}.{name}", input, 2000, &last, &record,
                         &err) == 0) {
        MUST(!strpbrk(record.subject, " \t\r\n*>"));
        MUST(record.payload.len < 2000);
        nats_record_free(&record);
    }
    if (len)
        read_credentials(input);
    buf_free(&whole);
    buf_free(&cut);
    return 0;
}
