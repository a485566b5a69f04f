/*
 * What a store (store.h) holds: keys with their values, counters and queues, and which of them were made up for a rank that
 * does not run. No connections and no waiting here.
 *
 * Everything belongs to the table; bytes that are given are copied, and a view is valid until its buffer changes. One thread
 * at a time. `held` is what all of it takes: who stores asks plm_store_fits() first, and refuses what does not. Nothing else
 * fails; sizes were checked by who read them.
 */
#ifndef PLM_WORLD_STORE_KEYS_H
#define PLM_WORLD_STORE_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct plm_store_made;

struct plm_store_bytes {
    const uint8_t *data;
    size_t size;
};

struct plm_store_buffer {
    uint8_t *data;
    size_t size, room;
};

/* Of a key, or of a queue, which may have the same name. */
struct plm_store_entry {
    struct plm_store_entry *next; /* of the same slot */
    struct plm_store_buffer key, value;
    bool counter, made, own; /* made up; like what a live rank stored */
    int64_t polled;          /* a counter: when it was last read */
    unsigned polls;
    struct plm_store_buffer *item; /* a queue: `count` from `first` on */
    size_t first, count, room;
};

struct plm_store_table {
    struct plm_store_entry **slot;
    size_t slots, entries;
};

struct plm_store_keys {
    unsigned world; /* ranks: what a counter of all is a multiple of */
    uint64_t held; /* bytes */
    struct plm_store_table values, queues;
    struct plm_store_made *made; /* what was made up, by pattern */
    size_t patterns, patterns_room;
};

void plm_store_keys_free(struct plm_store_keys *keys);

void plm_store_buffer_append(struct plm_store_buffer *buffer, const void *data, size_t size);
void plm_store_buffer_set(struct plm_store_buffer *buffer, struct plm_store_bytes with);
void plm_store_buffer_drop(struct plm_store_buffer *buffer, size_t size); /* the first ones */
struct plm_store_bytes plm_store_view(const struct plm_store_buffer *buffer);
bool plm_store_equal(struct plm_store_bytes a, struct plm_store_bytes b);

/* Whether one more key or thing in a queue, with so many bytes in all, is within what may be held. */
#define PLM_STORE_HELD_MOST (512ull << 20)
bool plm_store_fits(const struct plm_store_keys *keys, uint64_t bytes);

/* The entry of a key, or NULL; the same, made if there is none. */
struct plm_store_entry *plm_store_find(const struct plm_store_keys *keys, struct plm_store_bytes key);
struct plm_store_entry *plm_store_entry(struct plm_store_keys *keys, struct plm_store_bytes key);
bool plm_store_delete(struct plm_store_keys *keys, struct plm_store_bytes key);
void plm_store_set(struct plm_store_keys *keys, struct plm_store_entry *entry, struct plm_store_bytes value);
void plm_store_append(struct plm_store_keys *keys, struct plm_store_entry *entry, struct plm_store_bytes more);

/* The value as a number, and a number as the value of a counter. Sums stay within what there is, as a process may send any. */
int64_t plm_store_number(const struct plm_store_entry *entry);
void plm_store_count(struct plm_store_keys *keys, struct plm_store_entry *entry, int64_t value);
int64_t plm_store_sum(int64_t a, int64_t b);
int64_t plm_store_multiple(int64_t value, int64_t of); /* the next one, or the number itself if it is one */

/* A queue that has something in it, or NULL; its first thing goes. */
struct plm_store_entry *plm_store_queue(const struct plm_store_keys *keys, struct plm_store_bytes key);
void plm_store_push(struct plm_store_keys *keys, struct plm_store_bytes key, struct plm_store_bytes value);
void plm_store_pop(struct plm_store_keys *keys, struct plm_store_entry *queue);

/* Whether there is a value of this key, or something in its queue. */
bool plm_store_has(const struct plm_store_keys *keys, struct plm_store_bytes key);

/* What an absent rank would have stored, false if it does not fit; that a counter has become this because of absent ranks;
   that it was read as data. */
bool plm_store_key_make_up(struct plm_store_keys *keys, struct plm_store_bytes key);
void plm_store_counter_make_up(struct plm_store_keys *keys, struct plm_store_entry *entry, int64_t value);
void plm_store_made_read(struct plm_store_keys *keys, struct plm_store_bytes key);

#endif
