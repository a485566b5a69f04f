#include "world/store_keys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "world/store.h"

enum { IDENTIFIER = 128 }; /* bytes of one of NCCL's */

/* ---- bytes ---- */

void plm_store_buffer_append(struct plm_store_buffer *b, const void *data, size_t size)
{
    if (!size)
        return;
    if (!b->data || size > b->room - b->size) {
        b->room = 2 * (b->size + size);
        b->data = plm_realloc(b->data, b->room, 1);
    }
    memcpy(b->data + b->size, data, size);
    b->size += size;
}

void plm_store_buffer_set(struct plm_store_buffer *b, struct plm_store_bytes with)
{
    struct plm_store_buffer fresh = {0};
    plm_store_buffer_append(&fresh, with.data, with.size);
    free(b->data);
    *b = fresh;
}

void plm_store_buffer_drop(struct plm_store_buffer *b, size_t size)
{
    b->size -= size;
    if (b->size)
        memmove(b->data, b->data + size, b->size);
}

struct plm_store_bytes plm_store_view(const struct plm_store_buffer *b)
{
    return (struct plm_store_bytes){b->data, b->size};
}

bool plm_store_equal(struct plm_store_bytes a, struct plm_store_bytes b)
{
    return a.size == b.size && (!a.size || !memcmp(a.data, b.data, a.size));
}

static uint64_t bytes_hash(struct plm_store_bytes b)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < b.size; i++)
        hash = (hash ^ b.data[i]) * 0x100000001b3u;
    return hash;
}

/* ---- entries ---- */

struct plm_store_entry *plm_store_find(const struct plm_store_keys *k, struct plm_store_bytes key)
{
    struct plm_store_entry *e = k->slots ? k->slot[bytes_hash(key) % k->slots] : NULL;
    while (e && !plm_store_equal(plm_store_view(&e->key), key))
        e = e->next;
    return e;
}

static void entries_spread(struct plm_store_keys *k)
{
    const size_t slots = k->slots ? 2 * k->slots : 64;
    struct plm_store_entry **slot = plm_calloc(slots, sizeof(struct plm_store_entry *)), *next;
    for (size_t i = 0; i < k->slots; i++)
        for (struct plm_store_entry *e = k->slot[i]; e; e = next) {
            struct plm_store_entry **to = &slot[bytes_hash(plm_store_view(&e->key)) % slots];
            next = e->next;
            e->next = *to;
            *to = e;
        }
    free(k->slot);
    k->slot = slot;
    k->slots = slots;
}

struct plm_store_entry *plm_store_entry(struct plm_store_keys *k, struct plm_store_bytes key)
{
    struct plm_store_entry *e = plm_store_find(k, key), **slot;
    if (e)
        return e;
    if (k->entries >= k->slots)
        entries_spread(k);
    slot = &k->slot[bytes_hash(key) % k->slots];
    e = plm_calloc(1, sizeof *e);
    plm_store_buffer_set(&e->key, key);
    e->next = *slot;
    *slot = e;
    k->entries++;
    return e;
}

static void entry_free(struct plm_store_entry *e)
{
    free(e->key.data);
    free(e->value.data);
    free(e);
}

bool plm_store_delete(struct plm_store_keys *k, struct plm_store_bytes key)
{
    struct plm_store_entry **at = k->slots ? &k->slot[bytes_hash(key) % k->slots] : NULL, *found;
    while (at && *at && !plm_store_equal(plm_store_view(&(*at)->key), key))
        at = &(*at)->next;
    if (!at || !*at)
        return false;
    found = *at;
    *at = found->next;
    entry_free(found);
    k->entries--;
    return true;
}

void plm_store_set(struct plm_store_entry *e, struct plm_store_bytes value)
{
    plm_store_buffer_set(&e->value, value);
    e->made = e->own = e->counter = false;
}

int64_t plm_store_number(const struct plm_store_entry *e)
{
    char text[24] = "";
    const size_t size = e->value.size < sizeof text - 1 ? e->value.size : sizeof text - 1;
    if (size)
        memcpy(text, e->value.data, size);
    return strtoll(text, NULL, 10);
}

/* What a process sent may be any number: sums stay within what there is. */
int64_t plm_store_sum(int64_t a, int64_t b)
{
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? (b > 0 ? INT64_MAX : INT64_MIN) : sum;
}

/* The next multiple, or the number itself if it is one. */
int64_t plm_store_multiple(int64_t value, int64_t to)
{
    return value <= 0 ? 0 : plm_store_sum(value, to - 1) / to * to;
}

void plm_store_count(struct plm_store_entry *e, int64_t value)
{
    char text[24];
    const int size = snprintf(text, sizeof text, "%lld", (long long)value);
    plm_store_set(e, (struct plm_store_bytes){(const uint8_t *)text, (size_t)size});
    e->counter = true;
}

/* ---- queues ---- */

struct plm_store_queue *plm_store_queue(const struct plm_store_keys *k, struct plm_store_bytes key)
{
    struct plm_store_queue *q = k->queue;
    while (q && !plm_store_equal(plm_store_view(&q->key), key))
        q = q->next;
    return q;
}

