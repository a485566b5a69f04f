#include "import/history.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/error.h"
#include "base/unpickle.h"
#include "torch/facts.h"

enum { DEVICES_MOST = 1024 };

#define BYTES_MOST (1ull << 48) /* no memory is larger */

static const char *const actions[PLM_HISTORY_ACTIONS] = {
    "alloc", "free_requested", "free_completed", "segment_alloc", "segment_free", "segment_map", "segment_unmap", "oom",
};

static uint64_t key_number(const struct plm_unpickled *p, uint32_t dict, const char *key)
{
    uint64_t value = 0;
    plm_unpickle_unsigned(p, plm_unpickle_find(p, dict, key), &value);
    return value;
}

/* ---- events ---- */

uint64_t plm_history_pool(const struct plm_unpickled *p, uint32_t id)
{
    struct plm_unpickle_walk walk = plm_unpickle_begin(p, id);
    uint64_t pool = 0, half;
    for (uint32_t part; (part = plm_unpickle_next(p, &walk)) != PLM_PICKLED_ABSENT;)
        pool = plm_unpickle_unsigned(p, part, &half) ? pool << 32 | (half & UINT32_MAX) : pool;
    return pool;
}

static int action_of(const struct plm_unpickled *p, uint32_t dict)
{
    uint32_t action = plm_unpickle_find(p, dict, "action");
    for (int i = 0; i < PLM_HISTORY_ACTIONS; i++)
        if (plm_unpickle_is(p, action, actions[i]))
            return i;
    return -1; /* a snapshot was taken, or something that a later version has */
}

/* Keys that came with a release say that it, or a later one, wrote the snapshot. */
static void look_for_release(const struct plm_unpickled *p, uint32_t dict, struct plm_history *t)
{
    static const enum plm_torch_fact keys[] = {PLM_TORCH_TRACE_COMPILE, PLM_TORCH_TRACE_POOL};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const struct plm_torch_row *key = plm_torch_row(keys[i]);
        enum plm_torch torch = plm_torch_of(key->since);
        if (torch > t->torch && plm_unpickle_find(p, dict, key->name) != PLM_PICKLED_ABSENT)
            t->torch = torch;
    }
}

static int read_event(const struct plm_unpickled *p, uint32_t dict, uint32_t place, struct plm_history *t,
                      struct plm_history_device *d, struct plm_error *error)
{
    const uint32_t pool = plm_unpickle_find(p, dict, "pool_id");
    int action = action_of(p, dict);
    struct plm_history_event e = {.address = key_number(p, dict, "addr"),
                                  .bytes = key_number(p, dict, "size"),
                                  .us = key_number(p, dict, "time_us"),
                                  .stream = key_number(p, dict, "stream"),
                                  .frames = plm_unpickle_find(p, dict, "frames"),
                                  .number = place,
                                  .action = (uint8_t)action,
                                  .pool = plm_history_pool(p, pool)};
    if (action < 0)
        return 0;
    if (action != PLM_HISTORY_OOM && (e.bytes > BYTES_MOST || e.address > UINT64_MAX - BYTES_MOST))
        return plm_fail(error, PLM_EFORMAT, "event %u of device %u is about %llu bytes, which cannot be", place,
                        d->number, (unsigned long long)e.bytes);
    t->has_pools |= pool != PLM_PICKLED_ABSENT;
    look_for_release(p, dict, t);
    /* Threads may record in another order than they read the clock; here time does not go back. */
    if (d->events && e.us < d->event[d->events - 1].us)
        e.us = d->event[d->events - 1].us;
    d->of[action]++;
    d->event = plm_grow(d->event, d->events, &d->event_room, sizeof *d->event);
    d->event[d->events++] = e;
    return 0;
}

static int read_events(const struct plm_unpickled *p, uint32_t list, struct plm_history *t,
                       struct plm_history_device *d, struct plm_error *error)
{
    struct plm_unpickle_walk walk = plm_unpickle_begin(p, list);
    uint32_t place = 0;
    int status = 0;
    for (uint32_t dict; status == 0 && (dict = plm_unpickle_next(p, &walk)) != PLM_PICKLED_ABSENT;) {
        if (plm_unpickle_type(p, dict) != PLM_PICKLED_DICT)
            return plm_fail(error, PLM_EFORMAT, "this is not a memory snapshot of PyTorch: an event is no dict");
        status = read_event(p, dict, place++, t, d, error);
    }
    return status;
}

static int read_devices(const struct plm_unpickled *p, uint32_t traces, uint32_t segments, struct plm_history *t,
                        struct plm_error *error)
{
    struct plm_unpickle_walk walk = plm_unpickle_begin(p, traces);
    int status = 0;
    for (uint32_t list; status == 0 && (list = plm_unpickle_next(p, &walk)) != PLM_PICKLED_ABSENT;) {
        struct plm_history_device *d;
        if (t->devices == DEVICES_MOST)
            return plm_fail(error, PLM_EFORMAT, "this snapshot has more than %d devices", DEVICES_MOST);
        t->device = plm_grow(t->device, t->devices, &t->room, sizeof *d);
        d = &t->device[t->devices];
        *d = (struct plm_history_device){.number = (unsigned)t->devices++};
        status = read_events(p, list, t, d, error);
        if (status == 0)
            status = plm_history_start(p, segments, t, d, error);
        if (status == 0 && d->events && (!t->first_us || d->event[0].us < t->first_us))
            t->first_us = d->event[0].us;
    }
    return status;
}

