#include "stack/stack_file.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "common/ini.h"
#include "record/fields.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define SIZE_MOST    (1ull << 50) /* no card has a petabyte: a size above that is a mistake */

static const char *const made_names[] = {"", "written", "measured"};

const char *plm_stack_made_name(enum plm_stack_made made)
{
    return made_names[made];
}

struct reading {
    struct plm_stack_file *stack;
    uint64_t seen; /* bits of the keys that were given: texts, then numbers, then memory */
};

static int pair_wrong(const struct plm_ini_pair *pair, struct plm_error *error, const char *what)
{
    return plm_fail(error, PLM_EFORMAT, "%s:%d: %s = %s: %s", pair->path, pair->line, pair->key, pair->value, what);
}

/* ---- [stack] ---- */

enum { NUMBERS = 32, MEMORY = 40 }; /* where their bits of `seen` begin */

static const struct {
    const char *key;
    size_t offset, size;
} texts[] = {
#define TEXT(member) {#member, offsetof(struct plm_stack_file, member), sizeof(((struct plm_stack_file *)0)->member)}
    TEXT(name),  TEXT(date),   TEXT(source), TEXT(torch), TEXT(cuda),
    TEXT(cudnn), TEXT(driver), TEXT(cublas), TEXT(nccl),  TEXT(gpu),
#undef TEXT
};

static int read_made(const struct plm_ini_pair *pair, struct plm_stack_file *s, struct plm_error *error)
{
    for (size_t i = 1; i < COUNT(made_names); i++)
        if (!strcmp(pair->value, made_names[i])) {
            s->made = (enum plm_stack_made)i;
            return 0;
        }
    return pair_wrong(pair, error, "use 'measured' or 'written'");
}

static int read_capability(const struct plm_ini_pair *pair, struct plm_stack_file *s, struct plm_error *error)
{
    int end = 0;
    if (sscanf(pair->value, "%2d.%1d%n", &s->major, &s->minor, &end) != 2 || pair->value[end] || s->major < 1 ||
        s->minor < 0)
        return pair_wrong(pair, error, "write a compute capability as 8.6");
    return 0;
}

static int read_sms(const struct plm_ini_pair *pair, struct plm_stack_file *s, struct plm_error *error)
{
    int end = 0;
    if (sscanf(pair->value, "%5d%n", &s->sms, &end) != 1 || pair->value[end] || s->sms < 1)
        return pair_wrong(pair, error, "use a number of SMs");
    return 0;
}

static const struct {
    const char *key;
    int (*read)(const struct plm_ini_pair *, struct plm_stack_file *, struct plm_error *);
} others[] = {{"made", read_made}, {"compute_capability", read_capability}, {"sms", read_sms}};

static int pair_once(struct reading *r, size_t bit, const struct plm_ini_pair *pair, struct plm_error *error)
{
    if (r->seen >> bit & 1)
        return plm_fail(error, PLM_EFORMAT, "%s:%d: %s is given twice", pair->path, pair->line, pair->key);
    r->seen |= 1ull << bit;
    return 0;
}

static int read_identity(struct reading *r, const struct plm_ini_pair *pair, struct plm_error *error)
{
    for (size_t i = 0; i < COUNT(texts); i++)
        if (!strcmp(pair->key, texts[i].key)) {
            if (strlen(pair->value) >= texts[i].size)
                return plm_fail(error, PLM_EFORMAT, "%s:%d: %s is longer than %zu bytes", pair->path, pair->line,
                                pair->key, texts[i].size - 1);
            strcpy((char *)r->stack + texts[i].offset, pair->value);
            return pair_once(r, i, pair, error);
        }
    for (size_t i = 0; i < COUNT(others); i++)
        if (!strcmp(pair->key, others[i].key))
            return others[i].read(pair, r->stack, error) < 0 ? PLM_EFORMAT : pair_once(r, NUMBERS + i, pair, error);
    return plm_fail(error, PLM_EFORMAT, "%s:%d: unknown key %s in [stack]", pair->path, pair->line, pair->key);
}

/* ---- sizes ---- */

/* A number of bytes; advances. Digits only: a sign or a fraction is a mistake. */
static bool read_size(const char **at, uint64_t *out)
{
    char *end;
    *at += strspn(*at, " \t");
    if (**at < '0' || **at > '9')
        return false;
    errno = 0;
    *out = strtoull(*at, &end, 10);
    *at = end + strspn(end, " \t");
    return !errno && *out <= SIZE_MOST;
}

