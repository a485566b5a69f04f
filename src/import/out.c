#include "import/out.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "record/writer.h"

enum { PROCESS = 1, TEXT_LONGEST = 1600, CAPACITY = PLM_RECORD_CHUNK - sizeof(struct plm_record_chunk) };

static void write_chunk(struct plm_import_out *o)
{
    struct plm_record_chunk *head = (struct plm_record_chunk *)(void *)o->chunk;
    const off_t at = (off_t)(PLM_RECORD_HEADER + o->chunks * PLM_RECORD_CHUNK);
    size_t done = 0;
    if (!o->used || o->status)
        return;
    atomic_store(&head->used, o->used);
    memset(o->chunk + sizeof *head + o->used, 0, CAPACITY - o->used);
    while (done < PLM_RECORD_CHUNK) {
        ssize_t n = pwrite(o->file.fd, o->chunk + done, PLM_RECORD_CHUNK - done, at + (off_t)done);
        if (n <= 0) {
            o->status = PLM_EIO;
            return;
        }
        done += (size_t)n;
    }
    o->chunks++;
    o->used = 0;
}

void plm_import_out_open(struct plm_import_out *o, struct plm_record_file file, uint64_t created_ns)
{
    *o = (struct plm_import_out){.file = file, .chunk = aligned_alloc(64, PLM_RECORD_CHUNK)};
    if (!o->chunk)
        plm_out_of_memory();
    plm_names_add(&o->texts, "");
    file.header->created_ns = created_ns;
    file.header->monotonic_ns = 0;
    atomic_store(&file.header->processes, PROCESS + 1);
    plm_import_out_thread(o, 1);
    plm_import_out_event(o, 0, PLM_EV_PROCESS, 0, &(struct plm_ev_process){PROCESS, 0}, 2);
}

void plm_import_out_thread(struct plm_import_out *o, uint32_t thread)
{
    if (o->status)
        return;
    write_chunk(o);
    o->thread = thread;
    o->base_ns = o->last_ns = 0;
}

static void begin_chunk(struct plm_import_out *o, uint64_t ns)
{
    struct plm_record_chunk head = {PLM_RECORD_CHUNK_MAGIC, PROCESS, o->thread, PROCESS, ns, 0, 0};
    memcpy(o->chunk, &head, sizeof head);
    o->base_ns = ns;
}

static void put(struct plm_import_out *o, enum plm_event_type type, unsigned device, uint32_t dt, const void *payload,
                unsigned words)
{
    struct plm_event_head head = {(uint8_t)type, (uint8_t)(words + 1), (uint16_t)device, dt};
    unsigned char *at = o->chunk + sizeof(struct plm_record_chunk) + o->used;
    memcpy(at, &head, sizeof head);
    memcpy(at + 8, payload, 8 * (size_t)words);
    o->used += 8 * (words + 1);
}

void plm_import_out_event(struct plm_import_out *o, uint64_t ns, enum plm_event_type type, unsigned device,
                          const void *payload, unsigned count)
{
    if (o->status || count >= PLM_EVENT_WORDS_MAX)
        return;
    if (o->used + 8 * (count + 1) + 16 > CAPACITY)
        write_chunk(o);
    if (o->status)
        return;
    ns = ns < o->last_ns ? o->last_ns : ns;
    o->last_ns = ns;
    if (!o->used)
        begin_chunk(o, ns);
    if (ns - o->base_ns > UINT32_MAX) {
        put(o, PLM_EV_TIME, 0, 0, &ns, 1);
        o->base_ns = ns;
    }
    put(o, type, device, (uint32_t)(ns - o->base_ns), payload, count);
}

uint32_t plm_import_out_text(struct plm_import_out *o, const char *text)
{
    struct {
        struct plm_ev_text head;
        char bytes[TEXT_LONGEST + 8];
    } event = {0};
    size_t before = o->texts.count, n = strnlen(text, TEXT_LONGEST);
    char cut[TEXT_LONGEST + 1];
    uint32_t number;
    if (o->status)
        return 0;
    memcpy(cut, text, n);
    cut[n] = '\0';
    number = plm_names_add(&o->texts, cut);
    if (o->texts.count > before) {
        event.head = (struct plm_ev_text){number, (uint32_t)n};
        memcpy(event.bytes, cut, n);
        plm_import_out_event(o, o->last_ns, PLM_EV_TEXT, 0, &event, (unsigned)(1 + (n + 7) / 8));
    }
    return number;
}

void plm_import_out_config(struct plm_import_out *o, const char *key, const char *value)
{
    const uint32_t text = plm_import_out_text(o, key);
    const struct plm_ev_config event = {text, plm_import_out_text(o, value)};
    plm_import_out_event(o, o->last_ns, PLM_EV_CONFIG, 0, &event, 1);
}

int plm_import_out_close(struct plm_import_out *o)
{
    int status;
    if (!o->status)
        write_chunk(o);
    status = o->status;
    atomic_store(&o->file.header->chunks, o->chunks);
    if (status)
        atomic_fetch_or(&o->file.header->flags, PLM_RECORD_FULL);
    plm_record_close(&o->file);
    plm_names_free(&o->texts);
    free(o->chunk);
    return status;
}
