/* The reader of the job record: every event of the table, and files that are not what they should be. */
#include "record_common.h"

/* ---- files that are not what they should be ---- */

struct damage {
    const char *what;
    size_t at;      /* bytes from here on ... */
    uint32_t value; /* ... become this */
    size_t size;    /* of the file; 0 = as it was */
    int code;
    const char *message;
};

enum { CHUNK = PLM_RECORD_HEADER, EVENT = CHUNK + sizeof(struct plm_record_chunk) };

static const struct damage damages[] = {
    {"empty", 0, 0, 1, PLM_EFORMAT, "is not a job record"},
    {"other magic", 0, 0x21212121, 0, PLM_EFORMAT, "is not a job record"},
    {"half a head", 100000, 0, 2000, PLM_EFORMAT, "is truncated in its header"},
    {"newer", 8, 9, 0, PLM_EVERSION, "was written by a newer plimsoll (record version 9, this one reads 6)"},
    {"newer and cut", 8, 7, 12, PLM_EVERSION, "was written by a newer plimsoll"},
    {"version 0", 8, 0, 0, PLM_EFORMAT, "its header is invalid"},
    {"other chunk size", 16, 4096, 0, PLM_EFORMAT, "its header is invalid"},
    {"cut in a chunk", 100000, 0, CHUNK + 5000, PLM_EFORMAT, "is truncated"},
    {"chunk magic", CHUNK, 0x12345678, 0, PLM_EFORMAT, "a chunk has an invalid header"},
    {"chunk overfull", CHUNK + 24, 0x7fffffff, 0, PLM_EFORMAT, "a chunk has an invalid header"},
    {"odd length", CHUNK + 24, 12, 0, PLM_EFORMAT, "an event is"},
    {"event without length", EVENT, 1, 0, PLM_EFORMAT, "an event is longer than its chunk"},
    {"event too long", EVENT, 0xff01, 0, PLM_EFORMAT, "an event is"},
    {"unknown type", EVENT, 0x03c8, 0, PLM_EFORMAT, "an event of unknown type"},
    {"too short", EVENT, 0x0101, 0, PLM_EFORMAT, "an event is too short"},
};

static void damaged(void **state)
{
    size_t size;
    char *whole, path[4096];
    (void)state;
    assert_int_equal(in_child("sound.plm", write_some), 0);
    whole = unit_read(unit_path("sound.plm"), &size);
    snprintf(path, sizeof path, "%s", unit_path("damaged.plm"));
    for (size_t i = 0; i < COUNT(damages); i++) {
        const struct damage *d = &damages[i];
        char *copy = malloc(size);
        struct plm_record *record;
        struct plm_error error = {0};
        memcpy(copy, whole, size);
        if (d->at < size)
            memcpy(copy + d->at, &d->value, sizeof d->value);
        unit_write(path, copy, d->size ? d->size : size);
        if (plm_record_open(path, &record, &error) != d->code)
            fail_msg("%s: code %d, '%s'", d->what, error.code, error.text);
        assert_contains(error.text, "damaged.plm");
        assert_contains(error.text, d->message);
        assert_null(strchr(error.text, '\n'));
        free(copy);
    }
    free(whole);
}

static void no_file(void **state)
{
    struct plm_record *record;
    struct plm_error error;
    (void)state;
    assert_int_equal(plm_record_open(unit_path("absent.plm"), &record, &error), PLM_ENOTFOUND);
    assert_contains(error.text, "cannot read");
    assert_int_equal(plm_record_open(unit_folder(), &record, &error), PLM_EFORMAT);
    assert_contains(error.text, "is a folder, not a file");
    unit_write(unit_path("empty.plm"), "", 0);
    assert_int_equal(plm_record_open(unit_path("empty.plm"), &record, &error), PLM_EFORMAT);
    assert_contains(error.text, "is empty; run the job again");
    assert_int_equal(plm_record_open(unit_path("empty.plm"), &record, NULL), PLM_EFORMAT);
}

