#include "world/store.h"

#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "base/memory.h"
#include "world/store_keys.h"

/* As PyTorch's own server has them. */
enum { KEY_MOST = 8 << 10, KEYS_MOST = 128 << 10, VALUE_MOST = 8 << 20 };
/* Of a request that is not whole, of answers that were not taken, and of a value that is appended to. */
enum { PENDING_MOST = 64 << 20 };
enum { MAGIC = 0x3C85F7CE };
enum { READY = 0, NOT_READY = 1, STOP_WAITING = 0, WAIT_CANCELED = 1 };
/* So often a counter is read without a change before it counts as waited for; the second, where others are alive. */
enum { POLLS_ALONE = 1, POLLS_AMONG = 50 };

struct plm_store_client {
    struct plm_store_client *next;
    struct plm_store *store;
    int process;
    bool valid; /* it has sent the magic number */
    bool refused;
    struct plm_store_buffer in, out;
    size_t
        sent; /* of `out`: what is dropped once it is half of it, so that a long answer is not moved for each piece */
    struct plm_store_buffer *key; /* that it waits for */
    size_t keys;
    int64_t need; /* a barrier: the count that ends it, of its one key; 0: it waits for keys to be there */
};

struct plm_store {
    unsigned live;
    struct plm_store_keys keys; /* `held` is also what came in and goes out, and keys that are waited for */
    struct plm_store_client *client;
    unsigned refused;
};

/* ---- limits ---- */

static void client_refuse(struct plm_store_client *c)
{
    c->store->refused += !c->refused;
    c->refused = true;
}

/* Whether so much more may be held because of this client. It is refused else, before anything is built. */
static bool client_may(struct plm_store_client *c, uint64_t bytes)
{
    if (!c->refused && !plm_store_fits(&c->store->keys, bytes))
        client_refuse(c);
    return !c->refused;
}

static bool buffer_take(struct plm_store_client *c, struct plm_store_buffer *buffer, size_t there, const void *data,
                        size_t size)
{
    if (there + size > PENDING_MOST)
        client_refuse(c);
    if (!client_may(c, size))
        return false;
    plm_store_buffer_append(buffer, data, size);
    c->store->keys.held += size;
    return true;
}

/* ---- waiting ---- */

static void answer(struct plm_store_client *c, const void *data, size_t size)
{
    buffer_take(c, &c->out, c->out.size - c->sent, data, size);
}

static void answer_byte(struct plm_store_client *c, uint8_t byte)
{
    answer(c, &byte, 1);
}

static void answer_number(struct plm_store_client *c, int64_t number)
{
    answer(c, &number, sizeof number);
}

static void answer_bytes(struct plm_store_client *c, struct plm_store_bytes b)
{
    answer_number(c, (int64_t)b.size);
    answer(c, b.data, b.size);
}

static bool wait_is_over(const struct plm_store *s, const struct plm_store_client *c)
{
    const struct plm_store_entry *e = c->need ? plm_store_find(&s->keys, plm_store_view(&c->key[0])) : NULL;
    if (c->need)
        return e && plm_store_number(e) >= c->need;
    for (size_t i = 0; i < c->keys; i++)
        if (!plm_store_has(&s->keys, plm_store_view(&c->key[i])))
            return false;
    return true;
}

static void wait_forget(struct plm_store_client *c)
{
    for (size_t i = 0; i < c->keys; i++) {
        c->store->keys.held -= sizeof *c->key + c->key[i].size;
        free(c->key[i].data);
    }
    free(c->key);
    c->key = NULL;
    c->keys = 0;
    c->need = 0;
}

static bool wait_end(const struct plm_store *s, struct plm_store_client *c)
{
    if (!c->key || !wait_is_over(s, c))
        return false;
    wait_forget(c);
    answer_byte(c, STOP_WAITING);
    return true;
}

static void waits_look(struct plm_store *s)
{
    for (struct plm_store_client *c = s->client; c; c = c->next)
        wait_end(s, c);
}

static void wait_begin(struct plm_store *s, struct plm_store_client *c, const struct plm_store_bytes *key, size_t keys,
                       int64_t need)
{
    uint64_t bytes = 0;
    wait_forget(c);
    for (size_t i = 0; i < keys; i++)
        bytes += sizeof *c->key + key[i].size;
    if (!client_may(c, bytes))
        return;
    s->keys.held += bytes;
    c->key = plm_calloc(keys, sizeof *c->key);
    for (size_t i = 0; i < keys; i++)
        plm_store_buffer_set(&c->key[i], key[i]);
    c->keys = keys;
    c->need = need;
    wait_end(s, c);
}

/* ---- requests ---- */

struct request {
    struct plm_store_bytes *part; /* keys and values as they came */
    size_t parts, room;
    int64_t number;
};

