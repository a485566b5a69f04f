#include "device/holdings.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "device/device.h"
#include "record/writer.h"

/* The row of each device. A forked child has other rows than its parent. */
static _Atomic(struct plm_held *) own[PLM_DEVICES_MAX];

/* Which node of a simulated world this process is on: cards of two nodes have the same numbers. */
static uint32_t own_node(void)
{
    const char *rank = getenv("PLIMSOLL_RANK"), *gpus = getenv("PLIMSOLL_GPUS");
    const unsigned long per_node = gpus ? strtoul(gpus, NULL, 10) : 0;
    return rank && per_node ? (uint32_t)(strtoul(rank, NULL, 10) / per_node) : 0;
}

static struct plm_held *row_take(int device, uint32_t pid)
{
    struct plm_record_header *header = plm_record_shared();
    struct plm_held *row;
    uint32_t number;
    if (!header || atomic_load(&header->holders) >= PLM_RECORD_HOLDERS)
        return NULL;
    number = atomic_fetch_add(&header->holders, 1);
    if (number >= PLM_RECORD_HOLDERS)
        return NULL;
    row = &header->held[number];
    row->node = own_node();
    row->card = plm_device_number(device);
    atomic_store(&row->pid, pid);
    return row;
}

/* Where two threads use a device first at the same time, one of the two rows is kept. */
static struct plm_held *row_of(int device)
{
    const uint32_t pid = (uint32_t)getpid();
    struct plm_held *row = atomic_load(&own[device]), *taken;
    if (row && atomic_load(&row->pid) == pid)
        return row;
    taken = row_take(device, pid);
    if (!taken || atomic_compare_exchange_strong(&own[device], &row, taken))
        return taken;
    atomic_store(&taken->pid, 0);
    return row;
}

void plm_holdings_open(int device)
{
    row_of(device);
}

void plm_holdings_set(int device, uint64_t bytes)
{
    struct plm_held *row = row_of(device);
    if (row)
        atomic_store_explicit(&row->bytes, bytes, memory_order_relaxed);
}

static bool alive(uint32_t pid)
{
    return kill((pid_t)pid, 0) == 0 || errno == EPERM;
}

unsigned plm_holdings_others(uint32_t card, struct plm_holdings_row *out, unsigned room)
{
    struct plm_record_header *header = plm_record_shared();
    const uint32_t self = (uint32_t)getpid(), node = own_node();
    const unsigned rows = header ? atomic_load(&header->holders) : 0;
    unsigned count = 0;
    for (unsigned i = 0; i < rows && i < PLM_RECORD_HOLDERS; i++) {
        const struct plm_held *row = &header->held[i];
        const uint32_t pid = atomic_load(&row->pid);
        if (!pid || pid == self || row->card != card || row->node != node || !alive(pid))
            continue;
        if (count < room)
            out[count] = (struct plm_holdings_row){pid, atomic_load(&row->bytes)};
        count++;
    }
    return count;
}
