#include "world/messages.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "common/own_file.h"

/* ---- the board ---- */

#define MAGIC      0x6472616f626d6c70ull
#define BUSY       UINT64_MAX /* the position of an entry that somebody is writing */
#define RING_BYTES (32ull << 20)
#define WAIT_MS    60000 /* for one who is there and does not post; the second time less */
#define WAIT_MORE  1000
#define BARRIER_MS 600000
#define ARRIVE_MS  60000 /* after this process came, for one who has not come yet */
#define LOOK_MS    50    /* between looks at whether the sender lives */

enum { PROCESSES = 1024, MEMBERS = 8192, NEAR = 16, ENTRIES = 32768, NEIGHBOURS = 8, ALIGN = 64, TRIES = 4 };

_Static_assert(RING_BYTES % ALIGN == 0 && PLM_MESSAGE_MOST < RING_BYTES / 16, "messages are small beside the board");
_Static_assert(ENTRIES % NEIGHBOURS == 0 && MEMBERS % NEAR == 0, "keys are looked for in whole neighbourhoods");

/* A process that takes part, by its place; it locks the byte of that number in the file. */
struct process {
    _Atomic uint64_t job;    /* 0: nobody has been here */
    _Atomic int32_t rank;    /* in the job */
    _Atomic uint32_t taken;  /* it took a message since its first step */
    _Atomic uint32_t enough; /* it has seen enough */
    _Atomic uint32_t step;   /* that it has made */
    _Atomic uint32_t ends;   /* the step after which all end, as it said; 0: it did not */
};

/* A member of a group. */
struct member {
    _Atomic uint32_t state; /* 0 free, 1 being written, 2 there */
    _Atomic uint32_t process;
    _Atomic uint64_t low, high, place;
    _Atomic uint64_t posted; /* the number of its last message */
};
enum { FREE, WRITING, THERE };

/* Where the message of a key is. */
struct entry {
    _Atomic uint64_t position; /* 0: none */
    _Atomic uint64_t low, high;
};

/* A message in the ring, its bytes behind it. */
struct posted {
    uint64_t position, low, high;
    uint32_t bytes, known; /* of which are there */
};
_Static_assert(sizeof(struct posted) <= ALIGN, "the bytes begin at the next line");

/* Positions count on for ever; the ring holds the last RING_BYTES of them. */
struct board {
    uint64_t magic;
    _Atomic uint64_t head;
    _Atomic uint32_t news, waiting; /* messages that came, processes that wait for one */
    struct process process[PROCESSES];
    struct member member[MEMBERS];
    struct entry entry[ENTRIES];
    _Alignas(ALIGN) unsigned char ring[RING_BYTES];
};

static struct {
    struct board *board; /* NULL: there is none */
    struct plm_own_file file;
    _Atomic pid_t joining, joined; /* the process that takes a place, that has it: a forked child has none */
    _Atomic uint32_t place;
    uint64_t job, joined_ms;
    _Atomic bool waited; /* in vain, once */
} mine;

int plm_messages_create(void)
{
    static const uint64_t magic = MAGIC;
    int fd = memfd_create("plimsoll-messages", MFD_CLOEXEC);
    if (fd >= 0 && (ftruncate(fd, (off_t)sizeof(struct board)) || pwrite(fd, &magic, sizeof magic, 0) < 0)) {
        close(fd);
        return -1;
    }
    return fd;
}

static void board_map(int fd)
{
    struct stat status;
    struct board *board;
    if (fstat(fd, &status) || status.st_size != (off_t)sizeof *board)
        return;
    board = mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (board == MAP_FAILED)
        return;
    if (board->magic == MAGIC)
        mine.board = board;
    else
        munmap(board, sizeof *board);
}

static void board_open(void)
{
    const char *path = getenv("PLIMSOLL_MESSAGES");
    if (!path || !*path || plm_own_file_open(&mine.file, path, O_RDWR))
        return;
    board_map(mine.file.fd);
    if (!mine.board)
        plm_own_file_close(&mine.file);
}

static struct board *board_get(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, board_open);
    return mine.board;
}

bool plm_messages_here(void)
{
    return board_get() != NULL;
}

static uint64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* ---- keys ---- */

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 27) * 0x94d049bb133111ebull;
    return x ^ x >> 31;
}

