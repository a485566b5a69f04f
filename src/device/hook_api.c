#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/alike.h"
#include "common/period.h"
#include "device/context.h"
#include "device/device.h"
#include "device/internal.h"
#include "device/lock.h"
#include "device/operands.h"
#include "device/parameters.h"
#include "device/python_stack.h"
#include "device/tensors.h"
#include "device/values.h"
#include "device/values_numbers.h"
#include "record/writer.h"
#include "world/messages.h"

/*
 * What the Python hook calls through ctypes, now and then. What it calls often is in python.c. The
 * signatures are part of the contract with hook/plimsoll_hook.
 */

#define EXPORT __attribute__((visibility("default")))

EXPORT void plm_hook_start(void);
EXPORT void plm_hook_imported(void);
EXPORT void plm_hook_record(const char *path);
EXPORT __attribute__((noreturn)) void plm_hook_leave(void);
EXPORT int plm_hook_step(uint32_t step, uint32_t optimizers);
EXPORT void plm_hook_config(const char *key, const char *value);
EXPORT void plm_hook_note(const char *kind, const char *value);
EXPORT uint32_t plm_hook_text(const char *text);
EXPORT void plm_hook_shard(uint32_t category, uint64_t local, uint64_t whole);
EXPORT int plm_hook_observe(int operators);
EXPORT int plm_hook_tensors(const struct plm_tensors_sample *samples, uint32_t count);
EXPORT int plm_hook_type(uint64_t object, uint32_t bytes);
EXPORT int plm_hook_inputs(void);
EXPORT void plm_hook_sample(uint32_t what, uint64_t first, uint64_t second);
EXPORT int plm_hook_sampled(void);
EXPORT int plm_hook_sizes(void);
EXPORT int plm_hook_observe_values(void);
EXPORT int plm_hook_storage(const struct plm_storage_sample *sample);
EXPORT void plm_hook_values_stop(void);
EXPORT int64_t plm_hook_expected(void);
EXPORT void plm_hook_checking(int more);
EXPORT void plm_hook_smaller(unsigned level);
EXPORT void plm_hook_evaluated(void);
EXPORT void plm_hook_progress(uint64_t progress[3]);

void plm_hook_start(void)
{
    plm_software(); /* records the versions */
    plm_asked_start();
    if (!plm_python_stack_start())
        plm_record_note("stacks-unknown", "");
}

/* A fork of a process that has imported PyTorch: another job, with a record of its own. */
void plm_hook_record(const char *path)
{
    plm_record_switch(path);
    plm_software_tell();
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

/* A job is steady when a step's peaks are those of the step before, or its steps repeat in turns; or when they do so
   twice, and what is allocated differs a little: which of two threads frees first decides about it. */
enum { STEADY_LEAST = 3, STEADY_MOST = 10 };

struct step_peaks {
    uint64_t of[2 * PLM_DEVICES_MAX]; /* allocated and reserved of each device */
};

static bool peaks_equal(const void *steps, int one, int other)
{
    const struct step_peaks *a = (const struct step_peaks *)steps + one, *b = (const struct step_peaks *)steps + other;
    return !memcmp(a, b, sizeof *a);
}

static bool peaks_alike(const void *steps, int one, int other)
{
    const struct step_peaks *a = (const struct step_peaks *)steps + one, *b = (const struct step_peaks *)steps + other;
    for (int i = 0; i < 2 * PLM_DEVICES_MAX; i++) /* allocated, then reserved, which is to be the same */
        if (!plm_alike(a->of[i], b->of[i], i % 2 ? 0 : a->of[i]))
            return false;
    return true;
}

static bool steady(void)
{
    static struct step_peaks last[STEADY_MOST]; /* the latest comes last */
    static int count;
    bool same;
    plm_lock_take(&steps_lock);
    if (count == STEADY_MOST)
        memmove(last, last + 1, (size_t)--count * sizeof *last);
    plm_device_block_step_peaks(last[count++].of);
    same = plm_period(last, count, 1, peaks_equal) || plm_period(last, count, 2, peaks_alike);
    plm_lock_give(&steps_lock);
    return same;
}

/* Backward passes count as steps while the program has made no optimizer. It may still do so, unless it updates its
   parameters by itself. Those of an optimizer count from its first on. */
static bool trained(uint32_t step, uint32_t optimizers, uint32_t *of_these)
{
    static _Atomic uint32_t before;
    const bool updated = plm_parameters_updated();
    if (!optimizers)
        atomic_store(&before, step);
    *of_these = optimizers ? step - atomic_load(&before) : step;
    return optimizers || updated;
}

/* PLIMSOLL_STOP_AFTER is a number of steps, 0 for none, or "steady". */
static bool enough(uint32_t step, uint32_t optimizers, bool same)
{
    const char *wanted = getenv("PLIMSOLL_STOP_AFTER");
    uint32_t count;
    const bool training = trained(step, optimizers, &count);
    unsigned long steps;
    if (!wanted)
        return false;
    if (!strcmp(wanted, "steady"))
        return plm_messages_enough(step, count >= STEADY_LEAST && same && training) || count >= STEADY_MOST;
    steps = strtoul(wanted, NULL, 10);
    return steps && count >= steps && (training || count >= STEADY_MOST);
}

/* Returns whether the program has run long enough, or nobody looks at what it does any more. */
int plm_hook_step(uint32_t step, uint32_t optimizers)
{
    plm_put_step(0, &(struct plm_ev_step){step, optimizers});
    atomic_store_explicit(&plm_record_live()->step, step, memory_order_relaxed);
    if (!enough(step, optimizers, steady()) && !plm_record_abandoned())
        return false;
    atomic_store_explicit(&plm_record_live()->stage, PLM_LIVE_STOPPED, memory_order_relaxed);
    return true;
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

void plm_hook_shard(uint32_t category, uint64_t local, uint64_t whole)
{
    plm_put_shard(0, &(struct plm_ev_shard){category, 0, local, whole});
}

int plm_hook_observe(int operators)
{
    return plm_observe(operators != 0);
}

/* ---- locating the sizes of tensors, step by step: hook/plimsoll_hook/layout.py ---- */

int plm_hook_tensors(const struct plm_tensors_sample *samples, uint32_t count)
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

/* ---- values: hook/plimsoll_hook/values/compute.py; plm_hook_values() is in values_python.c ---- */

int plm_hook_observe_values(void)
{
    return plm_observe_values();
}

int plm_hook_storage(const struct plm_storage_sample *sample)
{
    return plm_tensors_locate_storage(sample);
}

void plm_hook_values_stop(void)
{
    plm_values_stop();
}

int64_t plm_hook_expected(void)
{
    return plm_values_expected();
}

void plm_hook_checking(int more)
{
    plm_values_checking(more);
}

void plm_hook_smaller(unsigned level)
{
    plm_values_smaller(level);
}

void plm_hook_evaluated(void)
{
    plm_values_evaluated();
}

/* How far the program is: its steps, launches, and bytes that are allocated. */
void plm_hook_progress(uint64_t progress[3])
{
    const struct plm_live *live = plm_record_live();
    progress[0] = plm_values_progress();
    progress[1] = plm_launch_count();
    progress[2] = atomic_load_explicit(&live->allocated, memory_order_relaxed);
}
