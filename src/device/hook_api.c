#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device/context.h"
#include "device/device.h"
#include "device/internal.h"
#include "device/lock.h"
#include "device/operands.h"
#include "device/tensors.h"
#include "record/writer.h"

/*
 * What the Python hook calls through ctypes, now and then. What it calls often is in python.c. The
 * signatures are part of the contract with hook/plimsoll_hook.
 */

#define EXPORT __attribute__((visibility("default")))

EXPORT void plm_hook_start(void);
EXPORT void plm_hook_imported(void);
EXPORT __attribute__((noreturn)) void plm_hook_leave(void);
EXPORT int plm_hook_step(uint32_t step, uint32_t optimizers);
EXPORT void plm_hook_config(const char *key, const char *value);
EXPORT void plm_hook_note(const char *kind, const char *value);
EXPORT uint32_t plm_hook_text(const char *text);
EXPORT int plm_hook_observe(int operators);
EXPORT int plm_hook_tensors(const struct plm_tensor_sample *samples, uint32_t count);
EXPORT int plm_hook_type(uint64_t object, uint32_t bytes);
EXPORT int plm_hook_inputs(void);
EXPORT void plm_hook_sample(uint32_t what, uint64_t first, uint64_t second);
EXPORT int plm_hook_sampled(void);
EXPORT int plm_hook_sizes(void);

void plm_hook_start(void)
{
    plm_software(); /* records the versions */
    plm_asked_start();
}

void plm_hook_imported(void)
{
    atomic_store_explicit(&plm_record_live()->stage, PLM_LIVE_IMPORTED, memory_order_relaxed);
}

void plm_hook_leave(void)
{
    plm_device_leave();
    fflush(NULL);
    _exit(0);
}

static struct plm_lock steps_lock = PLM_LOCK_INIT(PLM_LOCK_STEPS);
PLM_LOCK_JOINS(steps_lock)

/* A job is steady when a step's peaks are those of the step before. */
enum { STEADY_LEAST = 3, STEADY_MOST = 10 };

static bool steady(void)
{
    static uint64_t last[2 * PLM_DEVICES_MAX];
    uint64_t now[2 * PLM_DEVICES_MAX];
    bool same;
    plm_lock_take(&steps_lock);
    plm_block_step_peaks(now);
    same = !memcmp(now, last, sizeof now);
    memcpy(last, now, sizeof now);
    plm_lock_give(&steps_lock);
    return same;
}

/* PLIMSOLL_STOP_AFTER is a number of steps, 0 for none, or "steady". */
static bool enough(uint32_t step, bool same)
{
    const char *wanted = getenv("PLIMSOLL_STOP_AFTER");
    unsigned long steps;
    if (!wanted)
        return false;
    if (!strcmp(wanted, "steady"))
        return step >= STEADY_MOST || (step >= STEADY_LEAST && same);
    steps = strtoul(wanted, NULL, 10);
    return steps && step >= steps;
}

/* Returns whether the program has run long enough, or nobody looks at what it does any more. */
int plm_hook_step(uint32_t step, uint32_t optimizers)
{
    plm_put_step(0, &(struct plm_ev_step){step, optimizers});
    atomic_store_explicit(&plm_record_live()->step, step, memory_order_relaxed);
    return enough(step, steady()) || plm_record_abandoned();
}

void plm_hook_config(const char *key, const char *value)
{
    plm_record_config(key, value);
}

void plm_hook_note(const char *kind, const char *value)
{
    plm_record_note(kind, value);
}

uint32_t plm_hook_text(const char *text)
{
    return plm_record_text(text);
}

int plm_hook_observe(int operators)
{
    return plm_observe(operators != 0);
}

/* ---- locating the sizes of tensors, step by step: hook/plimsoll_hook/sizes.py ---- */

int plm_hook_tensors(const struct plm_tensor_sample *samples, uint32_t count)
{
    return plm_tensors_locate(samples, count);
}

int plm_hook_type(uint64_t object, uint32_t bytes)
{
    return plm_tensors_learn_type(object, bytes);
}

int plm_hook_inputs(void)
{
    return plm_observe_inputs();
}

void plm_hook_sample(uint32_t what, uint64_t first, uint64_t second)
{
    plm_observe_sample((enum plm_observe_sample)what, first, second);
}

int plm_hook_sampled(void)
{
    return plm_observe_sampled();
}

/* The end of it; whether all was found. */
int plm_hook_sizes(void)
{
    if (plm_tensors_known())
        plm_operands_start();
    else
        plm_observe_looking(false);
    return plm_tensors_known();
}
