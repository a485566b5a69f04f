#include "export/out.h"

#include <errno.h>
#include <unistd.h>

#include "common/error.h"
#include "base/memory.h"
#include "common/printable.h"
#include "base/csv.h"

void plm_out_open(struct plm_out *out, int fd)
{
    *out = (struct plm_out){.fd = fd, .buffer = plm_calloc(PLM_OUT_BYTES, 1)};
}

static void write_all(struct plm_out *out, const char *bytes, size_t count)
{
    while (count && !out->failure) {
        ssize_t n = write(out->fd, bytes, count);
        if (n < 0 && errno != EINTR)
            out->failure = errno;
        else if (n > 0) {
            bytes += n;
            count -= (size_t)n;
        }
    }
}

void plm_out_flush(struct plm_out *out)
{
    write_all(out, out->buffer, out->used);
    out->used = 0;
}

void plm_out_large(struct plm_out *out, const void *bytes, size_t count)
{
    plm_out_flush(out);
    if (count > PLM_OUT_BYTES) {
        write_all(out, bytes, count);
        return;
    }
    memcpy(out->buffer, bytes, count);
    out->used = count;
}

int plm_out_close(struct plm_out *out)
{
    plm_out_flush(out);
    free(out->buffer);
    out->buffer = NULL;
    errno = out->failure;
    return out->failure ? PLM_EIO : 0;
}

/* Two digits at a time: divisions are what formatting costs. */
static const char digit_pairs[] = "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
                                  "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
                                  "8081828384858687888990919293949596979899";

void plm_out_u64(struct plm_out *out, uint64_t value)
{
    char text[20];
    size_t at = sizeof text;
    while (value >= 100) {
        at -= 2;
        memcpy(text + at, digit_pairs + 2 * (value % 100), 2);
        value /= 100;
    }
    if (value >= 10) {
        at -= 2;
        memcpy(text + at, digit_pairs + 2 * value, 2);
    } else
        text[--at] = (char)('0' + value);
    plm_out_bytes(out, text + at, sizeof text - at);
}

void plm_out_hex(struct plm_out *out, uint64_t value)
{
    char text[18];
    size_t at = sizeof text;
    do
        text[--at] = "0123456789abcdef"[value & 15];
    while (value >>= 4);
    text[--at] = 'x';
    text[--at] = '0';
    plm_out_bytes(out, text + at, sizeof text - at);
}

void plm_out_us(struct plm_out *out, uint64_t ns)
{
    unsigned rest = (unsigned)(ns % 1000);
    char text[4] = {'.', (char)('0' + rest / 100), (char)('0' + rest / 10 % 10), (char)('0' + rest % 10)};
    plm_out_u64(out, ns / 1000);
    plm_out_bytes(out, text, sizeof text);
}

void plm_out_json(struct plm_out *out, const char *text)
{
    char quoted[PLM_PRINTABLE_MOST];
    plm_out_byte(out, '"');
    for (unsigned n; (n = plm_printable_json(text, quoted)); text += n)
        plm_out_text(out, quoted);
    plm_out_byte(out, '"');
}

static void text_put(void *out, const char *text)
{
    plm_out_text(out, text);
}

void plm_out_csv(struct plm_out *out, const char *text)
{
    plm_csv_write(text, text_put, out);
}
