/*
 * object_image.c - writes and reads images of objects.
 *
 *     | struct image_head | names, each with its NUL | text, or frame |
 *
 * Numbers are in the byte order of the machine: an image is read on the host that wrote it. Every
 * byte of an image is checked before it is used; a damaged image gives no object.
 */
#include "core/object/object_image.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "core/object/object_layout.h"
#include "core/object/object_packer.h"

enum {
    IMAGE_TEXT_MAX = 256 * 1024 * 1024, /* LIMIT: bytes of a text that is expanded */
};

enum image_flag {
    IMAGE_PACKED = 1,
    IMAGE_SOLE_STATUS = 2,
    IMAGE_SOLE_OTHER = 4,
};

struct image_head {
    uint64_t hash; /* of the text; 0 if it is not packed */
    uint32_t text_len;
    uint32_t body_len; /* of the text or the frame */
    uint16_t at[OBJECT_PARTS];
    uint16_t flags;
};

/* ---- writing ---- */

static void put_image(struct buf *out, const struct inf_object *object, bool packed, uint64_t hash,
                      struct str body)
{
    struct image_head head = {
        .hash = hash, .text_len = object->text_len, .body_len = (uint32_t)body.len};
    head.flags =
        (uint16_t)((packed ? IMAGE_PACKED : 0) | (object->sole_status ? IMAGE_SOLE_STATUS : 0) |
                   (object->sole_other ? IMAGE_SOLE_OTHER : 0));
    memcpy(head.at, object->at, sizeof(head.at));
    buf_put(out, (const char *)&head, sizeof(head));
    buf_put(out, object->bytes, object->at[PART_TEXT]);
    buf_put(out, body.at, body.len);
}

void object_image_put(struct buf *out, const struct inf_object *held)
{
    struct packed_text packed = {0};
    const char *body = held->bytes + held->at[PART_TEXT];
    if (held->packed) {
        memcpy(&packed, body, sizeof(packed));
        put_image(out, held, true, packed.hash,
                  (struct str){body + sizeof(packed), packed.frame_len});
    } else {
        put_image(out, held, false, 0, (struct str){body, held->text_len});
    }
}

void object_image_put_parts(struct buf *out, const struct inf_object *object,
                            const struct packed_parts *parts)
{
    if (parts->frame.len)
        put_image(out, object, true, parts->hash, parts->frame);
    else
        object_image_put(out, object);
}

struct pack_dictionary *object_image_dictionary(const struct inf_object *held)
{
    struct packed_text packed;
    if (!held->packed)
        return NULL;
    memcpy(&packed, held->bytes + held->at[PART_TEXT], sizeof(packed));
    return packed.dictionary;
}

/* ---- reading ---- */

static bool is_one_string(const char *names, size_t from, size_t to)
{
    return from < to && memchr(names + from, '\0', to - from) == names + to - 1;
}

/* Whether @names has one NUL-terminated string after the other, and a key that its namespace starts. */
static bool are_names(const struct image_head *head, const char *names)
{
    size_t name = head->at[PART_NAME], ns = head->at[PART_NAMESPACE], ns_len;
    for (int i = 0; i < PART_TEXT; i++)
        if (head->at[i + 1] > head->at[PART_TEXT] ||
            !is_one_string(names, head->at[i], head->at[i + 1]))
            return false;
    ns_len = (size_t)head->at[PART_NAMESPACE + 1] - ns - 1;
    if (ns_len == 0)
        return name == 0;
    return name == ns_len + 1 && names[ns_len] == '/' && memcmp(names, names + ns, ns_len) == 0;
}

/* The part of @image after its head, if the sizes in it are right; else NULL. */
static const char *check_image(struct str image, struct image_head *ret_head)
{
    bool packed;
    if (image.len < sizeof(*ret_head))
        return NULL;
    memcpy(ret_head, image.at, sizeof(*ret_head));
    packed = ret_head->flags & IMAGE_PACKED;
    if (image.len - sizeof(*ret_head) != (size_t)ret_head->at[PART_TEXT] + ret_head->body_len ||
        ret_head->text_len > IMAGE_TEXT_MAX ||
        (!packed && ret_head->body_len != ret_head->text_len) ||
        !are_names(ret_head, image.at + sizeof(*ret_head)))
        return NULL;
    return image.at + sizeof(*ret_head);
}

struct str object_image_key(struct str image)
{
    struct image_head head;
    const char *names = check_image(image, &head);
    return names ? (struct str){names, (size_t)head.at[PART_NAMESPACE] - 1} : (struct str){"", 0};
}

const struct inf_object *object_image_load(struct str image, struct pack_dictionary *dictionary)
{
    struct image_head head;
    return check_image(image, &head) ? object_image_load_checked(image, dictionary) : NULL;
}

static size_t size_in_memory(const struct image_head *head)
{
    bool packed = head->flags & IMAGE_PACKED;
    return sizeof(struct inf_object) + head->at[PART_TEXT] +
           (packed ? sizeof(struct packed_text) : 1) + head->body_len;
}

/* The object of @image, with @head, in @memory of its size. Its reference to @dictionary is the caller's. */
static const struct inf_object *make_object(void *memory, const struct image_head *head,
                                            struct str image, struct pack_dictionary *dictionary)
{
    const char *names = image.at + sizeof(*head);
    struct packed_text text = {
        .dictionary = dictionary, .hash = head->hash, .frame_len = head->body_len};
    struct inf_object *o = memory;
    char *body;
    *o = (struct inf_object){.refs = 1, .text_len = head->text_len, .packed = dictionary != NULL};
    o->sole_status = (bool)(head->flags & IMAGE_SOLE_STATUS);
    o->sole_other = (bool)(head->flags & IMAGE_SOLE_OTHER);
    memcpy(o->at, head->at, sizeof(o->at));
    memcpy(o->bytes, names, head->at[PART_TEXT]);
    body = o->bytes + head->at[PART_TEXT];
    if (dictionary) {
        memcpy(body, &text, sizeof(text));
        body += sizeof(text);
    } else {
        body[head->body_len] = '\0';
    }
    memcpy(body, names + head->at[PART_TEXT], head->body_len);
    return o;
}

const struct inf_object *object_image_load_checked(struct str image,
                                                   struct pack_dictionary *dictionary)
{
    struct image_head head;
    size_t size;
    memcpy(&head, image.at, sizeof(head));
    if ((bool)(head.flags & IMAGE_PACKED) != (dictionary != NULL))
        return NULL;
    size = size_in_memory(&head);
    if (!dictionary)
        return make_object(xmalloc(size), &head, image, NULL);
    pack_dictionary_ref(dictionary);
    return make_object(pack_memory_take(dictionary, size), &head, image, dictionary);
}

const struct inf_object *object_image_make_lent(struct str image,
                                                struct pack_dictionary *dictionary)
{
    struct image_head head;
    void *memory;
    memcpy(&head, image.at, sizeof(head));
    if (!(head.flags & IMAGE_PACKED))
        return NULL;
    memory = pack_memory_take_lent(dictionary, size_in_memory(&head));
    return memory ? make_object(memory, &head, image, dictionary) : NULL;
}

const struct inf_object *object_image_expand(const struct inf_object *loaded)
{
    const struct inf_object *object = object_try_unpack(loaded);
    if (!object || object_equal(object, loaded)) /* the hash of its text, too */
        return object;
    inf_object_unref(object);
    return NULL;
}