/* A copy that lost whole chunks is read, and known to be cut. */
static void lost_chunks(void **state)
{
    struct plm_record *record;
    (void)state;
    assert_int_equal(in_child("lost.plm", write_from_threads), 0);
    assert_int_equal(truncate(unit_path("lost.plm"), PLM_RECORD_HEADER + PLM_RECORD_CHUNK), 0);
    assert_int_equal(plm_record_open(unit_path("lost.plm"), &record, NULL), 0);
    assert_false(plm_record_info(record).ended);
    plm_record_free(record);
}

/* ---- every event of the table ---- */

static void put_header(void *place, unsigned version)
{
    struct plm_record_header *header = place;
    memcpy(header->magic, PLM_RECORD_MAGIC, sizeof header->magic);
    header->version = version;
    header->header_bytes = PLM_RECORD_HEADER;
    header->chunk_bytes = PLM_RECORD_CHUNK;
}

/* Opens a record that holds this event alone, of that device. */
static int open_event_of(unsigned device, unsigned version, int type, unsigned words, const uint64_t *payload,
                         struct plm_error *error)
{
    static struct {
        char header[PLM_RECORD_HEADER], chunk[PLM_RECORD_CHUNK];
    } file;
    const struct plm_record_event_head head = {(uint8_t)type, (uint8_t)(words + 1), (uint16_t)device, 0};
    struct plm_record_chunk *chunk = (void *)file.chunk;
    struct plm_record *record;
    int status;
    memset(&file, 0, sizeof file);
    put_header(file.header, version);
    chunk->magic = PLM_RECORD_CHUNK_MAGIC;
    chunk->used = (words + 1) * 8;
    memcpy(chunk + 1, &head, sizeof head);
    if (payload)
        memcpy((char *)(chunk + 1) + sizeof head, payload, words * 8);
    unit_write(unit_path("event.plm"), &file, sizeof file);
    *error = (struct plm_error){0};
    status = plm_record_open(unit_path("event.plm"), &record, error);
    if (status == 0)
        plm_record_free(record);
    return status;
}

static int open_event(unsigned version, int type, unsigned words, const uint64_t *payload, struct plm_error *error)
{
    return open_event_of(0, version, type, words, payload, error);
}

/* A process has up to 64 cards. */
static void devices(void **state)
{
    const uint64_t block[20] = {0x700000000000, MIB};
    struct plm_error error;
    (void)state;
    assert_int_equal(open_event_of(63, PLM_RECORD_VERSION, PLM_EV_BLOCK_ALLOC, 20, block, &error), 0);
    assert_int_equal(open_event_of(64, PLM_RECORD_VERSION, PLM_EV_BLOCK_ALLOC, 20, block, &error), PLM_EFORMAT);
    assert_contains(error.text, "an impossible device");
}

/* A payload is as long as its version says, or longer; a version has no events of a later one. */
static void least_lengths(void **state)
{
    struct plm_error error;
    (void)state;
    for (unsigned version = 1; version <= PLM_RECORD_VERSION; version++)
        for (int type = 0; type <= PLM_EV_TYPES; type++) {
            const int least =
                type < PLM_EV_TYPES ? plm_record_event_least((enum plm_record_event_type)type, version) : -1;
            if (least < 0) {
                assert_int_equal(open_event(version, type, 20, NULL, &error), PLM_EFORMAT);
                assert_contains(error.text, "an event of unknown type");
                continue;
            }
            assert_int_equal(open_event(version, type, (unsigned)least, NULL, &error), 0);
            assert_int_equal(open_event(version, type, (unsigned)least + 1, NULL, &error), 0);
            if (least == 0)
                continue;
            assert_int_equal(open_event(version, type, (unsigned)least - 1, NULL, &error), PLM_EFORMAT);
            assert_contains(error.text, "an event is too short");
        }
}

