#include "record/reader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/error.h"
#include "common/input.h"
#include "base/memory.h"
#include "record/fields.h"

enum {
    THREADS_MOST = 1 << 16,   /* each is looked for among all */
    DEVICES_MOST = 64,        /* of a process; what concerns all of them is kept for each */
};
#define BYTES_MOST     (1ull << 48) /* no memory is larger */
#define ALL_BYTES_MOST (1ull << 62)

/* The chunks that one thread wrote, in file order, which is the order of their times. */
struct strand {
    uint32_t pid, tid, process;
    uint64_t *chunk; /* offsets in the file */
    size_t chunks, room;
    /* reading position */
    size_t at;
    const char *next, *end;
    uint64_t base_ns;
    struct plm_record_event event;
    bool done;
};

struct text {
    uint32_t process, id;
    char *bytes;
};

struct plm_record {
    const char *path;
    int fd; /* while it is opened */
    const char *data;
    uint64_t size;
    bool mapped; /* else the bytes are the caller's */
    struct plm_record_header header;
    int16_t least[PLM_EV_TYPES]; /* words of the payload; -1: this version has no such type */
    struct strand *strand;
    size_t strands, strand_room;
    struct strand **queue; /* while reading: those with an event left, a heap with the earliest on top */
    size_t queued;
    struct text *text; /* sorted by process and id */
    size_t texts, text_room;
};

static int corrupt(const struct plm_record *r, const char *what, struct plm_error *error)
{
    return plm_fail(error, PLM_EFORMAT, "%s is damaged: %s; run the job again", r->path, what);
}

/* NULL: there are too many. */
static struct strand *strand_of(struct plm_record *r, const struct plm_record_chunk *chunk)
{
    struct strand *s;
    for (size_t i = 0; i < r->strands; i++)
        if (r->strand[i].pid == chunk->pid && r->strand[i].tid == chunk->tid && r->strand[i].process == chunk->process)
            return &r->strand[i];
    if (r->strands == THREADS_MOST)
        return NULL;
    r->strand = plm_grow(r->strand, r->strands, &r->strand_room, sizeof *s);
    s = &r->strand[r->strands++];
    memset(s, 0, sizeof *s);
    s->pid = chunk->pid;
    s->tid = chunk->tid;
    s->process = chunk->process;
    s->event.process = chunk->process;
    s->event.tid = chunk->tid;
    s->event.thread = (uint32_t)(r->strands - 1);
    return s;
}

static int add_chunk(struct plm_record *r, uint64_t offset, struct plm_error *error)
{
    const struct plm_record_chunk *chunk = (const void *)(r->data + offset);
    struct strand *s;
    if (!chunk->magic)
        return 0; /* claimed, never begun */
    if (chunk->magic != PLM_RECORD_CHUNK_MAGIC || chunk->used > PLM_RECORD_CHUNK - sizeof *chunk)
        return corrupt(r, "a chunk has an invalid header", error);
    s = strand_of(r, chunk);
    if (!s)
        return corrupt(r, "it has too many threads", error);
    s->chunk = plm_grow(s->chunk, s->chunks, &s->room, sizeof *s->chunk);
    s->chunk[s->chunks++] = offset;
    return 0;
}

/* What was read leaves memory, so that a record much larger than memory can be gone through. */
static void enter_chunk(const struct plm_record *r, struct strand *s)
{
    const struct plm_record_chunk *chunk = (const void *)(r->data + s->chunk[s->at++]);
    s->next = (const char *)(chunk + 1);
    s->end = s->next + chunk->used;
    s->base_ns = chunk->start_ns;
    if (s->at > 1 && r->mapped)
        madvise((void *)(r->data + s->chunk[s->at - 2]), PLM_RECORD_CHUNK, MADV_DONTNEED);
}

static void rewind_strand(struct strand *s)
{
    s->at = 0;
    s->next = s->end = NULL;
    s->done = false;
}

