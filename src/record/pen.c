#include "record/pen.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "common/error.h"
#include "common/secret_shape.h"

/* Most of the room is never touched. A large model has some ten thousand parameters with long names. */
enum {
    TEXTS = 1 << 17,
    TEXTS_MOST = TEXTS / 2,
    TEXT_BYTES = 8 << 20,
    TEXT_LONGEST = 1600,
    PAST_PROCESS = 1,
    TRIES = 4
};

/* Interned strings, open addressing. Texts are few (symbols, operators, settings), so every slot that is used is a page of
   the host at first, in each process anew: slots are small. */
struct plm_texts {
    pthread_mutex_t lock;
    uint32_t count;
    size_t bytes;
    uint32_t slot[TEXTS]; /* the text's id; 0: free */
    uint32_t start[TEXTS_MOST]; /* of text id - 1, in `store` */
    char store[TEXT_BYTES];
};

static struct plm_live no_live;

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t time_of(const struct plm_pen *p)
{
    return p->writer->past ? p->past_ns : now_ns();
}

/* ---- chunks ---- */

void plm_pen_close(struct plm_pen *p)
{
    if (p->chunk && p->generation == p->writer->generation)
        munmap(p->chunk, PLM_RECORD_CHUNK);
    p->chunk = NULL;
}

/* Nothing more is recorded, and the header says why: it is mapped, whatever became of the descriptor. A record that its run
   has closed, and may have given another name, lacks nothing of what it is about. */
static void *record_stop(struct plm_record_header *header, enum plm_record_stop what, int error)
{
    uint32_t none = 0;
    if (what == PLM_STOP_REOPEN && atomic_load(&header->flags) & PLM_RECORD_ENDED)
        return NULL;
    atomic_compare_exchange_strong(&header->stopped, &none, PLM_RECORD_STOPPED(what, error));
    atomic_fetch_or(&header->flags, PLM_RECORD_FULL);
    return NULL;
}

/* Blocks are really allocated on disk before they are mapped: a full disk must not become a SIGBUS. The limit is asked
   for first: whoever exceeds it gets a SIGXFSZ, which would end the program. 0 or an error of the system. */
static int chunk_allocate(int fd, uint64_t offset)
{
    struct rlimit limit;
    int status;
    if (!getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur != RLIM_INFINITY &&
        offset + PLM_RECORD_CHUNK > limit.rlim_cur)
        return EFBIG;
    do
        status = posix_fallocate(fd, (off_t)offset, PLM_RECORD_CHUNK);
    while (status == EINTR);
    return status;
}

/* While this goes on another thread may close the descriptor, or make it another file. So it is looked at again when it is
   mapped: nothing is written into what is not the record. NULL: there is no chunk. */
static void *chunk_map(struct plm_writer *w, uint64_t offset)
{
    for (int i = 0; i < TRIES; i++) {
        const int fd = plm_own_file_use(&w->file);
        void *map = MAP_FAILED;
        int refused, error;
        if (fd < 0)
            return record_stop(w->header, PLM_STOP_REOPEN, errno);
        refused = chunk_allocate(fd, offset);
        if (!refused)
            map = mmap(NULL, PLM_RECORD_CHUNK, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset);
        error = refused ? refused : errno;
        if (plm_own_file_is(&w->file, fd))
            return map != MAP_FAILED ? map : record_stop(w->header, refused ? PLM_STOP_EXTEND : PLM_STOP_MAP, error);
        if (map != MAP_FAILED)
            munmap(map, PLM_RECORD_CHUNK);
    }
    return record_stop(w->header, PLM_STOP_REOPEN, EBADF);
}

static bool next_chunk(struct plm_pen *p)
{
    struct plm_writer *w = p->writer;
    const int before = errno; /* is the program's */
    void *map;

    plm_pen_close(p);
    if (atomic_load(&w->header->flags) & PLM_RECORD_FULL)
        return false;
    map = chunk_map(w, PLM_RECORD_HEADER + atomic_fetch_add(&w->header->chunks, 1) * PLM_RECORD_CHUNK);
    errno = before;
    if (!map)
        return false;
    p->chunk = map;
    p->generation = w->generation;
    p->base_ns = time_of(p);
    p->used = 0;
    p->chunk->pid = w->past ? PAST_PROCESS : (uint32_t)getpid();
    p->chunk->tid = p->thread ? p->thread : (uint32_t)syscall(SYS_gettid);
    p->chunk->process = w->process;
    p->chunk->start_ns = p->base_ns;
    atomic_store(&p->chunk->used, 0);
    atomic_thread_fence(memory_order_release);
    p->chunk->magic = PLM_RECORD_CHUNK_MAGIC;
    return true;
}