static int read_memory(struct reading *r, const struct plm_ini_pair *pair, struct plm_error *error)
{
    for (size_t i = 0; i < PLM_STACK_MEMORIES; i++) {
        struct plm_stack_range *range = &r->stack->memory[i];
        const char *at = pair->value;
        bool good;
        if (strcmp(pair->key, plm_value_stack_memory((unsigned)i)))
            continue;
        good = read_size(&at, &range->low);
        range->high = range->low;
        if (good && !strncmp(at, "to", 2)) {
            at += 2;
            good = read_size(&at, &range->high);
        }
        if (!good || *at || range->high < range->low)
            return pair_wrong(pair, error, "use a number of bytes, or a range such as '100 to 200'");
        range->known = true;
        return pair_once(r, MEMORY + i, pair, error);
    }
    return plm_fail(error, PLM_EFORMAT, "%s:%d: unknown key %s in [memory]", pair->path, pair->line, pair->key);
}

/* ---- rows ---- */

/* A table and an array of its own: this is in the user's process too, where memory may be refused (base/memory.h), and a key has
   several words. */
static uint64_t row_hash(const struct plm_stack_row_key *key)
{
    uint64_t h = 0x9e3779b97f4a7c15ull;
    for (int i = 0; i < PLM_ROW_WORDS; i++) {
        h = (h ^ key->word[i]) * 0xff51afd7ed558ccdull;
        h ^= h >> 32;
    }
    return h;
}

/* The slot of the key: its row, or the free one where it would be. There is always a free one. */
static struct plm_stack_row *row_slot(struct plm_stack_row *row, size_t slots, const struct plm_stack_row_key *key)
{
    size_t at = row_hash(key) & (slots - 1);
    while (row[at].count && memcmp(&row[at].key, key, sizeof *key) != 0)
        at = (at + 1) & (slots - 1);
    return &row[at];
}

static int rows_make_room(struct plm_stack_file *s)
{
    size_t slots = s->slots ? 2 * s->slots : 64;
    struct plm_stack_row *row;
    if (2 * (s->rows + 1) <= s->slots)
        return 0;
    row = calloc(slots, sizeof *row);
    if (!row)
        return PLM_ENOMEM;
    for (size_t i = 0; i < s->slots; i++)
        if (s->row[i].count)
            *row_slot(row, slots, &s->row[i].key) = s->row[i];
    free(s->row);
    s->row = row;
    s->slots = slots;
    return 0;
}

static int size_add(struct plm_stack_file *s, uint64_t bytes)
{
    if (s->sizes == s->size_room) {
        size_t room = s->size_room ? 2 * s->size_room : 256;
        uint64_t *more = realloc(s->size, room * sizeof *more);
        if (!more)
            return PLM_ENOMEM;
        s->size = more;
        s->size_room = room;
    }
    s->size[s->sizes++] = bytes;
    return 0;
}

/* "8519680, 134217728*, 0"; the number of sizes, 0 if it is not such a list, or PLM_ENOMEM. */
static int read_sizes(struct plm_stack_file *s, const char *at, int most, bool stars, int16_t *fastest)
{
    int n = 0;
    uint64_t bytes;
    *fastest = -1;
    do {
        if (n == most || !read_size(&at, &bytes))
            return 0;
        if (size_add(s, bytes))
            return PLM_ENOMEM;
        if (*at == '*') {
            if (!stars || *fastest >= 0)
                return 0;
            *fastest = (int16_t)n;
            at += 1 + strspn(at + 1, " \t");
        }
        n++;
    } while (*at++ == ',');
    return at[-1] ? 0 : n;
}

static bool conv_key(const char *text, struct plm_stack_row_key *key)
{
    struct plm_conv_shape shape;
    bool good = plm_conv_parse(text, &shape);
    *key = plm_conv_key(&shape);
    return good;
}

static bool rnn_key(const char *text, struct plm_stack_row_key *key)
{
    struct plm_rnn_shape shape;
    bool good = plm_rnn_parse(text, &shape);
    *key = plm_rnn_key(&shape);
    return good;
}

static bool fft_key(const char *text, struct plm_stack_row_key *key)
{
    struct plm_fft_shape shape;
    bool good = plm_fft_parse(text, &shape);
    *key = plm_fft_key(&shape);
    return good;
}

static const struct section {
    const char *name, *example, *values;
    bool (*key)(const char *, struct plm_stack_row_key *);
    size_t counter; /* offset of the number of rows */
    int least, most;
    bool stars;
} sections[] = {
    {"convolution", "forward 8x3x224x224 64x3x7x7 stride 2x2 pad 3x3 dilation 1x1 groups 1 fp32 tf32 nchw",
     "bytes of up to 16 plans, separated by commas, the fastest with a star", conv_key,
     offsetof(struct plm_stack_file, convolutions), 1, PLM_STACK_PLANS, true},
    {"rnn", "lstm layers 1 directions 1 input 64 hidden 128 output 128 steps 20 batch 8 fp32 training",
     "bytes of work and of reserve space, separated by a comma", rnn_key, offsetof(struct plm_stack_file, rnns), 2, 2,
     false},
    {"fft", "c2c 1024 batch 8 fp32", "bytes of work space", fft_key, offsetof(struct plm_stack_file, ffts), 1, 1,
     false},
};

