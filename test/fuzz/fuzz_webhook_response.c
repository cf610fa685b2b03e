/*
 * fuzz_webhook_response.c - any bytes as the body of a response to a webhook: the presets that read it settle
 * every record, and their reasons can be printed.
 */
#include "base/base.h"
#include "daemon/handler/webhook_preset.h"
#include "fuzz.h"

enum {
    RECORDS = 3,
    REASON_MAX = 1500, /* 200 bytes, each escaped, and a sentence */
};

static void check_preset(const struct webhook_preset *preset, struct str body)
{
    enum handler_outcome outcomes[RECORDS];
    struct buf why = {0};
    if (preset->read_response(body, RECORDS, outcomes, &why))
        for (size_t i = 0; i < RECORDS; i++)
            MUST(outcomes[i] >= HANDLER_DONE && outcomes[i] <= HANDLER_SPLIT);
    MUST(why.len <= REASON_MAX);
    for (size_t i = 0; i < why.len; i++)
        MUST((unsigned char)why.bytes[i] >= ' ');
    buf_free(&why);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct str body = {(const char *)bytes, len};
    check_preset(&webhook_preset_elastic_bulk, body);
    check_preset(&webhook_preset_otlp_json, body);
    return 0;
}