typedef void handle(struct plm_store *s, struct plm_store_client *c, const struct request *r);

static void on_set(struct plm_store *s, struct plm_store_client *c, const struct request *r)
{
    for (size_t i = 0; i + 1 < r->parts && client_may(c, r->part[i].size + r->part[i + 1].size); i += 2)
        plm_store_set(&s->keys, plm_store_entry(&s->keys, r->part[i]), r->part[i + 1]);
    waits_look(s);
}

static void on_append(struct plm_store *s, struct plm_store_client *c, const struct request *r)
{
    const struct plm_store_entry *e = plm_store_find(&s->keys, r->part[0]);
    if (e && e->value.size + r->part[1].size > PENDING_MOST)
        client_refuse(c);
    if (client_may(c, r->part[0].size + r->part[1].size))
        plm_store_append(&s->keys, plm_store_entry(&s->keys, r->part[0]), r->part[1]);
    waits_look(s);
}

static void on_compare_set(struct plm_store *s, struct plm_store_client *c, const struct request *r)
{
    struct plm_store_entry *e = plm_store_find(&s->keys, r->part[0]);
    if (!e && r->part[1].size) { /* PyTorch's server says so too */
        answer_bytes(c, r->part[1]);
        return;
    }
    if (!e || plm_store_equal(plm_store_view(&e->value), r->part[1])) {
        if (!client_may(c, r->part[0].size + r->part[2].size))
            return;
        e = plm_store_entry(&s->keys, r->part[0]);
        plm_store_set(&s->keys, e, r->part[2]);
    }
    answer_bytes(c, plm_store_view(&e->value));
    waits_look(s);
}

/* Whether a counter is waited for in a loop: others would have raised it by now. */
static void counter_polled(struct plm_store *s, struct plm_store_entry *e)
{
    const int64_t value = plm_store_number(e), world = (int64_t)s->keys.world;
    e->polls = e->polls && value == e->polled ? e->polls + 1 : 1;
    e->polled = value;
    if (e->polls > (s->live > 1 ? POLLS_AMONG : POLLS_ALONE) && value > 0 && value % world)
        plm_store_counter_make_up(&s->keys, e, plm_store_multiple(value, world));
}

static void value_read(struct plm_store *s, struct plm_store_client *c, struct plm_store_bytes key)
{
    struct plm_store_entry *e = plm_store_find(&s->keys, key);
    if (e && e->counter)
        counter_polled(s, e);
    if (e && e->made && !e->own)
        plm_store_made_read(&s->keys, key);
    answer_bytes(c, e ? plm_store_view(&e->value) : (struct plm_store_bytes){0});
}

static void on_get(struct plm_store *s, struct plm_store_client *c, const struct request *r)
{
    for (size_t i = 0; i < r->parts; i++)
        value_read(s, c, r->part[i]);
}

/* NULL: it is refused. */
static struct plm_store_entry *counter_of(struct plm_store *s, struct plm_store_client *c, struct plm_store_bytes key)
{
    enum { DIGITS = 24 };
    return client_may(c, key.size + DIGITS) ? plm_store_entry(&s->keys, key) : NULL;
}

static void on_add(struct plm_store *s, struct plm_store_client *c, const struct request *r)
{
    struct plm_store_entry *e = counter_of(s, c, r->part[0]);
    if (!e)
        return;
    if (r->number || !e->counter)
        plm_store_count(&s->keys, e, plm_store_sum(plm_store_number(e), r->number));
    else
        counter_polled(s, e);
    answer_number(c, plm_store_number(e));
    waits_look(s);
}

static void on_check(struct plm_store *s, struct plm_store_client *c, const struct request *r)
{
    bool all = true;
    for (size_t i = 0; i < r->parts; i++)
        all = all && plm_store_has(&s->keys, r->part[i]);
    answer_byte(c, all ? READY : NOT_READY);
}

static void on_wait(struct plm_store *s, struct plm_store_client *c, const struct request *r)
{
    wait_begin(s, c, r->part, r->parts, 0);
}

static void on_barrier(struct plm_store *s, struct plm_store_client *c, const struct request *r)
{
    struct plm_store_entry *e = counter_of(s, c, r->part[0]);
    const int64_t size = r->number > 0 ? r->number : 1, count = e ? plm_store_sum(plm_store_number(e), 1) : 0;
    if (!e)
        return;
    plm_store_count(&s->keys, e, count);
    wait_begin(s, c, r->part, 1, plm_store_multiple(count, size));
    waits_look(s);
}

static void on_cancel(struct plm_store *s, struct plm_store_client *c, const struct request *r)
{
    (void)s;
    (void)r;
    wait_forget(c);
    answer_byte(c, WAIT_CANCELED);
}

static void on_number_of_keys(struct plm_store *s, struct plm_store_client *c, const struct request *r)
{
    (void)r;
    answer_number(c, (int64_t)s->keys.values.entries);
}