/* What the versions had before there was a table. */
static void least_lengths_of_old(void **state)
{
    static const struct {
        enum plm_record_event_type type;
        int one, two;
    } rows[] = {
        {PLM_EV_PROCESS, 2, 2},  {PLM_EV_TEXT, 1, 1},       {PLM_EV_BLOCK_ALLOC, 2, 2},  {PLM_EV_MEMORY_FREE, 3, 3},
        {PLM_EV_READBACK, 2, 2}, {PLM_EV_END, 0, 0},        {PLM_EV_CONTEXT, -1, 3},     {PLM_EV_TAG, -1, 3},
        {PLM_EV_LAUNCH, -1, 5},  {PLM_EV_GEMM, -1, 5},      {PLM_EV_CONVOLUTION, -1, 8}, {PLM_EV_RNN, -1, 8},
        {PLM_EV_COPY, -1, 5},    {PLM_EV_ATTENTION, -1, 7}, {PLM_EV_SYNC, -1, 3},        {PLM_EV_FOOTPRINT, -1, -1},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_int_equal(plm_record_event_least(rows[i].type, 1), rows[i].one);
        assert_int_equal(plm_record_event_least(rows[i].type, 2), rows[i].two);
    }
    assert_int_equal(plm_record_event_least(PLM_EV_RNN, 3), 9);
    assert_int_equal(plm_record_event_least(PLM_EV_OPERANDS, 3), -1);
    assert_int_equal(plm_record_event_least(PLM_EV_OPERANDS, 4), 11);
    assert_int_equal(plm_record_event_least(PLM_EV_PASS, 4), 1);
}

static void lengths_of_strings(void **state)
{
    struct plm_error error;
    (void)state;
    for (uint64_t length = 0; length < 40; length++) {
        const uint64_t payload[3] = {1 | length << 32, 0, 0};
        const int status = open_event(PLM_RECORD_VERSION, PLM_EV_TEXT, 3, payload, &error);
        assert_int_equal(status, length <= 16 ? 0 : PLM_EFORMAT);
        if (status)
            assert_contains(error.text, "a string is longer than its event");
    }
}

/* Two chunks with the same events in each, of `threads` threads; every event has these bytes, at the same time as the others. */
static struct plm_record *open_chunks(enum plm_record_event_type type, uint64_t bytes, unsigned events,
                                      unsigned threads, struct plm_error *error)
{
    enum { WORDS = 3 };
    static union {
        struct {
            char header[PLM_RECORD_HEADER], chunk[2][PLM_RECORD_CHUNK];
        } part;
        uint64_t align;
    } file;
    const struct plm_record_event_head head = {(uint8_t)type, WORDS, 0, 0};
    struct plm_record *record;
    assert_true(sizeof(struct plm_record_chunk) + events * WORDS * 8 <= PLM_RECORD_CHUNK);
    memset(&file, 0, sizeof file);
    put_header(file.part.header, PLM_RECORD_VERSION);
    for (unsigned i = 0; i < 2; i++) {
        struct plm_record_chunk *chunk = (void *)file.part.chunk[i];
        chunk->magic = PLM_RECORD_CHUNK_MAGIC;
        chunk->tid = threads > 1 ? 9 - i : 9; /* ids of threads say nothing of their order */
        chunk->used = events * WORDS * 8;
        for (unsigned k = 0; k < events; k++) {
            const uint64_t payload[WORDS - 1] = {type == PLM_EV_RESERVED ? bytes : i, bytes};
            memcpy((char *)(chunk + 1) + k * WORDS * 8, &head, sizeof head);
            memcpy((char *)(chunk + 1) + k * WORDS * 8 + 8, payload, sizeof payload);
        }
    }
    *error = (struct plm_error){0};
    return plm_record_open_memory("chunks", &file, sizeof file, &record, error) ? NULL : record;
}

/* What is reserved is a state: that it is told often does not make it more. What is taken adds up, and 2^62 bytes are the most. */
static void sums_of_bytes(void **state)
{
    const uint64_t most = 1ull << 48;
    const unsigned half = 1 << 13;
    struct plm_record *record;
    struct plm_error error;
    (void)state;
    record = open_chunks(PLM_EV_RESERVED, most, half + 1, 1, &error);
    assert_non_null(record);
    plm_record_free(record);
    record = open_chunks(PLM_EV_BLOCK_ALLOC, most, half, 1, &error);
    assert_non_null(record);
    plm_record_free(record);
    assert_null(open_chunks(PLM_EV_BLOCK_ALLOC, most, half + 1, 1, &error));
    assert_contains(error.text, "it describes more memory than possible");
    assert_null(open_chunks(PLM_EV_RESERVED, most + 1, 1, 1, &error));
}

