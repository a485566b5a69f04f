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
        b->room = b->size + size > 2 * b->room ? b->size + size : 2 * b->room;
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
    if (b->size) {
        memmove(b->data, b->data + size, b->size);
    } else {
        free(b->data);
        *b = (struct plm_store_buffer){0};
    }
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

bool plm_store_fits(const struct plm_store_keys *k, uint64_t bytes)
{
    return k->held + sizeof(struct plm_store_entry) + bytes <= PLM_STORE_HELD_MOST;
}

static struct plm_store_entry *entry_find(const struct plm_store_table *t, struct plm_store_bytes key)
{
    struct plm_store_entry *e = t->slots ? t->slot[bytes_hash(key) % t->slots] : NULL;
    while (e && !plm_store_equal(plm_store_view(&e->key), key))
        e = e->next;
    return e;
}

static void table_spread(struct plm_store_table *t)
{
    const size_t slots = t->slots ? 2 * t->slots : 64;
    struct plm_store_entry **slot = plm_calloc(slots, sizeof(struct plm_store_entry *)), *next;
    for (size_t i = 0; i < t->slots; i++)
        for (struct plm_store_entry *e = t->slot[i]; e; e = next) {
            struct plm_store_entry **to = &slot[bytes_hash(plm_store_view(&e->key)) % slots];
            next = e->next;
            e->next = *to;
            *to = e;
        }
    free(t->slot);
    t->slot = slot;
    t->slots = slots;
}

static struct plm_store_entry *entry_of(struct plm_store_keys *k, struct plm_store_table *t, struct plm_store_bytes key)
{
    struct plm_store_entry *e = entry_find(t, key), **slot;
    if (e)
        return e;
    if (t->entries >= t->slots)
        table_spread(t);
    slot = &t->slot[bytes_hash(key) % t->slots];
    e = plm_calloc(1, sizeof *e);
    plm_store_buffer_set(&e->key, key);
    e->next = *slot;
    *slot = e;
    t->entries++;
    k->held += sizeof *e + key.size;
    return e;
}

static void entry_free(struct plm_store_keys *k, struct plm_store_entry *e)
{
    k->held -= sizeof *e + e->key.size + e->value.size;
    for (size_t i = 0; i < e->count; i++) {
        k->held -= sizeof *e->item + e->item[e->first + i].size;
        free(e->item[e->first + i].data);
    }
    free(e->item);
    free(e->key.data);
    free(e->value.data);
    free(e);
}

static bool entry_delete(struct plm_store_keys *k, struct plm_store_table *t, struct plm_store_bytes key)
{
    struct plm_store_entry **at = t->slots ? &t->slot[bytes_hash(key) % t->slots] : NULL, *found;
    while (at && *at && !plm_store_equal(plm_store_view(&(*at)->key), key))
        at = &(*at)->next;
    if (!at || !*at)
        return false;
    found = *at;
    *at = found->next;
    entry_free(k, found);
    t->entries--;
    return true;
}

static void table_free(struct plm_store_keys *k, struct plm_store_table *t)
{
    struct plm_store_entry *next;
    for (size_t i = 0; i < t->slots; i++)
        for (struct plm_store_entry *e = t->slot[i]; e; e = next) {
            next = e->next;
            entry_free(k, e);
        }
    free(t->slot);
}

struct plm_store_entry *plm_store_find(const struct plm_store_keys *k, struct plm_store_bytes key)
{
    return entry_find(&k->values, key);
}

struct plm_store_entry *plm_store_entry(struct plm_store_keys *k, struct plm_store_bytes key)
{
    return entry_of(k, &k->values, key);
}

bool plm_store_delete(struct plm_store_keys *k, struct plm_store_bytes key)
{
    return entry_delete(k, &k->values, key);
}

void plm_store_set(struct plm_store_keys *k, struct plm_store_entry *e, struct plm_store_bytes value)
{
    k->held += value.size;
    k->held -= e->value.size;
    plm_store_buffer_set(&e->value, value);
    e->made = e->own = e->counter = false;
}