struct plm_message_key plm_message_key(struct plm_message_key from, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    from.low = mix(from.low + 0x9e3779b97f4a7c15ull + size);
    while (size) {
        uint64_t word = 0;
        size_t part = size < sizeof word ? size : sizeof word;
        memcpy(&word, at, part);
        from.low = mix(from.low ^ word);
        from.high = mix(from.high + from.low);
        at += part;
        size -= part;
    }
    return from;
}

static bool same(struct plm_message_key key, const _Atomic uint64_t *low, const _Atomic uint64_t *high)
{
    return atomic_load_explicit(low, memory_order_relaxed) == key.low &&
           atomic_load_explicit(high, memory_order_relaxed) == key.high;
}

/* ---- news ---- */

static void futex(_Atomic uint32_t *word, int operation, uint32_t value, const struct timespec *time)
{
    syscall(SYS_futex, word, operation, value, time, NULL, 0);
}

static void tell(struct board *b)
{
    atomic_fetch_add(&b->news, 1);
    if (atomic_load(&b->waiting))
        futex(&b->news, FUTEX_WAKE, INT_MAX, NULL);
}

/* ---- who is there ---- */

static struct flock lock_of(uint32_t place, short type)
{
    return (struct flock){.l_type = type, .l_whence = SEEK_SET, .l_start = (off_t)place, .l_len = 1};
}

/* Where that cannot be asked he does: who is waited for in vain is late, who was taken for dead is lost. */
static bool lives(uint32_t place)
{
    struct flock lock = lock_of(place, F_WRLCK);
    const int fd = plm_own_file_use(&mine.file);
    return fd < 0 || fcntl(fd, F_OFD_GETLK, &lock) || lock.l_type != F_UNLCK;
}

static struct plm_message_key key_of_environment(struct plm_message_key key, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *value = getenv(names[i]);
        key = plm_message_key(key, value ? value : "", value ? strlen(value) : 0);
    }
    return key;
}

struct plm_message_key plm_messages_job(void)
{
    static const char *const names[] = {"TORCHELASTIC_RUN_ID", "MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE"};
    return key_of_environment((struct plm_message_key){1, 1}, names, sizeof names / sizeof names[0]);
}

struct plm_message_key plm_messages_kept(void)
{
    static const char *const names[] = {"PLIMSOLL_RECORD", "WORLD_SIZE"};
    return key_of_environment((struct plm_message_key){2, 2}, names, sizeof names / sizeof names[0]);
}

static bool place_lock(int fd, uint32_t first, uint32_t *place)
{
    for (uint32_t i = 0; i < PROCESSES; i++) {
        struct flock lock = lock_of((first + i) % PROCESSES, F_WRLCK);
        if (!fcntl(fd, F_OFD_SETLK, &lock)) {
            *place = (first + i) % PROCESSES;
            return true;
        }
    }
    return false;
}

/* The lock belongs to an open file, and a mapping keeps that open until the process ends: there is no descriptor whose closing
   would give it back. Children that are forked get neither, so it does not outlive the process in them. */
static bool place_hold(uint32_t first, uint32_t *place)
{
    const int fd = plm_own_file_again(&mine.file);
    void *page = fd < 0 ? MAP_FAILED : mmap(NULL, 1, PROT_READ, MAP_SHARED, fd, 0);
    const bool held = page != MAP_FAILED && !madvise(page, 1, MADV_DONTFORK) && plm_own_file_is(&mine.file, fd) &&
                      place_lock(fd, first, place);
    if (page != MAP_FAILED && !held)
        munmap(page, 1);
    plm_own_file_drop(&mine.file, fd);
    return held;
}

static void place_take(struct board *b, uint32_t place, int rank)
{
    atomic_store(&b->process[place].rank, rank);
    atomic_store(&b->process[place].taken, 0);
    atomic_store(&b->process[place].enough, 0);
    atomic_store(&b->process[place].step, 0);
    atomic_store(&b->process[place].ends, 0);
    atomic_store(&b->process[place].job, mine.job);
    atomic_store(&mine.place, place);
}

void plm_messages_join(int rank)
{
    struct board *b = board_get();
    const pid_t self = getpid();
    pid_t before = atomic_load(&mine.joining);
    uint32_t place;
    if (!b || before == self || !atomic_compare_exchange_strong(&mine.joining, &before, self))
        return;
    mine.job = plm_messages_job().high | 1;
    mine.joined_ms = now_ms();
    if (!place_hold(rank < 0 ? 0 : (uint32_t)rank, &place))
        return;
    place_take(b, place, rank);
    atomic_store(&mine.joined, self);
}