void plm_writer_forget(struct plm_writer *w, uint64_t since)
{
    const uint32_t none = 0;
    const uint64_t chunks = w->header ? atomic_load(&w->header->chunks) : 0;
    for (uint64_t i = since; i < chunks; i++) {
        const int fd = plm_own_file_use(&w->file);
        const off_t offset = (off_t)(PLM_RECORD_HEADER + i * PLM_RECORD_CHUNK);
        struct plm_record_chunk chunk;
        if (pread(fd, &chunk, sizeof chunk, offset) != (ssize_t)sizeof chunk || chunk.process == w->process ||
            pwrite(fd, &none, sizeof none, offset + (off_t)offsetof(struct plm_record_chunk, used)) < 0)
            continue; /* our own stay, and what cannot be taken out */
    }
}

/* Room for `bytes` plus a TIME event; NULL when nothing can be recorded. */
static char *room(struct plm_pen *p, unsigned bytes)
{
    const unsigned capacity = PLM_RECORD_CHUNK - (unsigned)sizeof(struct plm_record_chunk) - 16;
    if (!p->chunk || p->generation != p->writer->generation || p->used + bytes > capacity)
        if (!next_chunk(p))
            return NULL;
    return (char *)(p->chunk + 1) + p->used;
}

static void publish(struct plm_pen *p, unsigned bytes)
{
    p->used += bytes;
    atomic_store_explicit(&p->chunk->used, p->used, memory_order_release);
}

/* ---- events ---- */

static void put_head(char *at, enum plm_record_event_type type, unsigned words, int device, uint32_t dt)
{
    struct plm_record_event_head head = {(uint8_t)type, (uint8_t)words, (uint16_t)device, dt};
    memcpy(at, &head, sizeof head);
}

/* Event times are 32 bits of nanoseconds; a longer pause moves the base. */
static char *rebase(struct plm_pen *p, char *at, uint64_t now)
{
    const struct plm_ev_time event = {now};
    put_head(at, PLM_EV_TIME, 2, 0, 0);
    memcpy(at + 8, &event, sizeof event);
    p->base_ns = now;
    publish(p, 16);
    return at + 16;
}

static void append(struct plm_pen *p, enum plm_record_event_type type, int device, const void *payload, unsigned bytes)
{
    unsigned words = 1 + bytes / 8;
    char *at = room(p, words * 8 + 16);
    uint64_t now;

    if (!at)
        return;
    now = time_of(p);
    if (now - p->base_ns > UINT32_MAX)
        at = rebase(p, at, now);
    put_head(at, type, words, device, (uint32_t)(now - p->base_ns));
    if (bytes)
        memcpy(at + 8, payload, bytes);
    publish(p, words * 8);
}

/* A process enters the record with its first event, so that children which only fork and exec, or
   load data, leave no trace. */
static void enter(struct plm_pen *p)
{
    struct plm_writer *w = p->writer;
    const struct plm_ev_process event = {w->past ? PAST_PROCESS : (uint64_t)getpid(),
                                         w->past ? 0 : (uint64_t)getppid()};

    pthread_mutex_lock(&w->entering);
    if (atomic_load(&w->entered) != w->generation) {
        w->process = atomic_fetch_add(&w->header->processes, 1);
        w->live = w->process < PLM_RECORD_SLOTS ? &w->header->live[w->process] : &no_live;
        atomic_store(&w->live->pid, (uint32_t)event.pid);
        append(p, PLM_EV_PROCESS, 0, &event, sizeof event);
        atomic_store(&w->entered, w->generation);
    }
    pthread_mutex_unlock(&w->entering);
}

void plm_pen_enter(struct plm_pen *p)
{
    const struct plm_writer *w = p->writer;
    if (w->header && atomic_load_explicit(&w->entered, memory_order_acquire) != w->generation)
        enter(p);
}

void plm_pen_at(struct plm_pen *p, uint64_t ns)
{
    p->past_ns = ns > p->past_ns ? ns : p->past_ns;
}

void plm_pen_put(struct plm_pen *p, enum plm_record_event_type type, int device, const void *payload, unsigned words)
{
    if (!p->writer->header || words >= PLM_EVENT_WORDS_MAX)
        return;
    plm_pen_enter(p);
    append(p, type, device, payload, words * 8);
}

/* ---- texts ---- */

/* Not base/map: this writes in the user's process too, where a text is kept without an allocation. */
static uint32_t text_hash(const char *text, size_t n)
{
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)text[i]) * 16777619u;
    return h;
}

static void write_text(struct plm_pen *p, uint32_t id, const char *text, size_t n)
{
    struct {
        struct plm_ev_text head;
        char bytes[TEXT_LONGEST + 8];
    } payload = {.head = {id, (uint32_t)n}};
    memcpy(payload.bytes, text, n);
    append(p, PLM_EV_TEXT, 0, &payload, (unsigned)(sizeof payload.head + (n + 7) / 8 * 8));
}

