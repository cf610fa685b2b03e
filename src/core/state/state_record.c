/*
 * state_record.c - writes and reads records.
 *
 * The size of a record is checked before anything else of it is used, and the CRC before anything
 * but its size. What the numbers and the body mean is checked by the reader of that type.
 */
#include "core/state/state_record.h"

#include <string.h>

#include "base/checksum.h"

struct record_head {
    uint32_t len;
    uint32_t crc;
    uint8_t type;
    uint8_t flags;
    uint16_t zero;
    uint32_t owner;
    uint64_t number;
};

_Static_assert(sizeof(struct record_head) == RECORD_HEAD, "the head has no padding");

const char record_magic[8] = {'i', 'n', 'f', 's', 't', 'a', 't', 'e'};

/* What the checksum of a record is computed from. */
static struct str checked_bytes(const char *record, size_t len)
{
    size_t skip = offsetof(struct record_head, type);
    return (struct str){record + skip, len - skip};
}

static uint32_t record_crc(const char *record, size_t len)
{
    struct str checked = checked_bytes(record, len);
    return checksum(checked.at, checked.len);
}

size_t record_begin(struct buf *out, const struct record *record)
{
    struct record_head head = {.type = (uint8_t)record->type,
                               .flags = (uint8_t)record->flags,
                               .owner = record->owner,
                               .number = record->number};
    size_t begin = out->len;
    buf_put(out, (const char *)&head, sizeof(head));
    return begin;
}

size_t record_end(struct buf *out, size_t begin)
{
    uint32_t len = (uint32_t)(out->len - begin), crc = record_crc(out->bytes + begin, len);
    memcpy(out->bytes + begin + offsetof(struct record_head, len), &len, sizeof(len));
    memcpy(out->bytes + begin + offsetof(struct record_head, crc), &crc, sizeof(crc));
    return len;
}

size_t record_put(struct buf *out, const struct record *record)
{
    size_t begin = record_begin(out, record);
    buf_put(out, record->body.at, record->body.len);
    return record_end(out, begin);
}

enum record_result record_peek(struct str bytes, struct record *ret_record, size_t *ret_size)
{
    struct record_head head;
    if (bytes.len < sizeof(head))
        return RECORD_SHORT;
    memcpy(&head, bytes.at, sizeof(head));
    if (head.len < sizeof(head))
        return RECORD_BAD;
    if (head.len > bytes.len)
        return RECORD_SHORT;
    *ret_record = (struct record){
        .type = (enum record_type)head.type,
        .flags = head.flags,
        .owner = head.owner,
        .number = head.number,
        .body = {bytes.at + sizeof(head), head.len - sizeof(head)},
    };
    *ret_size = head.len;
    return RECORD_OK;
}

static bool has_checksum(const char *record, uint32_t checksum)
{
    struct record_head head;
    memcpy(&head, record, sizeof(head));
    return head.crc == checksum && !head.zero;
}

enum record_result record_read(struct str bytes, struct record *ret_record, size_t *ret_size)
{
    struct record record;
    size_t size;
    enum record_result result = record_peek(bytes, &record, &size);
    if (result != RECORD_OK)
        return result;
    if (!has_checksum(bytes.at, record_crc(bytes.at, size)))
        return RECORD_BAD;
    *ret_record = record;
    *ret_size = size;
    return RECORD_OK;
}

/* The size of a damaged record may lead to others that are none: they do not count. */
enum record_result record_read_group(struct str bytes, struct record_group *ret_group)
{
    enum record_result result = RECORD_OK;
    struct str checked[3] = {{"", 0}, {"", 0}, {"", 0}};
    const char *records[3] = {0};
    uint32_t sums[3];
    unsigned n = 0;
    *ret_group = (struct record_group){0};
    for (; n < 3; n++) {
        struct record record;
        size_t size;
        result = record_peek(bytes, &record, &size);
        if (result != RECORD_OK)
            break;
        records[n] = bytes.at;
        checked[n] = checked_bytes(bytes.at, size);
        ret_group->types[n] = record.type;
        ret_group->sizes[n] = size;
        bytes.at += size;
        bytes.len -= size;
    }
    checksum_of_three(checked, sums);
    for (; ret_group->count < n; ret_group->count++)
        if (!has_checksum(records[ret_group->count], sums[ret_group->count]))
            return RECORD_BAD;
    return result;
}
