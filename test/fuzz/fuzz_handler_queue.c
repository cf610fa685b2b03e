/*
 * fuzz_handler_queue.c - any bytes as the log of a handler's queue: records with whole environments, in
 * the order of their ids, that are counted correctly.
 */
#include "base/base.h"
#include "daemon/handler/handler_queue.h"
#include "fuzz.h"

static void check_record(const struct handler_record *r)
{
    struct str line = handler_record_line(r);
    size_t at = 0;
    while (at < r->env_len)
        at += strlen(r->text + at) + 1;
    MUST(at == r->env_len);
    MUST(line.at == r->text + r->env_len && line.len == r->line_len);
    MUST(r->state == RECORD_WAITING || r->state == RECORD_PARKED);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct siphash_key key = {1, 2};
    struct handler_queue queue;
    size_t records = 0;
    uint64_t last = 0;
    handler_queue_init(&queue, &key);
    handler_queue_load(&queue, (struct str){(const char *)bytes, len});
    list_for_each(node, &queue.records) {
        const struct handler_record *r = container_of(node, struct handler_record, node);
        MUST(!records || r->id > last);
        MUST(handler_queue_find(&queue, r->object->key) == r->object);
        check_record(r);
        last = r->id;
        records++;
    }
    MUST(records == handler_queue_length(&queue) + queue.counts[RECORD_PARKED]);
    handler_queue_free(&queue);
    MUST(!queue.bytes && !queue.parked_bytes && !handler_queue_length(&queue));
    return 0;
}