static void on_list(struct plm_store *s, struct plm_store_client *c, const struct request *r)
{
    (void)r;
    answer_number(c, (int64_t)s->keys.values.entries);
    for (size_t i = 0; i < s->keys.values.slots; i++)
        for (const struct plm_store_entry *e = s->keys.values.slot[i]; e; e = e->next)
            answer_bytes(c, plm_store_view(&e->key));
}

static void on_delete(struct plm_store *s, struct plm_store_client *c, const struct request *r)
{
    answer_number(c, plm_store_delete(&s->keys, r->part[0]));
}

static void on_ping(struct plm_store *s, struct plm_store_client *c, const struct request *r)
{
    const uint32_t nonce = (uint32_t)r->number;
    (void)s;
    answer(c, &nonce, sizeof nonce);
}

static void on_push(struct plm_store *s, struct plm_store_client *c, const struct request *r)
{
    if (!client_may(c, r->part[0].size + r->part[1].size + sizeof(struct plm_store_buffer)))
        return;
    plm_store_push(&s->keys, r->part[0], r->part[1]);
    for (struct plm_store_client *other = s->client; other; other = other->next)
        if (wait_end(s, other)) /* there is one thing to take */
            return;
}

static void on_pop(struct plm_store *s, struct plm_store_client *c, const struct request *r)
{
    struct plm_store_entry *q = plm_store_queue(&s->keys, r->part[0]);
    answer_number(c, q ? (int64_t)q->count : 0);
    if (!q)
        return;
    answer_bytes(c, plm_store_view(&q->item[q->first]));
    plm_store_pop(&s->keys, q);
}

static void on_length(struct plm_store *s, struct plm_store_client *c, const struct request *r)
{
    const struct plm_store_entry *q = plm_store_queue(&s->keys, r->part[0]);
    answer_number(c, q ? (int64_t)q->count : 0);
}

static void on_magic(struct plm_store *s, struct plm_store_client *c, const struct request *r)
{
    (void)s;
    c->valid = (uint32_t)r->number == MAGIC;
}

/* By the number that a request begins with. What follows: k a key, v a value, n a number of 64 bits, w one of 32, K a
   count and as many keys, P a count and as many keys with values. */
static const struct {
    const char *shape;
    handle *handle;
} requests[] = {
    [0] = {"w", on_magic},   [1] = {"kv", on_set},    [2] = {"kvv", on_compare_set}, [3] = {"k", on_get},
    [4] = {"kn", on_add},    [5] = {"K", on_check},   [6] = {"K", on_wait},          [7] = {"", on_number_of_keys},
    [8] = {"k", on_delete},  [9] = {"kv", on_append}, [10] = {"K", on_get},          [11] = {"P", on_set},
    [12] = {"", on_cancel},  [13] = {"w", on_ping},   [14] = {"kv", on_push},        [15] = {"k", on_pop},
    [16] = {"k", on_length}, [17] = {"", on_list},    [18] = {"kn", on_barrier},
};

struct reader {
    const uint8_t *at;
    size_t left;
    bool refused;
};

/* False: more is to come, or it is refused. */
static bool read_number(struct reader *r, size_t size, uint64_t *out)
{
    *out = 0;
    if (r->left < size)
        return false;
    memcpy(out, r->at, size);
    r->at += size;
    r->left -= size;
    return true;
}

static bool read_bytes(struct reader *r, size_t most, struct request *out)
{
    uint64_t size;
    if (!read_number(r, sizeof size, &size))
        return false;
    r->refused |= size > most;
    if (r->refused || r->left < size)
        return false;
    out->part = plm_grow(out->part, out->parts, &out->room, sizeof *out->part);
    out->part[out->parts++] = (struct plm_store_bytes){r->at, (size_t)size};
    r->at += size;
    r->left -= (size_t)size;
    return true;
}

static bool read_many(struct reader *r, bool values, struct request *out)
{
    uint64_t count;
    if (!read_number(r, sizeof count, &count))
        return false;
    r->refused |= count > KEYS_MOST;
    for (uint64_t i = 0; i < count && !r->refused; i++)
        if (!read_bytes(r, KEY_MOST, out) || (values && !read_bytes(r, VALUE_MOST, out)))
            return false;
    return !r->refused;
}

static bool read_piece(struct reader *r, char what, struct request *out)
{
    uint64_t number = 0;
    bool whole;
    switch (what) {
    case 'k': return read_bytes(r, KEY_MOST, out);
    case 'v': return read_bytes(r, VALUE_MOST, out);
    case 'K': return read_many(r, false, out);
    case 'P': return read_many(r, true, out);
    default: whole = read_number(r, what == 'w' ? 4 : 8, &number);
    }
    out->number = (int64_t)number;
    return whole;
}

