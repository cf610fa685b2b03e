/*
 * nats_info.c - reads the members that are used.
 */
#include "wire/nats/nats_info.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/json/json.h"

static size_t read_size(struct str value, size_t preset)
{
    char text[24];
    size_t len = json_value_copy(value, text, sizeof(text));
    uint64_t number = len && len < sizeof(text) ? strtoull(text, NULL, 10) : 0;
    return number && number < SIZE_MAX ? (size_t)number : preset;
}

int nats_info_read(struct str text, struct nats_info *ret, struct inf_error *err)
{
    struct json_walk walk;
    struct json_member m;
    *ret = (struct nats_info){.max_payload = NATS_PAYLOAD_PRESET};
    if (!text.len || text.at[0] != '{')
        return err_set(err, INF_EPROTO, "the server sent an INFO without an object");
    json_walk_start(&walk, text);
    while (json_walk_next(&walk, &m)) {
        if (json_key_is(m.key, "max_payload"))
            ret->max_payload = read_size(m.value, NATS_PAYLOAD_PRESET);
        else if (json_key_is(m.key, "headers"))
            ret->headers = json_value_is(m.value, STR("true"));
        else if (json_key_is(m.key, "tls_required"))
            ret->tls_required = json_value_is(m.value, STR("true"));
        else if (json_key_is(m.key, "server_name"))
            json_value_copy(m.value, ret->name, sizeof(ret->name));
        else if (json_key_is(m.key, "nonce") &&
                 json_value_copy(m.value, ret->nonce, sizeof(ret->nonce)) >= sizeof(ret->nonce))
            return err_set(err, INF_EPROTO, "the server sent a nonce of more than %d characters",
                           NATS_NONCE_MAX);
    }
    return 0;
}
