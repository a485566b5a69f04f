/*
 * Output through one large buffer, straight to a file descriptor: exports write gigabytes, and stdio's
 * formatting would take most of their time. Memory is bounded by the buffer.
 *
 * One thread. Writing never fails where it is called: the first error is kept and shows in
 * plm_out_close(). The descriptor belongs to the caller.
 */
#ifndef PLM_EXPORT_OUT_H
#define PLM_EXPORT_OUT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define PLM_OUT_BYTES (1u << 20)

struct plm_out {
    int fd;
    int failure; /* errno of the first write that failed, then 0 bytes are written */
    size_t used;
    char *buffer;
};

void plm_out_open(struct plm_out *out, int fd);
/* Writes what is left and frees the buffer. Returns 0, or PLM_EIO with errno set. */
int plm_out_close(struct plm_out *out);
void plm_out_flush(struct plm_out *out);

void plm_out_large(struct plm_out *out, const void *bytes, size_t count);
void plm_out_u64(struct plm_out *out, uint64_t value);
void plm_out_hex(struct plm_out *out, uint64_t value); /* "0x7f00" */
/* Microseconds with three decimals. */
void plm_out_us(struct plm_out *out, uint64_t ns);

/* Quoted for JSON, or for CSV (RFC 4180) where that is needed. Safe to show whatever the text is (common/printable.h). */
void plm_out_json(struct plm_out *out, const char *text);
void plm_out_csv(struct plm_out *out, const char *text);

static inline void plm_out_bytes(struct plm_out *out, const void *bytes, size_t count)
{
    if (count > PLM_OUT_BYTES - out->used) {
        plm_out_large(out, bytes, count);
        return;
    }
    memcpy(out->buffer + out->used, bytes, count);
    out->used += count;
}

static inline void plm_out_byte(struct plm_out *out, char byte)
{
    if (out->used == PLM_OUT_BYTES)
        plm_out_flush(out);
    out->buffer[out->used++] = byte;
}

static inline void plm_out_text(struct plm_out *out, const char *text)
{
    plm_out_bytes(out, text, strlen(text));
}

#endif
