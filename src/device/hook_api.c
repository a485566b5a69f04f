#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "device/device.h"
#include "device/internal.h"
#include "record/writer.h"

/*
 * What the Python hook calls (through ctypes). Its signatures are part of the contract with
 * hook/plimsoll_hook.py.
 */

__attribute__((visibility("default"))) void plm_hook_start(void);
__attribute__((visibility("default"), noreturn)) void plm_hook_leave(void);
__attribute__((visibility("default"))) void plm_hook_step(uint32_t step, uint32_t optimizer);
__attribute__((visibility("default"))) void plm_hook_config(const char *key, const char *value);
__attribute__((visibility("default"))) void plm_hook_note(const char *kind, const char *value);

void plm_hook_start(void)
{
    plm_stack(); /* records the versions */
}

void plm_hook_leave(void)
{
    plm_device_leave();
    fflush(NULL);
    _exit(0);
}

void plm_hook_step(uint32_t step, uint32_t optimizer)
{
    uint64_t word = plm_record_pair(step, optimizer);
    plm_record(PLM_EV_STEP, 0, &word, 1);
    atomic_store_explicit(&plm_record_live()->step, step, memory_order_relaxed);
}

void plm_hook_config(const char *key, const char *value)
{
    plm_record_config(key, value);
}

void plm_hook_note(const char *kind, const char *value)
{
    plm_record_note(kind, value);
}