static int read_row(struct plm_stack_file *s, const struct section *section, const struct plm_ini_pair *pair,
                    struct plm_error *error)
{
    struct plm_stack_row new = {.first = (uint32_t)s->sizes}, *row;
    int n;
    if (!section->key(pair->key, &new.key))
        return plm_fail(error, PLM_EFORMAT, "%s:%d: '%s' is not a row of [%s]; write it as '%s'", pair->path,
                        pair->line, pair->key, section->name, section->example);
    n = read_sizes(s, pair->value, section->most, section->stars, &new.fastest);
    if (n < 0 || rows_make_room(s))
        return plm_fail(error, PLM_ENOMEM, "%s: out of memory", pair->path);
    if (n < section->least)
        return plm_fail(error, PLM_EFORMAT, "%s:%d: '%s' is not a value of [%s]: %s", pair->path, pair->line,
                        pair->value, section->name, section->values);
    row = row_slot(s->row, s->slots, &new.key);
    if (row->count)
        return plm_fail(error, PLM_EFORMAT, "%s:%d: '%s' is given twice", pair->path, pair->line, pair->key);
    new.count = (int16_t)n;
    *row = new;
    s->rows++;
    ++*(int *)((char *)s + section->counter);
    return 0;
}

static int pair_visit(const struct plm_ini_pair *pair, void *context, struct plm_error *error)
{
    struct reading *r = context;
    if (!strcmp(pair->section, "stack"))
        return read_identity(r, pair, error);
    if (!strcmp(pair->section, "memory"))
        return read_memory(r, pair, error);
    for (size_t i = 0; i < COUNT(sections); i++)
        if (!strcmp(pair->section, sections[i].name))
            return read_row(r->stack, &sections[i], pair, error);
    return plm_fail(error, PLM_EFORMAT, "%s:%d: unknown section [%s]", pair->path, pair->line, pair->section);
}

/* ---- the file ---- */

static void id_from_path(char *id, size_t size, const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t n = strlen(name);
    if (n > 4 && !strcmp(name + n - 4, ".ini"))
        n -= 4;
    snprintf(id, size, "%.*s", (int)n, name);
}

static int stack_check(const struct plm_stack_file *s, const char *path, struct plm_error *error)
{
    if (!s->name[0] || !s->made)
        return plm_fail(error, PLM_EFORMAT, "%s: %s is missing in [stack]", path, s->name[0] ? "made" : "name");
    if (s->made == PLM_STACK_WRITTEN && !s->source[0])
        return plm_fail(error, PLM_EFORMAT, "%s: a stack with made = written needs a source in [stack]", path);
    return 0;
}

int plm_stack_file_read(const char *path, struct plm_stack_file **out, struct plm_error *error)
{
    struct reading r = {.stack = calloc(1, sizeof *r.stack)};
    int status;
    if (!r.stack)
        return plm_fail(error, PLM_ENOMEM, "%s: out of memory", path);
    id_from_path(r.stack->id, sizeof r.stack->id, path);
    status = plm_ini_read(path, pair_visit, &r, error);
    if (status == 0)
        status = stack_check(r.stack, path, error);
    if (status < 0)
        plm_stack_file_free(r.stack);
    else
        *out = r.stack;
    return status < 0 ? status : 0;
}

void plm_stack_file_free(struct plm_stack_file *s)
{
    if (!s)
        return;
    free(s->row);
    free(s->size);
    free(s);
}

struct plm_stack_sizes plm_stack_file_find(const struct plm_stack_file *s, const struct plm_stack_row_key *key)
{
    const struct plm_stack_row *row = s && s->slots ? row_slot(s->row, s->slots, key) : NULL;
    if (!row || !row->count)
        return (struct plm_stack_sizes){NULL, 0, -1};
    return (struct plm_stack_sizes){s->size + row->first, row->count, row->fastest};
}

/* ---- the stack file of this job ---- */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct plm_stack_file *stack;

static void load(void)
{
    const char *path = getenv("PLIMSOLL_STACK");
    if (path && *path && plm_stack_file_read(path, &stack, NULL) < 0)
        stack = NULL;
}

const struct plm_stack_file *plm_stack_in_use(void)
{
    pthread_once(&once, load);
    return stack;
}