/* Bytes that the request from `at` on takes; 0: it is not whole. -1: it is none. */
static long request_take(struct plm_store *s, struct plm_store_client *c, size_t at, struct request *r)
{
    struct reader reader = {c->in.data + at, c->in.size - at, false};
    uint64_t code;
    bool whole = read_number(&reader, 1, &code);
    if (!whole)
        return 0;
    if (code >= sizeof requests / sizeof requests[0] || (code == 0) == c->valid)
        return -1;
    r->parts = 0;
    for (const char *what = requests[code].shape; *what && whole; what++)
        whole = read_piece(&reader, *what, r);
    if (reader.refused)
        return -1;
    if (!whole)
        return 0;
    requests[code].handle(s, c, r);
    return c->valid && !c->refused ? (long)(c->in.size - at - reader.left) : -1;
}

int plm_store_feed(struct plm_store *s, struct plm_store_client *c, const void *bytes, size_t size)
{
    struct request request = {0};
    size_t done = 0;
    long taken = 0;
    if (!buffer_take(c, &c->in, c->in.size, bytes, size))
        return PLM_EFORMAT;
    while (done < c->in.size && (taken = request_take(s, c, done, &request)) > 0)
        done += (size_t)taken;
    if (done)
        plm_store_buffer_drop(&c->in, done);
    s->keys.held -= done;
    free(request.part);
    return taken < 0 ? PLM_EFORMAT : 0;
}

const void *plm_store_answer(const struct plm_store_client *c, size_t *size)
{
    *size = c->out.size - c->sent;
    return *size ? c->out.data + c->sent : NULL;
}

void plm_store_sent(struct plm_store_client *c, size_t size)
{
    c->store->keys.held -= size;
    c->sent += size;
    if (!c->sent || c->sent < c->out.size - c->sent)
        return;
    plm_store_buffer_drop(&c->out, c->sent);
    c->sent = 0;
}

bool plm_store_waits(const struct plm_store_client *c)
{
    return c->key != NULL;
}

bool plm_store_refused(const struct plm_store_client *c)
{
    return c->refused;
}

unsigned plm_store_refusals(const struct plm_store *s)
{
    return s->refused;
}

/* ---- the store ---- */

struct plm_store *plm_store_new(unsigned world, unsigned live)
{
    struct plm_store *s = plm_calloc(1, sizeof *s);
    s->keys.world = world ? world : 1;
    s->live = live;
    return s;
}

void plm_store_free(struct plm_store *s)
{
    if (!s)
        return;
    while (s->client)
        plm_store_drop(s, s->client);
    plm_store_keys_free(&s->keys);
    free(s);
}

struct plm_store_client *plm_store_join(struct plm_store *s, int process)
{
    struct plm_store_client *c = plm_calloc(1, sizeof *c);
    c->store = s;
    c->process = process;
    c->next = s->client;
    s->client = c;
    return c;
}

void plm_store_drop(struct plm_store *s, struct plm_store_client *c)
{
    struct plm_store_client **at = &s->client;
    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
    wait_forget(c);
    s->keys.held -= c->in.size + c->out.size - c->sent;
    free(c->in.data);
    free(c->out.data);
    free(c);
}

static bool process_waits(const struct plm_store *s, int process)
{
    for (const struct plm_store_client *c = s->client; c; c = c->next)
        if (c->process == process && c->key)
            return true;
    return false;
}

bool plm_store_stuck(const struct plm_store *s)
{
    unsigned processes = 0;
    for (const struct plm_store_client *c = s->client; c; c = c->next) {
        const struct plm_store_client *before = s->client;
        if (!process_waits(s, c->process))
            return false;
        while (before != c && before->process != c->process)
            before = before->next;
        processes += before == c;
    }
    return processes && processes >= s->live;
}

static void wait_make_up(struct plm_store *s, struct plm_store_client *c)
{
    if (c->need)
        plm_store_counter_make_up(&s->keys, plm_store_entry(&s->keys, plm_store_view(&c->key[0])), c->need);
    for (size_t i = 0; i < c->keys && !c->need; i++)
        if (!plm_store_has(&s->keys, plm_store_view(&c->key[i])) &&
            !plm_store_key_make_up(&s->keys, plm_store_view(&c->key[i]))) {
            client_refuse(c);
            wait_forget(c);
        }
}

unsigned plm_store_make_up(struct plm_store *s)
{
    unsigned ended = 0;
    for (struct plm_store_client *c = s->client; c; c = c->next)
        if (c->key) {
            wait_make_up(s, c);
            ended++;
        }
    waits_look(s);
    return ended;
}

size_t plm_store_made(const struct plm_store *s, const struct plm_store_made **made)
{
    *made = s->keys.made;
    return s->keys.patterns;
}