/* Moves to the strand's next event; sets done at its end. */
static int advance(const struct plm_record *r, struct strand *s, struct plm_error *error)
{
    for (;;) {
        struct plm_record_event_head head;
        while (s->next == s->end) {
            if (s->at == s->chunks) {
                s->done = true;
                return 0;
            }
            enter_chunk(r, s);
        }
        if (s->end - s->next < 8)
            return corrupt(r, "an event is truncated", error);
        memcpy(&head, s->next, sizeof head);
        if (!head.words || head.words * 8 > s->end - s->next)
            return corrupt(r, "an event is longer than its chunk", error);
        s->event.words = (const uint64_t *)(s->next + 8);
        s->event.count = head.words - 1u;
        s->next += head.words * 8;
        if (head.type >= PLM_EV_TYPES || r->least[head.type] < 0)
            return corrupt(r, "an event of unknown type", error);
        if ((int)s->event.count < r->least[head.type])
            return corrupt(r, "an event is too short", error);
        if (head.device >= DEVICES_MOST)
            return corrupt(r, "an event names an impossible device", error);
        if (head.type == PLM_EV_TIME) {
            s->base_ns = plm_get_time(&s->event).base_ns;
            continue;
        }
        s->event.type = (enum plm_record_event_type)head.type;
        s->event.device = head.device;
        s->event.time_ns = s->base_ns + head.dt - r->header.monotonic_ns;
        return 0;
    }
}

static int add_text(struct plm_record *r, const struct plm_record_event *e, struct plm_error *error)
{
    const struct plm_ev_text text = plm_get_text(e);
    if (text.length > e->count * 8 - sizeof text)
        return corrupt(r, "a string is longer than its event", error);
    r->text = plm_grow(r->text, r->texts, &r->text_room, sizeof *r->text);
    r->text[r->texts++] =
        (struct text){e->process, text.id, plm_strndup((const char *)e->words + sizeof text, text.length)};
    return 0;
}

static int compare_text(const void *a, const void *b)
{
    const struct text *x = a, *y = b;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

static uint64_t bytes_taken(const struct plm_record_event *e)
{
    switch (e->type) {
    case PLM_EV_BLOCK_ALLOC: return plm_get_block_alloc(e).bytes;
    case PLM_EV_MEMORY_ALLOC: return plm_get_memory_alloc(e).bytes;
    case PLM_EV_RESERVED: return plm_get_reserved(e).bytes;
    default: return 0;
    }
}

/* Checks every event once and gathers the strings. No sum of what is taken is wrong, because all of it together is not
   too much for a number. */
static int read_texts(struct plm_record *r, struct plm_error *error)
{
    uint64_t taken, all = 0;
    for (size_t i = 0; i < r->strands; i++) {
        struct strand *s = &r->strand[i];
        for (rewind_strand(s);;) {
            int status = advance(r, s, error);
            if (status == 0 && !s->done && s->event.type == PLM_EV_TEXT)
                status = add_text(r, &s->event, error);
            if (status < 0)
                return status;
            if (s->done)
                break;
            taken = bytes_taken(&s->event);
            all += s->event.type == PLM_EV_RESERVED ? 0 : taken; /* which is a state */
            if (taken > BYTES_MOST || all > ALL_BYTES_MOST)
                return corrupt(r, "it describes more memory than possible", error);
        }
    }
    if (r->texts)
        qsort(r->text, r->texts, sizeof *r->text, compare_text);
    return 0;
}

static int map_file(struct plm_record *r, struct plm_error *error)
{
    uint64_t size;
    void *map;
    r->fd = plm_input_open(r->path, &size, error);
    if (r->fd < 0)
        return r->fd;
    if (size == 0)
        return plm_fail(error, PLM_EFORMAT, "%s is empty; run the job again", r->path);
    map = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, r->fd, 0);
    if (map == MAP_FAILED)
        return plm_fail(error, PLM_EREAD, "cannot map %s: %s", r->path, strerror(errno));
    r->data = map;
    r->size = size;
    r->mapped = true;
    return 0;
}