static int follow(const struct plm_record_event *e, void *context)
{
    char *order = context;
    order[strlen(order)] = (char)('a' + plm_get_block_alloc(e).address);
    return 0;
}

/* Of equal times, the thread that entered the record first goes first, and each in its own order: a report does not change from
   one reading to the next. */
static void equal_times(void **state)
{
    char order[16] = "";
    struct plm_error error;
    struct plm_record *record = open_chunks(PLM_EV_BLOCK_ALLOC, 1, 3, 2, &error);
    (void)state;
    assert_non_null(record);
    assert_int_equal(plm_record_threads(record), 2);
    assert_int_equal(plm_record_each(record, follow, order, &error), 0);
    assert_string_equal(order, "aaabbb");
    plm_record_free(record);
}

/* Structures are laid out as in the file: the first field in the lowest bits. */
static void layout(void **state)
{
    const struct plm_ev_block_alloc block = {1, 2, 3, 4, true, 5, 6, 0};
    const uint64_t words[5] = {1, 2, 3 | 4ull << 32 | 1ull << 63, 5, 6};
    const struct plm_ev_gemm gemm = {.transpose_a = 1, .transpose_b = 2, .batch_kind = 1, .epilogue = 7};
    const struct plm_record_event short_event = {.words = words, .count = 2};
    struct plm_ev_block_alloc cut;
    uint64_t value;
    (void)state;
    assert_memory_equal(&block, words, sizeof words);
    memcpy(&value, (const char *)&gemm + 32, sizeof value);
    assert_int_equal(value, (1ull | 2 << 2 | 1 << 4) << 40 | 7ull << 48);
    for (const struct plm_field *f = plm_record_event_row(PLM_EV_BLOCK_ALLOC)->field; f->kind; f++) {
        assert_true(plm_field_get(f, words, 5, &value));
        assert_in_range(value, f->kind == PLM_FIELD_HIDDEN ? 0 : 1, 6);
        assert_int_equal(plm_field_get(f, words, 2, &value), f->must);
    }
    cut = plm_get_block_alloc(&short_event);
    assert_int_equal(cut.bytes, 2);
    assert_int_equal(cut.context, 0);
    assert_int_equal(cut.stream, PLM_STREAM_UNKNOWN);
}

/* ---- damage, anywhere in a record that the program made ---- */

static char *golden_three(size_t *size)
{
    char command[9000];
    snprintf(command, sizeof command, "gzip -dc '%s/tests/golden/records/version-3.plm.gz' >'%s'", getenv("PLM_SOURCE"),
             unit_path("golden.plm"));
    assert_int_equal(system(command), 0);
    return unit_read(unit_path("golden.plm"), size);
}

static int ignore(const struct plm_record_event *e, void *context)
{
    (void)e, (void)context;
    return 0;
}

/* Opens what is in the file now; refuses with one sentence, or reads it all. */
static int try_record(const char *path)
{
    struct plm_record *record;
    struct plm_error error = {0};
    int status = plm_record_open(path, &record, &error);
    if (status == 0) {
        assert_int_equal(plm_record_each(record, ignore, NULL, &error), 0);
        plm_record_free(record);
        return 0;
    }
    assert_int_equal(status, PLM_EFORMAT);
    assert_contains(error.text, "harmed.plm");
    assert_null(strchr(error.text, '\n'));
    return status;
}

static int count_event(const struct plm_record_event *e, void *context)
{
    (void)e;
    ++*(int *)context;
    return 0;
}

/* Bytes in memory are read as the file is, and stay what they were: reading twice gives the same. */
static void from_memory(void **state)
{
    struct plm_record *record;
    struct plm_error error = {0};
    size_t size;
    char *file = golden_three(&size), *bytes = aligned_alloc(4096, (size + 4095) / 4096 * 4096);
    int of_file = 0, first = 0, second = 0;
    (void)state;
    assert_non_null(bytes);
    memcpy(bytes, file, size);
    assert_int_equal(plm_record_open(unit_path("golden.plm"), &record, NULL), 0);
    assert_int_equal(plm_record_each(record, count_event, &of_file, NULL), 0);
    plm_record_free(record);
    assert_int_equal(plm_record_open_memory("name", bytes, size, &record, NULL), 0);
    assert_int_equal(plm_record_each(record, count_event, &first, NULL), 0);
    assert_int_equal(plm_record_each(record, count_event, &second, NULL), 0);
    plm_record_free(record);
    assert_true(of_file > 0 && first == of_file && second == of_file);
    assert_memory_equal(bytes, file, size);
    assert_int_equal(plm_record_open_memory("name", bytes, size - 1, &record, &error), PLM_EFORMAT);
    assert_contains(error.text, "name is truncated");
    assert_int_equal(plm_record_open_memory("name", bytes, 0, &record, &error), PLM_EFORMAT);
    free(bytes);
    free(file);
}