void plm_store_push(struct plm_store_keys *k, struct plm_store_bytes key, struct plm_store_bytes value)
{
    struct plm_store_queue *q = plm_store_queue(k, key);
    if (!q) {
        q = plm_calloc(1, sizeof *q);
        plm_store_buffer_set(&q->key, key);
        q->next = k->queue;
        k->queue = q;
    }
    q->item = plm_grow(q->item, q->first + q->count, &q->room, sizeof *q->item);
    q->item[q->first + q->count] = (struct plm_store_buffer){0};
    plm_store_buffer_set(&q->item[q->first + q->count++], value);
}

static void queue_free(struct plm_store_queue *q)
{
    for (size_t i = 0; i < q->count; i++)
        free(q->item[q->first + i].data);
    free(q->item);
    free(q->key.data);
    free(q);
}

bool plm_store_has(const struct plm_store_keys *k, struct plm_store_bytes key)
{
    const struct plm_store_queue *q = plm_store_queue(k, key);
    return (q && q->count) || plm_store_find(k, key);
}

/* ---- what is made up ---- */

static bool is_digit(uint8_t c)
{
    return c >= '0' && c <= '9';
}

static char *pattern_of(struct plm_store_bytes key)
{
    char *pattern = plm_calloc(key.size + 1, 1), *out = pattern;
    for (size_t i = 0; i < key.size; i++)
        if (!is_digit(key.data[i]))
            *out++ = key.data[i] >= 0x20 && key.data[i] < 0x7f ? (char)key.data[i] : '?';
        else if (i == 0 || !is_digit(key.data[i - 1]))
            *out++ = '#';
    return pattern;
}

/* Values that say nothing, by a part of the key: what ProcessGroupNCCL makes identifiers of, and ends of barriers. */
static const char *const wordless[] = {"//cuda//", "nccl", "last_member", "last_worker", "init/", "barrier"};

static bool is_wordless(const char *pattern)
{
    for (size_t i = 0; i < sizeof wordless / sizeof wordless[0]; i++)
        if (strstr(pattern, wordless[i]))
            return true;
    return false;
}

static struct plm_store_made *made_of(struct plm_store_keys *k, struct plm_store_bytes key)
{
    char *pattern = pattern_of(key);
    for (size_t i = 0; i < k->patterns; i++)
        if (!strcmp(k->made[i].pattern, pattern)) {
            free(pattern);
            return &k->made[i];
        }
    k->made = plm_grow(k->made, k->patterns, &k->patterns_room, sizeof *k->made);
    k->made[k->patterns] = (struct plm_store_made){.pattern = pattern};
    return &k->made[k->patterns++];
}

/* What a live rank stored under a key of the same pattern. */
static const struct plm_store_entry *twin_find(const struct plm_store_keys *k, const char *pattern)
{
    for (size_t i = 0; i < k->slots; i++)
        for (const struct plm_store_entry *e = k->slot[i]; e; e = e->next) {
            char *other;
            bool same;
            if (e->made || e->counter)
                continue;
            other = pattern_of(plm_store_view(&e->key));
            same = !strcmp(other, pattern);
            free(other);
            if (same)
                return e;
        }
    return NULL;
}

/* Identifiers differ from key to key, as they would. */
static void identifier_make(struct plm_store_bytes key, uint8_t out[IDENTIFIER])
{
    const uint64_t hash = bytes_hash(key);
    for (size_t i = 0; i < IDENTIFIER; i += sizeof hash)
        memcpy(out + i, &hash, sizeof hash);
}

void plm_store_key_make_up(struct plm_store_keys *k, struct plm_store_bytes key)
{
    struct plm_store_made *made = made_of(k, key);
    const bool without_words = is_wordless(made->pattern);
    const struct plm_store_entry *twin = without_words ? NULL : twin_find(k, made->pattern);
    uint8_t value[IDENTIFIER] = {0};
    struct plm_store_entry *e;
    if (without_words)
        identifier_make(key, value);
    e = plm_store_entry(k, key);
    plm_store_set(e, twin ? plm_store_view(&twin->value) : (struct plm_store_bytes){value, sizeof value});
    e->made = true;
    e->own = twin != NULL;
    made->keys++;
}

void plm_store_counter_make_up(struct plm_store_keys *k, struct plm_store_entry *e, int64_t value)
{
    plm_store_count(e, value);
    made_of(k, plm_store_view(&e->key))->keys++;
}

void plm_store_made_read(struct plm_store_keys *k, struct plm_store_bytes key)
{
    struct plm_store_made *made = made_of(k, key);
    made->read |= !is_wordless(made->pattern);
}

void plm_store_keys_free(struct plm_store_keys *k)
{
    struct plm_store_queue *next;
    struct plm_store_entry *after;
    for (size_t i = 0; i < k->slots; i++)
        for (struct plm_store_entry *e = k->slot[i]; e; e = after) {
            after = e->next;
            entry_free(e);
        }
    for (struct plm_store_queue *q = k->queue; q; q = next) {
        next = q->next;
        queue_free(q);
    }
    for (size_t i = 0; i < k->patterns; i++)
        free((char *)k->made[i].pattern);
    free(k->made);
    free(k->slot);
}