static int check_header(struct plm_record *r, struct plm_error *error)
{
    if (r->size < 12 || memcmp(r->data, PLM_RECORD_MAGIC, 8))
        return plm_input_foreign(r->path, r->data, r->size, "a job record", error);
    memcpy(&r->header.version, r->data + 8, 4);
    if (r->header.version > PLM_RECORD_VERSION)
        return plm_fail(error, PLM_EVERSION,
                        "%s was written by a newer plimsoll (record version %u, this one reads %u): update plimsoll",
                        r->path, r->header.version, PLM_RECORD_VERSION);
    if (r->size < sizeof r->header || r->size < PLM_RECORD_HEADER)
        return plm_fail(error, PLM_EFORMAT, "%s is truncated in its header; run the job again", r->path);
    memcpy(&r->header, r->data, sizeof r->header);
    if (!r->header.version || r->header.header_bytes != PLM_RECORD_HEADER || r->header.chunk_bytes != PLM_RECORD_CHUNK)
        return corrupt(r, "its header is invalid", error);
    if ((r->size - PLM_RECORD_HEADER) % PLM_RECORD_CHUNK && !(r->header.flags & PLM_RECORD_FULL))
        return plm_fail(error, PLM_EFORMAT, "%s is truncated; copy it again or run the job again", r->path);
    for (int type = 0; type < PLM_EV_TYPES; type++)
        r->least[type] = (int16_t)plm_record_event_least((enum plm_record_event_type)type, r->header.version);
    return 0;
}

/* Of a file that is mostly a hole only what was written is looked at. */
static int find_chunks(struct plm_record *r, struct plm_error *error)
{
    uint64_t hole = 0;
    int status = 0;
    for (uint64_t at = PLM_RECORD_HEADER; status == 0 && r->size - at >= PLM_RECORD_CHUNK; at += PLM_RECORD_CHUNK) {
        if (r->mapped && at >= hole) {
            const off_t data = lseek(r->fd, (off_t)at, SEEK_DATA);
            if (data < 0 && errno == ENXIO)
                break; /* a hole up to the end */
            if (data >= 0 && (uint64_t)data - at >= PLM_RECORD_CHUNK)
                at += ((uint64_t)data - at) / PLM_RECORD_CHUNK * PLM_RECORD_CHUNK;
            if (r->size - at < PLM_RECORD_CHUNK)
                break;
            hole = data < 0 ? r->size : (uint64_t)lseek(r->fd, data, SEEK_HOLE);
        }
        status = add_chunk(r, at, error);
    }
    return status;
}

/* Checks all of it. `status` is how getting at the bytes went. */
static int record_begin(struct plm_record *r, int status, struct plm_record **out, struct plm_error *error)
{
    if (status == 0)
        status = check_header(r, error);
    if (status == 0)
        status = find_chunks(r, error);
    if (r->fd >= 0)
        close(r->fd);
    if (status == 0)
        status = read_texts(r, error);
    r->queue = plm_calloc(r->strands, sizeof(struct strand *));
    if (status < 0) {
        plm_record_free(r);
        return status;
    }
    *out = r;
    return 0;
}

int plm_record_open(const char *path, struct plm_record **out, struct plm_error *error)
{
    struct plm_record *r = plm_calloc(1, sizeof *r);
    r->path = path;
    return record_begin(r, map_file(r, error), out, error);
}

int plm_record_open_memory(const char *name, const void *data, size_t size, struct plm_record **out,
                           struct plm_error *error)
{
    struct plm_record *r = plm_calloc(1, sizeof *r);
    r->path = name;
    r->fd = -1;
    r->data = data;
    r->size = size;
    return record_begin(r, 0, out, error);
}

void plm_record_free(struct plm_record *r)
{
    for (size_t i = 0; i < r->strands; i++)
        free(r->strand[i].chunk);
    for (size_t i = 0; i < r->texts; i++)
        free(r->text[i].bytes);
    free(r->strand);
    free(r->queue);
    free(r->text);
    if (r->mapped)
        munmap((void *)r->data, r->size);
    free(r);
}

struct plm_record_info plm_record_info(const struct plm_record *r)
{
    uint32_t flags = r->header.flags;
    /* A chunk that was claimed and could not be made is not there either. */
    bool whole = r->header.chunks <= (r->size - PLM_RECORD_HEADER) / PLM_RECORD_CHUNK || flags & PLM_RECORD_FULL;
    uint64_t launches = 0;
    for (int i = 0; i < PLM_RECORD_SLOTS; i++)
        launches += r->header.live[i].launches;
    return (struct plm_record_info){r->header.version, r->header.created_ns, r->header.processes,
                                    (flags & PLM_RECORD_ENDED) && whole, launches};
}

