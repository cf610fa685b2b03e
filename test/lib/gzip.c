#include "gzip.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define ZLIB_CONST
#include <zlib.h>

void gzip_member(struct buf *out, struct str text)
{
    z_stream zlib = {.next_in = (z_const Bytef *)text.at, .avail_in = (uInt)text.len};
    uLong room;
    assert_int_equal(deflateInit2(&zlib, Z_BEST_SPEED, Z_DEFLATED, MAX_WBITS + 16, MAX_MEM_LEVEL,
                                  Z_DEFAULT_STRATEGY),
                     Z_OK);
    room = deflateBound(&zlib, zlib.avail_in);
    zlib.next_out = (Bytef *)buf_room(out, room);
    zlib.avail_out = (uInt)room;
    assert_int_equal(deflate(&zlib, Z_FINISH), Z_STREAM_END);
    out->len += zlib.total_out;
    deflateEnd(&zlib);
}
