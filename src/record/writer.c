#include "record/writer.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Most of the room is never touched. A large model has some ten thousand parameters with long names. */
enum { TEXTS = 1 << 17, TEXT_BYTES = 8 << 20, TEXT_LONGEST = 1600 };

/* The writing end of one thread. Initial-exec TLS: the dynamic kind may allocate on first use, and
   we are called from inside other people's allocators. */
struct cursor {
    struct plm_record_chunk *chunk;
    uint64_t base_ns;
    uint32_t used;
    uint32_t generation; /* of the process; a forked child must not write to its parent's chunk */
};
static __thread struct cursor cursor __attribute__((tls_model("initial-exec")));

static struct {
    pthread_once_t once;
    struct plm_record_header *header; /* NULL: not recording */
    int fd;
    uint32_t process;
    uint32_t generation;
    _Atomic uint32_t entered; /* the generation that has a place in the record */
    pthread_mutex_t entering;
    struct plm_live *live;
} writer = {.once = PTHREAD_ONCE_INIT, .fd = -1, .entering = PTHREAD_MUTEX_INITIALIZER};
static struct plm_live no_live;

static void append(enum plm_event_type type, int device, const void *payload, unsigned bytes);

/* Interned strings, open addressing. Texts are few (symbols, operators, settings). */
static struct {
    pthread_mutex_t lock;
    const char *slot[TEXTS];
    uint32_t id[TEXTS];
    uint32_t count;
    size_t bytes;
    char store[TEXT_BYTES];
} texts = {.lock = PTHREAD_MUTEX_INITIALIZER};

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* A process enters the record with its first event, so that children which only fork and exec, or
   load data, leave no trace. */
static void enter(void)
{
    const struct plm_ev_process event = {(uint64_t)getpid(), (uint64_t)getppid()};

    pthread_mutex_lock(&writer.entering);
    if (atomic_load(&writer.entered) != writer.generation) {
        writer.process = atomic_fetch_add(&writer.header->processes, 1);
        writer.live = writer.process < PLM_RECORD_SLOTS ? &writer.header->live[writer.process] : &no_live;
        atomic_store(&writer.live->pid, (uint32_t)getpid());
        append(PLM_EV_PROCESS, 0, &event, sizeof event);
        atomic_store(&writer.entered, writer.generation);
    }
    pthread_mutex_unlock(&writer.entering);
}

/* A forked child is a process of its own in the record, with strings of its own. */
static void after_fork(void)
{
    if (!writer.header)
        return;
    writer.generation++;
    writer.live = &no_live;
    pthread_mutex_init(&writer.entering, NULL);
    texts.count = 0;
    texts.bytes = 0;
    for (unsigned i = 0; i < TEXTS; i++)
        if (texts.slot[i]) /* writing only where something is keeps the rest unbacked */
            texts.slot[i] = NULL;
    pthread_mutex_init(&texts.lock, NULL);
}

static void open_record(void)
{
    const char *path = getenv("PLIMSOLL_RECORD");
    struct plm_record_header *header;

    writer.live = &no_live;
    if (!path || !*path)
        return;
    writer.fd = open(path, O_RDWR | O_CLOEXEC);
    if (writer.fd < 0)
        return;
    header = mmap(NULL, PLM_RECORD_HEADER, PROT_READ | PROT_WRITE, MAP_SHARED, writer.fd, 0);
    if (header == MAP_FAILED)
        return;
    if (memcmp(header->magic, PLM_RECORD_MAGIC, sizeof header->magic) || header->version != PLM_RECORD_VERSION) {
        munmap(header, PLM_RECORD_HEADER);
        return;
    }
    writer.header = header;
    writer.generation = 1;
    pthread_atfork(NULL, NULL, after_fork);
}

static bool recording(void)
{
    pthread_once(&writer.once, open_record);
    if (!writer.header)
        return false;
    if (atomic_load_explicit(&writer.entered, memory_order_acquire) != writer.generation)
        enter();
    return true;
}

/* Blocks are really allocated on disk before they are mapped: a full disk must not become a SIGBUS. */
static bool next_chunk(struct cursor *c)
{
    uint64_t index, offset;
    void *map;

    if (c->chunk && c->generation == writer.generation)
        munmap(c->chunk, PLM_RECORD_CHUNK);
    c->chunk = NULL;
    if (atomic_load(&writer.header->flags) & PLM_RECORD_FULL)
        return false;
    index = atomic_fetch_add(&writer.header->chunks, 1);
    offset = PLM_RECORD_HEADER + index * PLM_RECORD_CHUNK;
    if (posix_fallocate(writer.fd, (off_t)offset, PLM_RECORD_CHUNK)) {
        atomic_fetch_or(&writer.header->flags, PLM_RECORD_FULL);
        return false;
    }
    map = mmap(NULL, PLM_RECORD_CHUNK, PROT_READ | PROT_WRITE, MAP_SHARED, writer.fd, (off_t)offset);
    if (map == MAP_FAILED) {
        atomic_fetch_or(&writer.header->flags, PLM_RECORD_FULL);
        return false;
    }
    c->chunk = map;
    c->generation = writer.generation;
    c->base_ns = now_ns();
    c->used = 0;
    c->chunk->pid = (uint32_t)getpid();
    c->chunk->tid = (uint32_t)syscall(SYS_gettid);
    c->chunk->process = writer.process;
    c->chunk->start_ns = c->base_ns;
    atomic_store(&c->chunk->used, 0);
    atomic_thread_fence(memory_order_release);
    c->chunk->magic = PLM_RECORD_CHUNK_MAGIC;
    return true;
}