static bool has_joined(void)
{
    return atomic_load_explicit(&mine.joined, memory_order_acquire) == getpid();
}

static struct member *members_near(struct board *b, struct plm_message_key group, int place)
{
    return &b->member[mix(group.low + (uint64_t)place) % (MEMBERS / NEAR) * NEAR];
}

static struct member *member_find(struct board *b, struct plm_message_key group, int place)
{
    struct member *near = members_near(b, group, place);
    for (int i = 0; i < NEAR; i++)
        if (atomic_load_explicit(&near[i].state, memory_order_acquire) == THERE &&
            same(group, &near[i].low, &near[i].high) && near[i].place == (uint64_t)place)
            return &near[i];
    return NULL;
}

/* A free one, or one whose process is gone. */
static struct member *member_claim(struct board *b, struct plm_message_key group, int place)
{
    struct member *near = members_near(b, group, place);
    for (int i = 0; i < NEAR; i++) {
        uint32_t state = atomic_load(&near[i].state);
        bool free = state == FREE || (state == THERE && near[i].process < PROCESSES && !lives(near[i].process));
        if (free && atomic_compare_exchange_strong(&near[i].state, &state, WRITING))
            return &near[i];
    }
    return NULL;
}

void plm_messages_attach(struct plm_message_key group, int place)
{
    struct board *b = board_get();
    struct member *m;
    if (!b || !has_joined())
        return;
    m = member_claim(b, group, place);
    if (!m)
        return;
    atomic_store(&m->low, group.low);
    atomic_store(&m->high, group.high);
    atomic_store(&m->place, (uint64_t)place);
    atomic_store(&m->posted, 0);
    atomic_store(&m->process, atomic_load(&mine.place));
    atomic_store_explicit(&m->state, THERE, memory_order_release);
    tell(b);
}

/* ---- posting ---- */

/* A part of the ring that is this thread's alone; BUSY if there is none. It does not lie across the end. */
static uint64_t ring_take(struct board *b, uint64_t bytes)
{
    for (int i = 0; i < TRIES; i++) {
        uint64_t position = atomic_fetch_add(&b->head, bytes);
        if (position % RING_BYTES + bytes <= RING_BYTES && position % ALIGN == 0 && position)
            return position;
    }
    return BUSY;
}

static struct entry *entries_near(struct board *b, struct plm_message_key key)
{
    return &b->entry[key.low % (ENTRIES / NEIGHBOURS) * NEIGHBOURS];
}

/* The one with the oldest message. */
static struct entry *entry_claim(struct board *b, struct plm_message_key key)
{
    struct entry *near = entries_near(b, key);
    for (int tries = 0; tries < TRIES * NEIGHBOURS; tries++) {
        struct entry *oldest = near;
        uint64_t position;
        for (int i = 1; i < NEIGHBOURS; i++)
            if (atomic_load(&near[i].position) < atomic_load(&oldest->position))
                oldest = &near[i];
        position = atomic_load(&oldest->position);
        if (position != BUSY && atomic_compare_exchange_strong(&oldest->position, &position, BUSY))
            return oldest;
    }
    return NULL;
}

void plm_messages_post(const struct plm_message *m, const void *bytes, size_t known, size_t size)
{
    struct board *b = board_get();
    uint64_t position;
    struct member *own;
    struct entry *entry;
    if (!b || size > PLM_MESSAGE_MOST || known > size || !has_joined())
        return;
    position = ring_take(b, ALIGN + (known + ALIGN - 1) / ALIGN * ALIGN);
    if (position == BUSY)
        return;
    memcpy(b->ring + position % RING_BYTES,
           &(struct posted){position, m->key.low, m->key.high, (uint32_t)size, (uint32_t)known}, sizeof(struct posted));
    if (known)
        memcpy(b->ring + position % RING_BYTES + ALIGN, bytes, known);
    entry = entry_claim(b, m->key);
    if (entry) {
        atomic_store(&entry->low, m->key.low);
        atomic_store(&entry->high, m->key.high);
        atomic_store_explicit(&entry->position, position, memory_order_release);
    }
    own = m->number ? member_find(b, m->group, m->place) : NULL;
    if (own)
        atomic_store_explicit(&own->posted, m->number, memory_order_release);
    tell(b);
}