/* Every event in turn loses its type, some of them in other ways or their length. */
static void damaged_events(void **state)
{
    static const struct {
        int at, value;
    } harms[] = {{0, 0}, {0, PLM_EV_TYPES}, {0, 255}, {1, 0}};
    size_t size;
    char path[4096], *file = golden_three(&size);
    int events = 0, fd;
    (void)state;
    snprintf(path, sizeof path, "%s", unit_path("harmed.plm"));
    unit_write(path, file, size);
    assert_int_equal(try_record(path), 0);
    fd = open(path, O_RDWR);
    for (size_t at = PLM_RECORD_HEADER; at < size; at += PLM_RECORD_CHUNK) {
        const struct plm_record_chunk *chunk = (void *)(file + at);
        const size_t end = at + sizeof *chunk + chunk->used;
        for (size_t event = at + sizeof *chunk; event < end; event += 8u * (uint8_t)file[event + 1], events++)
            for (size_t i = 0; i < (events % 8 ? 1 : COUNT(harms)); i++) {
                const char harm = (char)harms[i].value;
                const off_t where = (off_t)(event + (size_t)harms[i].at);
                assert_int_equal(pwrite(fd, &harm, 1, where), 1);
                assert_int_equal(try_record(path), PLM_EFORMAT);
                assert_int_equal(pwrite(fd, file + where, 1, where), 1);
            }
    }
    close(fd);
    assert_true(events > 500);
    free(file);
}

/* Any byte may be another: what is still a record is read, the rest refused. */
static void damaged_bytes(void **state)
{
    size_t size;
    char path[4096], *file = golden_three(&size);
    int fd;
    (void)state;
    snprintf(path, sizeof path, "%s", unit_path("harmed.plm"));
    unit_write(path, file, size);
    fd = open(path, O_RDWR);
    for (size_t at = 0; at < size; at += at % PLM_RECORD_CHUNK < PLM_RECORD_HEADER + 4096 ? 31 : 997) {
        const char harm = (char)~file[at];
        if (at >= 8 && at < 12)
            continue; /* another version, which is refused with another sentence */
        assert_int_equal(pwrite(fd, &harm, 1, (off_t)at), 1);
        try_record(path);
        assert_int_equal(pwrite(fd, file + at, 1, (off_t)at), 1);
    }
    close(fd);
    free(file);
}

/* Cut anywhere but between chunks. */
static void cut(void **state)
{
    size_t size;
    char path[4096], *file = golden_three(&size);
    (void)state;
    snprintf(path, sizeof path, "%s", unit_path("harmed.plm"));
    unit_write(path, file, size);
    for (size_t left = size; left-- > 1;) {
        if (left % 4099 && left % 4096 && left > 100)
            continue;
        assert_int_equal(truncate(path, (off_t)left), 0);
        assert_int_equal(try_record(path),
                         left >= PLM_RECORD_HEADER && (left - PLM_RECORD_HEADER) % PLM_RECORD_CHUNK == 0 ? 0
                                                                                                         : PLM_EFORMAT);
    }
    free(file);
}

/* ---- what was text before version 3 ---- */

struct heard {
    struct plm_record *record;
    struct plm_told told[16];
    int count;
};

static int hear(const struct plm_record_event *e, void *context)
{
    struct heard *h = context;
    assert_true(h->count < 16);
    h->count += plm_record_told(h->record, e, &h->told[h->count]);
    return 0;
}

static struct heard heard_in(const char *name)
{
    struct heard h = {0};
    assert_int_equal(plm_record_open(unit_path(name), &h.record, NULL), 0);
    assert_int_equal(plm_record_each(h.record, hear, &h, NULL), 0);
    plm_record_free(h.record);
    return h;
}