/* The first row that is about it. Error 0 is any, and is named; the last row is for what was not said. */
static const struct {
    enum plm_record_stop what;
    int error;
    const char *why, *help;
} stops[] = {
    {PLM_STOP_EXTEND, ENOSPC, "the disk was full", "choose another place with -o"},
    {PLM_STOP_EXTEND, EDQUOT, "the disk quota was exceeded", "choose another place with -o"},
    {PLM_STOP_EXTEND, EFBIG, "the file size limit was reached", "raise it (`ulimit -f`, RLIMIT_FSIZE)"},
    {PLM_STOP_EXTEND, 0, "the system refused to extend the record", "choose another place with -o"},
    {PLM_STOP_REOPEN, 0, "the job closed plimsoll's descriptor and the record could not be reopened",
     "let the job close only what it opened"},
    {PLM_STOP_MAP, 0, "the record could not be mapped", "raise the job's memory limit (`ulimit -v`)"},
    {0, 0, "the record could not be extended: the disk may have been full", "choose another place with -o"},
};

struct plm_record_missing plm_record_missing(const struct plm_record *r)
{
    const uint32_t what = r->header.stopped >> 16;
    const int error = (int)(r->header.stopped & 0xffff);
    struct plm_record_missing missing = {.help = ""};
    size_t i = 0;
    if (!(r->header.flags & PLM_RECORD_FULL))
        return missing;
    while (stops[i].what && (stops[i].what != what || (stops[i].error && stops[i].error != error)))
        i++;
    if (stops[i].what && !stops[i].error)
        snprintf(missing.why, sizeof missing.why, "%s (%s)", stops[i].why, strerror(error));
    else
        snprintf(missing.why, sizeof missing.why, "%s", stops[i].why);
    missing.help = stops[i].help;
    return missing;
}

/* Of equal times, the thread that entered the record first goes first. */
static bool earlier(const struct strand *a, const struct strand *b)
{
    return a->event.time_ns != b->event.time_ns ? a->event.time_ns < b->event.time_ns
                                                : a->event.thread < b->event.thread;
}

static void sift(struct plm_record *r, size_t at)
{
    struct strand *moving = r->queue[at];
    for (size_t child; (child = 2 * at + 1) < r->queued; at = child) {
        if (child + 1 < r->queued && earlier(r->queue[child + 1], r->queue[child]))
            child++;
        if (!earlier(r->queue[child], moving))
            break;
        r->queue[at] = r->queue[child];
    }
    r->queue[at] = moving;
}

static int fill_queue(struct plm_record *r, struct plm_error *error)
{
    r->queued = 0;
    for (size_t i = 0; i < r->strands; i++) {
        struct strand *s = &r->strand[i];
        int status;
        rewind_strand(s);
        status = advance(r, s, error);
        if (status < 0)
            return status;
        if (!s->done)
            r->queue[r->queued++] = s;
    }
    for (size_t i = r->queued / 2; i-- > 0;)
        sift(r, i);
    return 0;
}

int plm_record_each(struct plm_record *r, plm_record_visit *visit, void *context, struct plm_error *error)
{
    int status = fill_queue(r, error);
    while (status == 0 && r->queued) {
        struct strand *first = r->queue[0];
        status = visit(&first->event, context);
        if (status == 0)
            status = advance(r, first, error);
        if (first->done)
            r->queue[0] = r->queue[--r->queued];
        if (r->queued)
            sift(r, 0);
    }
    return status;
}

size_t plm_record_threads(const struct plm_record *r)
{
    return r->strands;
}

const char *plm_record_string(const struct plm_record *r, uint32_t process, uint32_t id)
{
    struct text wanted = {process, id, NULL}, *found;
    found = r->texts ? bsearch(&wanted, r->text, r->texts, sizeof wanted, compare_text) : NULL;
    return found ? found->bytes : "";
}