/* ---- looking ---- */

/* Is what was read at this position whole? Whoever takes a part of the ring moves the head before he writes. */
static bool is_whole(struct board *b, uint64_t position)
{
    uint64_t head;
    atomic_thread_fence(memory_order_acquire);
    head = atomic_load(&b->head);
    return head >= position && head - position <= RING_BYTES;
}

static enum plm_message_state message_read(struct board *b, uint64_t position, struct plm_message_key key, void *to,
                                           size_t *known, size_t size)
{
    const uint64_t at = position % RING_BYTES;
    struct posted head;
    if (at + ALIGN > RING_BYTES)
        return PLM_MESSAGE_NONE;
    memcpy(&head, b->ring + at, sizeof head);
    if (head.position != position || head.low != key.low || head.high != key.high)
        return PLM_MESSAGE_NONE;
    if (!head.known || head.known > size || head.bytes != size || at + ALIGN + head.known > RING_BYTES)
        return is_whole(b, position) ? PLM_MESSAGE_UNKNOWN : PLM_MESSAGE_NONE;
    memcpy(to, b->ring + at + ALIGN, head.known);
    *known = head.known;
    return is_whole(b, position) ? PLM_MESSAGE_KNOWN : PLM_MESSAGE_NONE;
}

static enum plm_message_state message_find(struct board *b, struct plm_message_key key, void *to, size_t *known,
                                           size_t size)
{
    struct entry *near = entries_near(b, key);
    for (int i = 0; i < NEIGHBOURS; i++) {
        uint64_t position = atomic_load_explicit(&near[i].position, memory_order_acquire);
        enum plm_message_state state;
        if (!position || position == BUSY || !same(key, &near[i].low, &near[i].high))
            continue;
        state = message_read(b, position, key, to, known, size);
        if (state != PLM_MESSAGE_NONE)
            return state;
    }
    return PLM_MESSAGE_NONE;
}

/* ---- waiting ---- */

enum presence { ABSENT, COMING, PRESENT };

/* Is a rank among "0-7", "1-57/8" or "0,3,5"? */
static bool is_listed(const char *ranks, unsigned long rank)
{
    for (char *end = (char *)(uintptr_t)ranks; *ranks; ranks = end + (*end == ',')) {
        unsigned long first = strtoul(ranks, &end, 10), last = first, step = 1;
        if (end == ranks)
            return false;
        if (*end == '-')
            last = strtoul(end + 1, &end, 10);
        if (*end == '/')
            step = strtoul(end + 1, &end, 10);
        if (rank >= first && rank <= last && step && (rank - first) % step == 0)
            return true;
    }
    return false;
}

/* Where only some ranks of a world are run (PLIMSOLL_WORLD), PLIMSOLL_LIVE names them. */
bool plm_messages_runs(int rank)
{
    const char *live = getenv("PLIMSOLL_LIVE"), *world = getenv("PLIMSOLL_WORLD");
    if (live && *live)
        return rank >= 0 && is_listed(live, (unsigned long)rank);
    return !world || !*world;
}

static enum presence rank_presence(struct board *b, int rank)
{
    for (uint32_t i = 0; i < PROCESSES && rank >= 0; i++) {
        uint32_t place = ((uint32_t)rank + i) % PROCESSES;
        uint64_t job = atomic_load(&b->process[place].job);
        if (!job)
            break;
        if (job == mine.job && atomic_load(&b->process[place].rank) == rank)
            return lives(place) ? PRESENT : ABSENT;
    }
    return plm_messages_runs(rank) && now_ms() - mine.joined_ms < ARRIVE_MS ? COMING : ABSENT;
}

/* Will the message come? Not if its sender posted a later one: it came, and has been overwritten. */
static enum presence presence_of(struct board *b, const struct plm_message *m, int rank)
{
    const struct member *member = member_find(b, m->group, m->place);
    uint32_t process;
    if (!member)
        return rank_presence(b, rank);
    process = atomic_load(&member->process);
    if (m->number && atomic_load_explicit(&member->posted, memory_order_acquire) >= m->number)
        return ABSENT;
    return process < PROCESSES && lives(process) ? PRESENT : ABSENT;
}

static void wait_for_news(struct board *b, uint32_t news)
{
    const struct timespec time = {0, LOOK_MS * 1000000L};
    atomic_fetch_add(&b->waiting, 1);
    futex(&b->news, FUTEX_WAIT, news, &time);
    atomic_fetch_sub(&b->waiting, 1);
}