/* ---- settings and steps ---- */

static void read_divisions(const struct plm_unpickled *p, uint32_t dict, struct plm_allocator_settings *s)
{
    char key[16];
    for (unsigned i = 0; i < PLM_ROUNDUP_INTERVALS; i++) {
        uint64_t value;
        snprintf(key, sizeof key, "%u", 1u << i);
        value = key_number(p, dict, key);
        s->roundup[i] = value < 1u << 20 && !(value & (value - 1)) ? value : 0;
    }
}

/* What the snapshot lists was in force at its end; the rest follows from the text of the setting. */
static void read_settings(const struct plm_unpickled *p, uint32_t dict, struct plm_history *t)
{
    /* The name is the setting's environment variable, which later versions call differently. */
    static const char *const names[] = {"PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF"};
    struct plm_allocator_settings *s = &t->settings;
    const uint32_t expandable = plm_unpickle_find(p, dict, "expandable_segments");
    struct plm_error ignored;
    snprintf(t->allocator, sizeof t->allocator, "default");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        size_t n = 0;
        const char *text = plm_unpickle_text(p, plm_unpickle_find(p, dict, names[i]), &n);
        if (n && n < sizeof t->allocator)
            snprintf(t->allocator, sizeof t->allocator, "%.*s", (int)n, text);
    }
    if (strcmp(t->allocator, "default") == 0 ||
        plm_allocator_settings_parse(t->allocator, PLM_TORCHES - 1, s, &ignored) < 0)
        plm_allocator_settings_parse("", PLM_TORCHES - 1, s, &ignored);
    s->fraction = -1;
    if (dict == PLM_PICKLED_ABSENT)
        return;
    if (!plm_unpickle_unsigned(p, plm_unpickle_find(p, dict, "max_split_size"), &s->max_split_size) ||
        !s->max_split_size)
        s->max_split_size = UINT64_MAX; /* -1 */
    if (!plm_unpickle_real(p, plm_unpickle_find(p, dict, "garbage_collection_threshold"), &s->gc_threshold))
        s->gc_threshold = 0;
    if (expandable != PLM_PICKLED_ABSENT)
        s->expandable = key_number(p, dict, "expandable_segments") != 0;
    read_divisions(p, plm_unpickle_find(p, dict, "roundup_power2_divisions"), s);
}

/* Annotations tell when optimizers stepped. Of several, the first one counts. */
static void read_steps(const struct plm_unpickled *p, uint32_t list, struct plm_history *t)
{
    static const char prefix[] = "Optimizer.step#";
    struct plm_unpickle_walk walk = plm_unpickle_begin(p, list);
    const char *first = NULL;
    size_t first_length = 0;
    for (uint32_t dict; (dict = plm_unpickle_next(p, &walk)) != PLM_PICKLED_ABSENT;) {
        size_t n = 0;
        const char *name = plm_unpickle_text(p, plm_unpickle_find(p, dict, "name"), &n);
        uint64_t us = key_number(p, dict, "time_us");
        if (!name || n < sizeof prefix || memcmp(name, prefix, sizeof prefix - 1) != 0 || us < t->first_us ||
            !plm_unpickle_is(p, plm_unpickle_find(p, dict, "stage"), "END"))
            continue;
        if (!first) {
            first = name;
            first_length = n;
        }
        if (n != first_length || memcmp(name, first, n) != 0)
            continue;
        t->step_us = plm_grow(t->step_us, t->steps, &t->step_room, sizeof *t->step_us);
        t->step_us[t->steps] = t->steps && us < t->step_us[t->steps - 1] ? t->step_us[t->steps - 1] : us;
        t->steps++;
    }
}

/* ---- all of it ---- */

int plm_history_read(const struct plm_unpickled *p, struct plm_history *t, struct plm_error *error)
{
    const uint32_t root = plm_unpickle_root(p), traces = plm_unpickle_find(p, root, "device_traces"),
                   segments = plm_unpickle_find(p, root, "segments");
    size_t events = 0;
    int status;
    *t = (struct plm_history){0};
    if (traces == PLM_PICKLED_ABSENT || segments == PLM_PICKLED_ABSENT)
        return plm_fail(error, PLM_EFORMAT, "this is not a memory snapshot of PyTorch: it has no %s",
                        traces == PLM_PICKLED_ABSENT ? "device_traces" : "segments");
    read_settings(p, plm_unpickle_find(p, root, "allocator_settings"), t);
    status = read_devices(p, traces, segments, t, error);
    for (size_t i = 0; i < t->devices; i++)
        events += t->device[i].events;
    if (status == 0 && !events)
        status = plm_fail(error, PLM_EFORMAT,
                          "this snapshot has no history: call torch.cuda.memory._record_memory_history() before the "
                          "training starts");
    if (status == 0)
        read_steps(p, plm_unpickle_find(p, root, "external_annotations"), t);
    if (status < 0)
        plm_history_free(t);
    return status;
}

void plm_history_free(struct plm_history *t)
{
    for (size_t i = 0; i < t->devices; i++) {
        free(t->device[i].event);
        free(t->device[i].range);
        free(t->device[i].block);
    }
    free(t->device);
    free(t->step_us);
    *t = (struct plm_history){0};
}
