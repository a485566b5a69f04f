#include "device/device.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "device/footprint.h"
#include "device/holdings.h"
#include "device/internal.h"
#include "device/values.h"
#include "record/writer.h"
#include "device/shim.h"

/*
 * Identity and counts. `plimsoll run` describes the machine to be played in environment variables:
 *   PLIMSOLL_CARD       path of the GPU file and, after a '#', the card's id in it
 *   PLIMSOLL_CAPABILITIES  path of compute-capabilities.ini
 *   PLIMSOLL_GPUS       how many of them
 *   PLIMSOLL_LIMIT      bytes that can be taken on each; absent = unbounded
 *   PLIMSOLL_CONTEXT    of these, what the context takes: bytes, or "model"; absent = nothing
 */

enum { CARDS_PER_FILE = 16 };

static struct {
    pthread_once_t once;
    struct plm_card card;
    int count;
    uint32_t number[PLM_DEVICES_MAX]; /* plm_device_number() */
    uint64_t limit;
    _Atomic bool active[PLM_DEVICES_MAX];
    _Atomic uint64_t launches;
    _Atomic uint64_t next_handle;
    int status; /* that the process exits with */
} device = {.once = PTHREAD_ONCE_INIT};

static __thread int current_device;

static bool load_card(void)
{
    const char *spec = getenv("PLIMSOLL_CARD"), *capabilities = getenv("PLIMSOLL_CAPABILITIES"), *id;
    static struct plm_card cards[CARDS_PER_FILE];
    char path[4096];
    int n;

    if (!spec || !capabilities || strlen(spec) >= sizeof path)
        return false;
    snprintf(path, sizeof path, "%s", spec);
    id = strrchr(spec, '#');
    if (id)
        path[id - spec] = '\0';
    n = plm_card_file(path, capabilities, cards, CARDS_PER_FILE, NULL);
    for (int i = 0; i < n; i++)
        if (!id || !strcmp(cards[i].id, id + 1)) {
            device.card = cards[i];
            return true;
        }
    return false;
}

/* A card that goes by a name. Two names may get one number, but not easily. */
static uint32_t number_of_name(const char *name, const char *end)
{
    uint32_t hash = 2166136261u; /* FNV-1a */
    for (; *name && name != end; name++)
        hash = (hash ^ (unsigned char)*name) * 16777619u;
    return hash | 1u << 31;
}

/* As the CUDA runtime reads it: a list of indices up to the first that does not exist; names
   ("GPU-...", "MIG-...") count as existing, since the cards of another machine are meant. */
static int visible(const char *list, int count)
{
    int n = 0;
    char *end;
    for (int i = 0; !list && i < count; i++)
        device.number[i] = (uint32_t)i + 1;
    if (!list)
        return count;
    while (*list && n < count) {
        if (!strncmp(list, "GPU-", 4) || !strncmp(list, "MIG-", 4)) {
            end = strchr(list, ',');
            device.number[n] = number_of_name(list, end);
        } else {
            long index = strtol(list, &end, 10);
            if (end == list || index < 0 || index >= count)
                break;
            device.number[n] = (uint32_t)index + 1;
            if (*end != ',')
                end = NULL;
        }
        n++;
        if (!end)
            break;
        list = end + 1;
    }
    return n;
}

static void keep_status(int status, void *unused)
{
    (void)unused;
    device.status = status;
}

static void cards_start(void)
{
    const char *gpus = getenv("PLIMSOLL_GPUS"), *limit = getenv("PLIMSOLL_LIMIT");
    int count = gpus ? atoi(gpus) : 1;

    if (count < 1 || count > PLM_DEVICES_MAX)
        count = 1;
    device.limit = limit ? strtoull(limit, NULL, 10) : UINT64_MAX;
    if (!load_card() || !plm_memory_init(count, device.limit))
        return;
    device.count = visible(getenv("CUDA_VISIBLE_DEVICES"), count);
    on_exit(keep_status, NULL); /* a shell script may hide it from those who wait for the command */
}

int plm_device_count(void)
{
    pthread_once(&device.once, cards_start);
    return device.count;
}

uint32_t plm_device_number(int index)
{
    pthread_once(&device.once, cards_start);
    return index >= 0 && index < device.count ? device.number[index] : 0;
}

const struct plm_card *plm_device_card(int index)
{
    (void)index; /* all cards of the machine are alike */
    pthread_once(&device.once, cards_start);
    return &device.card;
}

int plm_device_current(void)
{
    return current_device;
}

int plm_device_select(int index)
{
    if (index < 0 || index >= plm_device_count()) {
        plm_gpu_missing(index);
        return PLM_DEV_INVALID;
    }
    current_device = index;
    return 0;
}

void plm_device_activate(int index)
{
    if (index < 0 || index >= PLM_DEVICES_MAX || atomic_load_explicit(&device.active[index], memory_order_relaxed))
        return;
    atomic_store_explicit(&device.active[index], true, memory_order_relaxed);
    plm_holdings_open(index);
}

bool plm_device_active(int index)
{
    return index >= 0 && index < PLM_DEVICES_MAX && atomic_load(&device.active[index]);
}

/* An unbounded device shows the card's size until more is used; then it shows no free memory. A context takes memory when it is made, which
   the management library, that makes none, can see. */
void plm_device_memory(int index, uint64_t *free_bytes, uint64_t *total_bytes)
{
    const struct plm_card *card = plm_device_card(index);
    uint64_t limit = device.limit < card->memory_total ? device.limit : card->memory_total;
    uint64_t used = plm_memory_used(index);
    if (plm_device_active(index)) {
        plm_footprint_start(index);
        used += plm_footprint_taken(index);
    }
    *total_bytes = card->memory_total;
    *free_bytes = used < limit ? limit - used : 0;
}

/* ---- launches and calls ---- */

void plm_launch(const char *kernel)
{
    uint64_t n = atomic_fetch_add_explicit(&device.launches, 1, memory_order_relaxed);
    if (kernel)
        plm_values_launched();
    /* The progress line needs no exact count. */
    if (n % 64 == 0)
        atomic_store_explicit(&plm_record_live()->launches, n + 1, memory_order_relaxed);
}

uint64_t plm_launch_count(void)
{
    return atomic_load_explicit(&device.launches, memory_order_relaxed);
}

void plm_call_refused(const struct plm_symbol *symbol)
{
    const uint32_t library = plm_record_text(symbol->library);
    plm_put_refused(0, &(struct plm_ev_refused){library, plm_record_text(symbol->name)});
}

void *plm_handle_new(void)
{
    return (void *)(uintptr_t)(0x10000 + 16 * atomic_fetch_add_explicit(&device.next_handle, 1, memory_order_relaxed));
}

void plm_device_leave(void)
{
    static atomic_flag left = ATOMIC_FLAG_INIT;
    if (device.count && !atomic_flag_test_and_set(&left)) {
        atomic_store(&plm_record_live()->launches, plm_launch_count());
        plm_footprint_end();
        plm_record_end(device.status);
    }
}

__attribute__((destructor)) static void leave(void)
{
    plm_device_leave();
}