static bool is_late(uint64_t begun, enum plm_patience patience)
{
    const uint64_t most = patience == PLM_PATIENCE_BARRIER ? BARRIER_MS
                          : atomic_load(&mine.waited)      ? WAIT_MORE
                                                           : WAIT_MS;
    if (now_ms() - begun <= most)
        return false;
    atomic_store(&mine.waited, true);
    return true;
}

void plm_messages_meet(struct plm_message_key group, int place, int rank)
{
    struct board *b = board_get();
    const uint64_t begun = now_ms();
    if (!b || !has_joined())
        return;
    for (;;) {
        const uint32_t news = atomic_load(&b->news);
        if (member_find(b, group, place) || rank_presence(b, rank) == ABSENT || is_late(begun, PLM_PATIENCE_VALUE))
            return;
        wait_for_news(b, news);
    }
}

enum plm_message_state plm_messages_take(const struct plm_message *m, int rank, enum plm_patience patience, void *to,
                                         size_t *known, size_t size)
{
    struct board *b = board_get();
    const uint64_t begun = now_ms();
    *known = 0;
    if (!b || size > PLM_MESSAGE_MOST || !has_joined())
        return PLM_MESSAGE_UNKNOWN;
    for (;;) {
        const uint32_t news = atomic_load(&b->news);
        const enum presence presence = presence_of(b, m, rank);
        enum plm_message_state state = message_find(b, m->key, to, known, size);
        if (state == PLM_MESSAGE_KNOWN)
            atomic_store_explicit(&b->process[atomic_load(&mine.place)].taken, 1, memory_order_relaxed);
        if (state != PLM_MESSAGE_NONE)
            return state;
        if (presence == ABSENT)
            return PLM_MESSAGE_UNKNOWN;
        if (patience == PLM_PATIENCE_NONE)
            return PLM_MESSAGE_NONE;
        if (is_late(begun, patience))
            return PLM_MESSAGE_LATE;
        wait_for_news(b, news);
    }
}

enum plm_message_state plm_messages_recall(const struct plm_message *m, void *to, size_t *known, size_t size)
{
    struct board *b = board_get();
    *known = 0;
    return b && message_find(b, m->key, to, known, size) == PLM_MESSAGE_KNOWN ? PLM_MESSAGE_KNOWN : PLM_MESSAGE_UNKNOWN;
}

bool plm_messages_any(void)
{
    const struct board *b = board_get();
    return b && atomic_load(&b->head);
}

/* ---- the end ---- */

/* What the ranks of this job say. */
struct said {
    bool talks; /* some took a message since its first step */
    bool all; /* have seen enough, of those that live */
    uint32_t step; /* the furthest that one is */
    uint32_t ends; /* the step after which they end; 0: that is open */
};

static struct said job_said(struct board *b)
{
    struct said said = {.all = true};
    for (uint32_t i = 0; i < PROCESSES; i++) {
        struct process *p = &b->process[i];
        uint32_t step, ends;
        if (atomic_load(&p->job) != mine.job)
            continue;
        step = atomic_load(&p->step);
        ends = atomic_load(&p->ends);
        said.talks |= atomic_load(&p->taken) != 0;
        said.all &= atomic_load(&p->enough) != 0 || !lives(i);
        said.step = step > said.step ? step : said.step;
        said.ends = ends && (!said.ends || ends < said.ends) ? ends : said.ends;
    }
    return said;
}

/* Some rank may be a step further than it said when it was asked, and that one must end with the others: so they end after the
   second step from the furthest. Who left has told that before. */
static bool end_together(struct process *own, struct said said, uint32_t step)
{
    if (said.all && !said.ends) {
        atomic_store(&own->ends, said.step + 2);
        said = job_said(mine.board);
    }
    return said.ends && step >= said.ends;
}

bool plm_messages_enough(uint32_t step, bool enough)
{
    struct process *own;
    struct said said;
    if (!mine.board || !has_joined()) /* who never joined has not opened it */
        return enough;
    own = &mine.board->process[atomic_load(&mine.place)];
    atomic_store(&own->step, step);
    if (enough)
        atomic_store(&own->enough, 1);
    if (step <= 1)
        atomic_store(&own->taken, 0);
    said = job_said(mine.board);
    return said.talks ? end_together(own, said, step) : enough;
}
