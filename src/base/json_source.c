#include "base/json_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "common/error.h"
#include "common/input.h"
#include "base/memory.h"

enum {
    GZIP_WINDOW = 15 + 16, /* zlib's way to say: a gzip header and any window */
    SUSPECT_BYTES = 64 << 20, /* below that, how well it was packed does no harm */
};

/* As many bytes as there are and fit. */
static int64_t raw_read(struct plm_json_source *s, void *out, size_t room, struct plm_error *error)
{
    size_t have = 0;
    if (s->file < 0) {
        have = s->size < room ? s->size : room;
        if (have)
            memcpy(out, s->data, have);
        s->data += have;
        s->size -= have;
    }
    while (s->file >= 0 && have < room) {
        ssize_t got = read(s->file, (char *)out + have, room - have);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return plm_fail(error, PLM_EREAD, "cannot read %s: %s", s->name, strerror(errno));
        if (!got)
            break;
        have += (size_t)got;
    }
    s->taken += have;
    return (int64_t)have;
}

static int source_refill(struct plm_json_source *s, struct plm_error *error)
{
    int64_t got = raw_read(s, s->input, PLM_JSON_PACKED, error);
    if (got < 0)
        return (int)got;
    s->stream.next_in = s->input;
    s->stream.avail_in = (uInt)got;
    return 0;
}

/* Looks at the first bytes; they stay in `input`. */
static int source_begin(struct plm_json_source *s, struct plm_error *error)
{
    int status;
    s->input = plm_calloc(PLM_JSON_PACKED, 1);
    status = source_refill(s, error);
    if (!status && s->stream.avail_in >= 2 && s->input[0] == 0x1f && s->input[1] == 0x8b) {
        if (inflateInit2(&s->stream, GZIP_WINDOW) != Z_OK)
            plm_out_of_memory();
        s->packed = s->member = true;
    }
    if (status < 0)
        plm_json_source_close(s);
    return status;
}

int plm_json_source_open(struct plm_json_source *s, const char *path, struct plm_error *error)
{
    *s = (struct plm_json_source){.name = path, .file = plm_input_open(path, NULL, error)};
    if (s->file < 0)
        return s->file;
    (void)posix_fadvise(s->file, 0, 0, POSIX_FADV_SEQUENTIAL);
    return source_begin(s, error);
}

int plm_json_source_memory(struct plm_json_source *s, const char *name, const void *data, size_t size,
                           struct plm_error *error)
{
    *s = (struct plm_json_source){.name = name, .file = -1, .data = data, .size = size};
    return source_begin(s, error);
}

void plm_json_source_close(struct plm_json_source *s)
{
    if (s->packed)
        inflateEnd(&s->stream);
    if (s->file >= 0 && s->name)
        close(s->file);
    free(s->input);
    *s = (struct plm_json_source){.file = -1};
}

static int64_t plain_read(struct plm_json_source *s, unsigned char *out, size_t room, struct plm_error *error)
{
    size_t ahead = s->stream.avail_in < room ? s->stream.avail_in : room;
    int64_t got;
    if (ahead)
        memcpy(out, s->stream.next_in, ahead);
    s->stream.next_in += ahead;
    s->stream.avail_in -= (uInt)ahead;
    got = raw_read(s, out + ahead, room - ahead, error);
    return got < 0 ? got : (int64_t)ahead + got;
}

static int source_damaged(struct plm_json_source *s, const char *what, struct plm_error *error)
{
    return plm_fail(error, PLM_EFORMAT, "%s: its gzip data %s at byte %llu of the file", s->name, what,
                    (unsigned long long)(s->taken - s->stream.avail_in));
}

/* One call of zlib. 1: goes on, 0: the end, or negative. */
static int source_unpack(struct plm_json_source *s, struct plm_error *error)
{
    int status;
    if (!s->stream.avail_in && (status = source_refill(s, error)) < 0)
        return status;
    if (!s->stream.avail_in)
        return s->member ? source_damaged(s, "end too early", error) : 0;
    if (!s->member) { /* another one follows */
        inflateReset(&s->stream);
        s->member = true;
    }
    status = inflate(&s->stream, Z_NO_FLUSH);
    if (status == Z_STREAM_END)
        s->member = false;
    else if (status == Z_MEM_ERROR)
        plm_out_of_memory();
    else if (status != Z_OK && status != Z_BUF_ERROR)
        return source_damaged(s, "are damaged", error);
    return 1;
}

static int64_t packed_read(struct plm_json_source *s, unsigned char *out, size_t room, struct plm_error *error)
{
    uint64_t packed;
    int status = 1;
    s->stream.next_out = out;
    s->stream.avail_out = (uInt)room;
    while (s->stream.avail_out && (status = source_unpack(s, error)) > 0)
        ;
    if (status < 0)
        return status;
    packed = s->taken - s->stream.avail_in;
    if (s->given > SUSPECT_BYTES && s->given / PLM_JSON_RATIO > packed)
        return plm_fail(error, PLM_EFORMAT,
                        "%s: its gzip data unpack to more than %d times their size, which is not plausible", s->name,
                        PLM_JSON_RATIO);
    return (int64_t)(room - s->stream.avail_out);
}

int64_t plm_json_source_read(struct plm_json_source *s, void *out, size_t room, struct plm_error *error)
{
    size_t most = room < INT32_MAX ? room : INT32_MAX;
    int64_t got = s->packed ? packed_read(s, out, most, error) : plain_read(s, out, most, error);
    if (got > 0)
        s->given += (uint64_t)got;
    return got;
}