static void write_texts_of_two(void)
{
    plm_record_config("context[3]",
                      "sms=108 threads=2048 loading=eager code=7 kernels=2 guessed=5 stack=1024 printf=11 heap=12 "
                      "graphs=13 later=14 libraries=cufft,unheard,cublas sms");
    plm_record_config("range[1]", "nccl 19285606 1543503872");
    plm_record_config("context", "300 200 400 stack file a, measured");
    plm_record_config("stack-usable", "5 6");
    plm_record_config("stack-after_nccl", "7 8");
    plm_record_config("other-end[2,1]", "9 10");
    plm_record_config("context[0]", "sms=99999999999999999999 code=99999999999999999999");
    /* These are nothing of the kind. */
    plm_record_config("context[0", "sms=1");
    plm_record_config("context[]", "sms=1");
    plm_record_config("context[70000]", "sms=1");
    plm_record_config("contexts", "1 2 3");
    plm_record_config("range[0]", " 1 2");
    plm_record_config("range[0]", "a-name-of-a-library-that-is-too-long 1 2");
    plm_record_config("stack-torch", "2.15");
    plm_record_config("other-end", "failed");
    plm_record_config("other-end[1]", "1 2");
}

static void texts_of_old(void **state)
{
    const uint32_t two = 2;
    struct heard h;
    int fd;
    (void)state;
    assert_int_equal(in_child("two.plm", write_texts_of_two), 0);
    assert_int_equal(heard_in("two.plm").count, 0); /* since version 3 a CONFIG is a CONFIG */
    fd = open(unit_path("two.plm"), O_RDWR);
    assert_int_equal(pwrite(fd, &two, sizeof two, offsetof(struct plm_record_header, version)), sizeof two);
    close(fd);
    h = heard_in("two.plm");
    assert_int_equal(h.count, 7);
    assert_int_equal(h.told[0].type, PLM_EV_FOOTPRINT);
    assert_int_equal(h.told[0].device, 3);
    assert_memory_equal(&h.told[0].footprint,
                        &((struct plm_ev_footprint){108, 2048, 7, 2, 5, 1024, 11, 12, 13,
                                                    1u << PLM_LIBRARY_CUFFT | 1u << PLM_LIBRARY_CUBLAS, true, 0, 0}),
                        sizeof h.told[0].footprint);
    assert_int_equal(h.told[1].device, 1);
    assert_string_equal(h.told[1].text, "nccl");
    assert_int_equal(h.told[1].range.high, 1543503872);
    assert_int_equal(h.told[2].type, PLM_EV_CONTEXT_MEMORY);
    assert_int_equal(h.told[2].context.bytes * h.told[2].context.low + h.told[2].context.high, 300 * 200 + 400);
    assert_string_equal(h.told[2].text, "stack file a, measured");
    assert_int_equal(h.told[3].stack.figure, PLM_STACK_USABLE);
    assert_int_equal(h.told[3].stack.low, 5);
    assert_int_equal(h.told[4].stack.figure, PLM_STACK_AFTER_NCCL);
    assert_int_equal(h.told[5].other_end.rank, 2);
    assert_int_equal(h.told[5].device, 1);
    assert_int_equal(h.told[5].other_end.reserved, 10);
    assert_int_equal(h.told[6].footprint.sms, UINT32_MAX);
    assert_int_equal(h.told[6].footprint.code, UINT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices),
        cmocka_unit_test(least_lengths),
        cmocka_unit_test(least_lengths_of_old),
        cmocka_unit_test(lengths_of_strings),
        cmocka_unit_test(sums_of_bytes),
        cmocka_unit_test(equal_times),
        cmocka_unit_test(layout),
        cmocka_unit_test(from_memory),
        cmocka_unit_test(damaged_events),
        cmocka_unit_test(damaged_bytes),
        cmocka_unit_test(cut),
        cmocka_unit_test(texts_of_old),
        cmocka_unit_test(damaged),
        cmocka_unit_test(no_file),
        cmocka_unit_test(lost_chunks),
    };
    return RUN(tests);
}
