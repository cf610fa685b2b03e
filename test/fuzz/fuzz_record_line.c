/*
 * fuzz_record_line.c - a line of an event log. What is read points into it; the head of a line that is a
 * record can be read alone, also if the line is cut after it.
 */
#include "daemon/record/record_line.h"
#include "fuzz.h"

static void check_inside(struct str value, struct str line)
{
    MUST(!value.len || (value.at >= line.at && value.at + value.len <= line.at + line.len));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct str line = {(const char *)bytes, len}, head_text;
    struct record_line record, head;
    if (!record_line_read(line, &record))
        return 0;
    check_inside(record.log, line);
    check_inside(record.type, line);
    check_inside(record.name, line);
    check_inside(record.msg, line);
    check_inside(record.involved, line);
    MUST(record_line_read_head(line, &head));
    MUST(head.seq == record.seq && head.time_us == record.time_us && str_eq(head.log, record.log));
    head_text = (struct str){line.at, (size_t)(record.type.at + record.type.len - line.at)};
    MUST(record_line_read_head(head_text, &head) && head.seq == record.seq);
    return 0;
}
