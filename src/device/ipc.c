#include "device/ipc.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "device/device.h"
#include "device/footprint.h"
#include "device/internal.h"
#include "device/space.h"
#include "device/stream.h"

enum { DISABLE_TIMING = 2, INTERPROCESS = 4 };
static const uint64_t MEMORY_MARK = 0x6d656d2d6d6c70, EVENT_MARK = 0x7665652d6d6c70;

/* What this process has opened. Guarded by plm_space_lock. */
struct import {
    struct owner *owner;
    uint32_t process;
    uint64_t id; /* of the allocation there */
    unsigned opened;
    struct import *next;
};
static struct import *imports;

/* ---- memory ---- */

/* With the lock held. Chunks of a pool are not: they have handles of another kind. */
static struct owner *owner_to_export(uint64_t address)
{
    struct page *page = plm_space_page_of(address);
    struct owner *o = page ? atomic_load(&page->owner) : NULL;
    const struct small *m = o && o->kind == OWNER_SLAB ? o->smalls : NULL;
    while (m && (address < m->base || address >= m->base + m->size))
        m = m->next;
    return o && !o->pool && (o->kind == OWNER_WHOLE || m) ? o : NULL;
}

bool plm_ipc_exportable(uint64_t address)
{
    bool can;
    plm_lock_take(&plm_space_lock);
    can = owner_to_export(address) != NULL;
    plm_lock_give(&plm_space_lock);
    return can;
}

int plm_ipc_export(uint64_t address, struct plm_ipc_handle *out)
{
    const struct plm_mem_info info = plm_mem_query((const void *)address);
    struct owner *o;

    plm_lock_take(&plm_space_lock);
    o = info.kind == PLM_MEM_DEVICE ? owner_to_export(address) : NULL;
    if (o)
        atomic_store(&o->exported, true);
    plm_lock_give(&plm_space_lock);
    if (!o)
        return PLM_DEV_INVALID;
    plm_bytes_forget((const void *)info.base, info.size);
    *out = (struct plm_ipc_handle){
        MEMORY_MARK, (uint32_t)getpid(), plm_device_number(info.device), info.base, info.size, info.id, {0}};
    return 0;
}

static bool process_lives(uint32_t process)
{
    return (pid_t)process > 0 && (!kill((pid_t)process, 0) || errno != ESRCH); /* others are groups of processes */
}

static int device_of(uint32_t card)
{
    for (int i = 0; i < plm_device_count(); i++)
        if (plm_device_number(i) == card)
            return i;
    return -1;
}

static int handle_check(const struct plm_ipc_handle *handle, uint64_t mark, int *device)
{
    if (handle->mark != mark || !process_lives(handle->process))
        return PLM_DEV_INVALID;
    if (handle->process == (uint32_t)getpid())
        return PLM_DEV_OWN;
    *device = device_of(handle->card);
    return *device < 0 ? PLM_DEV_INVALID : 0;
}

static struct import *import_find(const struct plm_ipc_handle *handle)
{
    struct import *i = imports;
    while (i && (i->process != handle->process || i->id != handle->id))
        i = i->next;
    return i;
}

static int import_add(const struct plm_ipc_handle *handle, int device, struct import **out)
{
    /* What another process wrote; rounded up, the largest would be nothing. */
    const uint64_t whole = handle->size <= plm_space_span() ? plm_round_up(handle->size, PLM_PAGE) : 0;
    struct space *s = plm_space_of(device);
    struct import *i = calloc(1, sizeof *i);
    uint64_t base = i && whole ? plm_space_range_take(s, whole, 0) : 0;
    struct owner *o = base ? plm_owner_new(OWNER_IMPORT, device, base, handle->size) : NULL;
    if (!o) {
        if (base)
            plm_space_range_give(s, base, whole);
        free(i);
        return PLM_DEV_NOHOST;
    }
    *i = (struct import){.owner = o, .process = handle->process, .id = handle->id, .next = imports};
    imports = i;
    plm_owner_set(base, whole, o);
    *out = i;
    return 0;
}

int plm_ipc_open(const struct plm_ipc_handle *handle, uint64_t *address)
{
    struct import *i;
    int device, status = handle_check(handle, MEMORY_MARK, &device);
    if (status)
        return status;
    plm_device_activate(device);
    plm_footprint_start(device);
    plm_lock_take(&plm_space_lock);
    i = import_find(handle);
    if (!i)
        status = import_add(handle, device, &i);
    if (!status) {
        i->opened++;
        *address = i->owner->base;
    }
    plm_lock_give(&plm_space_lock);
    return status;
}

static void import_drop(struct import **link)
{
    struct import *i = *link;
    struct owner *o = i->owner;
    const uint64_t whole = plm_round_up(o->size, PLM_PAGE);
    *link = i->next;
    plm_owner_set(o->base, whole, NULL);
    plm_space_range_give(plm_space_of(o->device), o->base, whole);
    free(o);
    free(i);
}

int plm_ipc_close(uint64_t address)
{
    int status = PLM_DEV_INVALID;
    plm_lock_take(&plm_space_lock);
    for (struct import **link = &imports; *link && status; link = &(*link)->next)
        if ((*link)->owner->base == address) {
            status = 0;
            if (!--(*link)->opened)
                import_drop(link);
            break;
        }
    plm_lock_give(&plm_space_lock);
    return status;
}

/* ---- events ---- */

int plm_ipc_export_event(const struct plm_event *event, struct plm_ipc_handle *out)
{
    const unsigned flags = event ? plm_event_flags(event) : 0;
    if ((flags & (DISABLE_TIMING | INTERPROCESS)) != (DISABLE_TIMING | INTERPROCESS))
        return PLM_DEV_INVALID;
    *out = (struct plm_ipc_handle){
        EVENT_MARK, (uint32_t)getpid(), plm_device_number(plm_device_current()), flags, 0, (uint64_t)event, {0}};
    return 0;
}

int plm_ipc_open_event(const struct plm_ipc_handle *handle, struct plm_event **out)
{
    int device, status = handle_check(handle, EVENT_MARK, &device);
    if (status)
        return status;
    return plm_event_create((unsigned)handle->base, out) ? PLM_DEV_NOHOST : 0;
}
