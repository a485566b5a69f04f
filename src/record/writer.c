#include "record/writer.h"

#include <fcntl.h>
#include <stdlib.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct plm_writer writer;
/* Initial-exec TLS: the dynamic kind may allocate on first use, and we are called from inside other people's allocators. */
static __thread struct plm_pen pen __attribute__((tls_model("initial-exec")));

static void after_fork(void)
{
    plm_writer_forked(&writer);
}

static void open_record(void)
{
    const char *path = getenv("PLIMSOLL_RECORD");
    plm_writer_open(&writer, path ? path : "");
    pthread_atfork(NULL, NULL, after_fork); /* without a record too: one may be switched to */
}

/* The generation tells pens and names that what they know is of another record. */
void plm_record_switch(const char *path)
{
    struct plm_writer other;
    pthread_once(&once, open_record);
    if (plm_writer_open(&other, path))
        return;
    plm_own_file_close(&writer.file);
    other.generation = writer.generation + 1;
    writer = other;
}

static struct plm_pen *my_pen(void)
{
    pthread_once(&once, open_record);
    pen.writer = &writer;
    return &pen;
}

void plm_record(enum plm_record_event_type type, int device, const void *payload, unsigned words)
{
    plm_pen_put(my_pen(), type, device, payload, words);
}

uint32_t plm_record_text(const char *text)
{
    return plm_pen_intern(my_pen(), text);
}

uint32_t plm_record_name(struct plm_record_name *name, const char *text)
{
    uint64_t have = atomic_load_explicit(&name->slot, memory_order_relaxed);
    uint32_t id;
    if (!my_pen()->writer->header)
        return 0;
    if (have >> 32 == writer.generation)
        return (uint32_t)have;
    id = plm_record_text(text);
    atomic_store_explicit(&name->slot, (uint64_t)writer.generation << 32 | id, memory_order_relaxed);
    return id;
}

void plm_record_config(const char *key, const char *value)
{
    plm_pen_setting(my_pen(), key, value);
}

void plm_record_note(const char *kind, const char *value)
{
    plm_pen_remark(my_pen(), kind, value);
}

struct plm_live *plm_record_live(void)
{
    plm_pen_enter(my_pen());
    return writer.live;
}

struct plm_awaited *plm_record_awaited(void)
{
    static struct plm_awaited nobody; /* of a process that has no slot */
    plm_pen_enter(my_pen());
    return writer.header && writer.process < PLM_RECORD_SLOTS ? &writer.header->awaited[writer.process] : &nobody;
}

struct plm_record_header *plm_record_shared(void)
{
    return my_pen()->writer->header;
}

bool plm_record_abandoned(void)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
    int fd;
    if (!my_pen()->writer->header ||
        (atomic_load(&writer.header->flags) & (PLM_RECORD_HELD | PLM_RECORD_ENDED)) != PLM_RECORD_HELD)
        return false;
    fd = plm_own_file_use(&writer.file);
    return fd >= 0 && fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type == F_UNLCK;
}

void plm_record_end(int status)
{
    if (!writer.header || atomic_load(&writer.entered) != writer.generation)
        return;
    plm_put_launches(0, &(struct plm_ev_launches){atomic_load(&writer.live->launches)});
    plm_put_end(0, &(struct plm_ev_end){(uint32_t)status & 0xff, 0});
}