uint32_t plm_pen_intern(struct plm_pen *p, const char *text)
{
    struct plm_texts *t = p->writer->texts;
    size_t n = strnlen(text, TEXT_LONGEST);
    uint32_t id = 0, at = text_hash(text, n);

    if (!p->writer->header)
        return 0;
    plm_pen_enter(p);
    pthread_mutex_lock(&t->lock);
    for (;; at++) {
        const char *have;
        id = t->slot[at % TEXTS];
        if (!id)
            break;
        have = t->store + t->start[id - 1];
        if (!strncmp(have, text, n) && !have[n])
            goto out;
    }
    if (t->count >= TEXTS_MOST || t->bytes + n + 1 > TEXT_BYTES)
        goto out; /* id 0: a name that the record does not hold */
    memcpy(t->store + t->bytes, text, n);
    t->store[t->bytes + n] = '\0';
    t->start[t->count] = (uint32_t)t->bytes;
    t->bytes += n + 1;
    t->slot[at % TEXTS] = id = ++t->count;
    write_text(p, id, text, n);
out:
    pthread_mutex_unlock(&t->lock);
    return id;
}

/* A text of the user's: an argument, a path, a message. Records are kept, and shown to others. */
static uint32_t intern_hidden(struct plm_pen *p, const char *value)
{
    char text[TEXT_LONGEST + 1] = "";
    strncat(text, value, TEXT_LONGEST);
    plm_hide_secrets(text);
    return plm_pen_intern(p, text);
}

void plm_pen_setting(struct plm_pen *p, const char *key, const char *value)
{
    const uint32_t text = plm_pen_intern(p, key); /* first: texts are numbered in this order */
    plm_pen_config(p, 0, &(struct plm_ev_config){text, intern_hidden(p, value)});
}

void plm_pen_remark(struct plm_pen *p, const char *kind, const char *value)
{
    const uint32_t text = plm_pen_intern(p, kind);
    plm_pen_note(p, 0, &(struct plm_ev_note){text, intern_hidden(p, value)});
}

/* ---- the writer ---- */

/* `place`: over what is there, which is forgotten; NULL: anywhere. */
static bool make_texts(struct plm_writer *w, void *place)
{
    void *map = mmap(place, sizeof *w->texts, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (place ? MAP_FIXED : 0), -1, 0);
    if (map == MAP_FAILED)
        return false;
    w->texts = map;
    pthread_mutex_init(&w->texts->lock, NULL);
    return true;
}

int plm_writer_open(struct plm_writer *w, const char *path)
{
    struct plm_record_header *header;
    int status = PLM_EIO;

    *w = (struct plm_writer){.live = &no_live};
    pthread_mutex_init(&w->entering, NULL);
    if (plm_own_file_open(&w->file, path, O_RDWR | O_NOFOLLOW))
        return PLM_EIO;
    header = mmap(NULL, PLM_RECORD_HEADER, PROT_READ | PROT_WRITE, MAP_SHARED, w->file.fd, 0);
    if (header == MAP_FAILED)
        goto fail;
    if (memcmp(header->magic, PLM_RECORD_MAGIC, sizeof header->magic) || header->version != PLM_RECORD_VERSION)
        status = PLM_EVERSION;
    else if (make_texts(w, NULL)) {
        w->header = header;
        w->generation = 1;
        return 0;
    }
    munmap(header, PLM_RECORD_HEADER);
fail:
    plm_own_file_close(&w->file);
    return status;
}

void plm_writer_past(struct plm_writer *w, uint64_t created_ns)
{
    if (!w->header)
        return;
    w->past = true;
    w->header->created_ns = created_ns;
    w->header->monotonic_ns = 0;
    atomic_store(&w->header->processes, PAST_PROCESS);
}

int plm_writer_close(struct plm_writer *w)
{
    int status = 0;
    if (w->header) {
        status = atomic_load(&w->header->flags) & PLM_RECORD_FULL ? PLM_EIO : 0;
        munmap(w->header, PLM_RECORD_HEADER);
        munmap(w->texts, sizeof *w->texts);
        plm_own_file_close(&w->file);
    }
    *w = (struct plm_writer){.file = PLM_OWN_FILE_NONE, .live = &no_live};
    return status;
}

void plm_writer_forked(struct plm_writer *w)
{
    if (!w->header)
        return;
    w->generation++;
    w->live = &no_live;
    pthread_mutex_init(&w->entering, NULL);
    if (!make_texts(w, w->texts))
        w->header = NULL; /* the child is not recorded */
}
