/*
 * session.h - signed tokens, which stay valid when informerd restarts: sessions of the page, and the
 * tokens of `informerctl token`. Some clients use a token until its end also if it is refused: after a
 * restart they would have to wait.
 *
 *     key = api_session_key(authority_key_pem)
 *     text = api_session_issue(key, reader, now_us, valid_s)      after a one-time code (token.h)
 *     reader = api_session_find(key, readers, text, now_us)       until valid_s later
 *
 * A session names its reader and the end of its validity, and is signed. Nothing is stored: the key is
 * derived from that of the certificate authority. A session ends earlier if a reload removes its reader or
 * gives the user or the name to another one; if a reload changes the limits of the reader, they apply to the session.
 */
#ifndef DAEMON_API_SESSION_H
#define DAEMON_API_SESSION_H

#include <stdint.h>

#include "daemon/access/reader.h"
#include "wire/tls/tls_digest.h"

enum {
    API_CODE_MS = 60 * 1000,     /* validity of a one-time code */
    API_SESSION_S = 12 * 3600,   /* validity of a session of the page */
    API_SESSION_TEXT_MAX = 2048, /* LIMIT: bytes of a session; longer tokens are none */
};

/* The caller frees it with tls_digest_free(). */
struct tls_digest *api_session_key(const char *authority_key_pem);

/* The caller frees it with secret_free(). @reader is identified by uid or group. */
char *api_session_issue(struct tls_digest *key, const struct api_reader *reader, int64_t now_us,
                        int64_t valid_s);

/* The reader of a session that is valid; NULL: none. */
const struct api_reader *api_session_find(struct tls_digest *key, const struct api_readers *readers,
                                          const char *text, int64_t now_us);

#endif