void plm_store_append(struct plm_store_keys *k, struct plm_store_entry *e, struct plm_store_bytes more)
{
    k->held += more.size;
    plm_store_buffer_append(&e->value, more.data, more.size);
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

void plm_store_count(struct plm_store_keys *k, struct plm_store_entry *e, int64_t value)
{
    char text[24];
    const int size = snprintf(text, sizeof text, "%lld", (long long)value);
    plm_store_set(k, e, (struct plm_store_bytes){(const uint8_t *)text, (size_t)size});
    e->counter = true;
}

/* ---- queues ---- */

struct plm_store_entry *plm_store_queue(const struct plm_store_keys *k, struct plm_store_bytes key)
{
    return entry_find(&k->queues, key);
}

void plm_store_push(struct plm_store_keys *k, struct plm_store_bytes key, struct plm_store_bytes value)
{
    struct plm_store_entry *q = entry_of(k, &k->queues, key);
    if (q->first && q->first >= q->count) { /* a queue that never empties has no end of places, else */
        memmove(q->item, q->item + q->first, q->count * sizeof *q->item);
        q->first = 0;
    }
    q->item = plm_grow(q->item, q->first + q->count, &q->room, sizeof *q->item);
    q->item[q->first + q->count] = (struct plm_store_buffer){0};
    plm_store_buffer_set(&q->item[q->first + q->count++], value);
    k->held += sizeof *q->item + value.size;
}

void plm_store_pop(struct plm_store_keys *k, struct plm_store_entry *q)
{
    struct plm_store_buffer *item = &q->item[q->first];
    k->held -= sizeof *item + item->size;
    free(item->data);
    q->first++;
    q->count--;
    if (!q->count)
        entry_delete(k, &k->queues, plm_store_view(&q->key));
}

bool plm_store_has(const struct plm_store_keys *k, struct plm_store_bytes key)
{
    return plm_store_queue(k, key) || plm_store_find(k, key);
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
    k->held += sizeof *k->made + key.size;
    return &k->made[k->patterns++];
}

/* What a live rank stored under a key of the same pattern. */
static const struct plm_store_entry *twin_find(const struct plm_store_keys *k, const char *pattern)
{
    for (size_t i = 0; i < k->values.slots; i++)
        for (const struct plm_store_entry *e = k->values.slot[i]; e; e = e->next) {
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

bool plm_store_key_make_up(struct plm_store_keys *k, struct plm_store_bytes key)
{
    char *pattern = pattern_of(key);
    const bool without_words = is_wordless(pattern);
    const struct plm_store_entry *twin = without_words ? NULL : twin_find(k, pattern);
    uint8_t zeros[IDENTIFIER] = {0};
    const struct plm_store_bytes value =
        twin ? plm_store_view(&twin->value) : (struct plm_store_bytes){zeros, sizeof zeros};
    struct plm_store_entry *e;
    free(pattern);
    if (!plm_store_fits(k, key.size + value.size))
        return false;
    if (without_words)
        identifier_make(key, zeros);
    e = plm_store_entry(k, key);
    plm_store_set(k, e, value);
    e->made = true;
    e->own = twin != NULL;
    made_of(k, key)->keys++;
    return true;
}

void plm_store_counter_make_up(struct plm_store_keys *k, struct plm_store_entry *e, int64_t value)
{
    plm_store_count(k, e, value);
    made_of(k, plm_store_view(&e->key))->keys++;
}

void plm_store_made_read(struct plm_store_keys *k, struct plm_store_bytes key)
{
    struct plm_store_made *made = made_of(k, key);
    made->read |= !is_wordless(made->pattern);
}

void plm_store_keys_free(struct plm_store_keys *k)
{
    table_free(k, &k->values);
    table_free(k, &k->queues);
    for (size_t i = 0; i < k->patterns; i++)
        free((char *)k->made[i].pattern);
    free(k->made);
}