/* Room for `bytes` plus a TIME event; NULL when nothing can be recorded. */
static char *room(struct cursor *c, unsigned bytes)
{
    const unsigned capacity = PLM_RECORD_CHUNK - (unsigned)sizeof(struct plm_record_chunk) - 16;
    if (!c->chunk || c->generation != writer.generation || c->used + bytes > capacity)
        if (!next_chunk(c))
            return NULL;
    return (char *)(c->chunk + 1) + c->used;
}

static void publish(struct cursor *c, unsigned bytes)
{
    c->used += bytes;
    atomic_store_explicit(&c->chunk->used, c->used, memory_order_release);
}

static void put_head(char *at, enum plm_event_type type, unsigned words, int device, uint32_t dt)
{
    struct plm_event_head head = {(uint8_t)type, (uint8_t)words, (uint16_t)device, dt};
    memcpy(at, &head, sizeof head);
}

/* Event times are 32 bits of nanoseconds; a longer pause moves the base. */
static char *rebase(struct cursor *c, char *at, uint64_t now)
{
    const struct plm_ev_time event = {now};
    put_head(at, PLM_EV_TIME, 2, 0, 0);
    memcpy(at + 8, &event, sizeof event);
    c->base_ns = now;
    publish(c, 16);
    return at + 16;
}

static void append(enum plm_event_type type, int device, const void *payload, unsigned bytes)
{
    struct cursor *c = &cursor;
    unsigned words = 1 + bytes / 8;
    char *at = room(c, words * 8 + 16);
    uint64_t now;

    if (!at)
        return;
    now = now_ns();
    if (now - c->base_ns > UINT32_MAX)
        at = rebase(c, at, now);
    put_head(at, type, words, device, (uint32_t)(now - c->base_ns));
    if (bytes)
        memcpy(at + 8, payload, bytes);
    publish(c, words * 8);
}

void plm_record(enum plm_event_type type, int device, const void *payload, unsigned words)
{
    if (recording() && words < PLM_EVENT_WORDS_MAX)
        append(type, device, payload, words * 8);
}

static uint32_t hash(const char *text, size_t n)
{
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)text[i]) * 16777619u;
    return h;
}

static void write_text(uint32_t id, const char *text, size_t n)
{
    struct {
        struct plm_ev_text head;
        char bytes[TEXT_LONGEST + 8];
    } payload = {.head = {id, (uint32_t)n}};
    memcpy(payload.bytes, text, n);
    append(PLM_EV_TEXT, 0, &payload, (unsigned)(sizeof payload.head + (n + 7) / 8 * 8));
}

uint32_t plm_record_text(const char *text)
{
    size_t n = strnlen(text, TEXT_LONGEST);
    uint32_t id = 0, at = hash(text, n);

    if (!recording())
        return 0;
    pthread_mutex_lock(&texts.lock);
    for (;; at++) {
        const char *have = texts.slot[at % TEXTS];
        if (!have)
            break;
        if (!strncmp(have, text, n) && !have[n]) {
            id = texts.id[at % TEXTS];
            goto out;
        }
    }
    if (texts.count >= TEXTS / 2 || texts.bytes + n + 1 > TEXT_BYTES)
        goto out; /* id 0: a name that the record does not hold */
    texts.slot[at % TEXTS] = memcpy(texts.store + texts.bytes, text, n);
    texts.store[texts.bytes + n] = '\0';
    texts.bytes += n + 1;
    texts.id[at % TEXTS] = id = ++texts.count;
    write_text(id, text, n);
out:
    pthread_mutex_unlock(&texts.lock);
    return id;
}

uint32_t plm_record_name(struct plm_record_name *name, const char *text)
{
    uint64_t have = atomic_load_explicit(&name->slot, memory_order_relaxed);
    uint32_t id;
    if (!recording())
        return 0;
    if (have >> 32 == writer.generation)
        return (uint32_t)have;
    id = plm_record_text(text);
    atomic_store_explicit(&name->slot, (uint64_t)writer.generation << 32 | id, memory_order_relaxed);
    return id;
}

void plm_record_config(const char *key, const char *value)
{
    const uint32_t text = plm_record_text(key); /* the order in which texts are numbered */
    plm_put_config(0, &(struct plm_ev_config){text, plm_record_text(value)});
}

void plm_record_note(const char *kind, const char *value)
{
    const uint32_t text = plm_record_text(kind);
    plm_put_note(0, &(struct plm_ev_note){text, plm_record_text(value)});
}

struct plm_live *plm_record_live(void)
{
    recording();
    return writer.live;
}

void plm_record_end(void)
{
    if (!writer.header || atomic_load(&writer.entered) != writer.generation)
        return;
    plm_put_launches(0, &(struct plm_ev_launches){atomic_load(&writer.live->launches)});
    plm_put_end(0, NULL);
}
