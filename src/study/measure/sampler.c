#include "study/measure/sampler.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

#include "common/error.h"
#include "study/measure/meter.h"

static struct {
    struct plm_meter meter;
    unsigned interval_us;
    pthread_t thread;
    atomic_bool running;
    _Atomic uint64_t now, most, count, failed;
    atomic_uint equal; /* samples in a row that were equal; 0 begins anew */
} sampler;

/* Of the thread alone: `equal` is its own but for being set to 0. */
static void sample(void)
{
    uint64_t used;
    if (plm_meter_used(&sampler.meter, &used)) {
        atomic_fetch_add_explicit(&sampler.failed, 1, memory_order_relaxed);
        return;
    }
    if (used != atomic_load_explicit(&sampler.now, memory_order_relaxed))
        atomic_store_explicit(&sampler.equal, 0, memory_order_relaxed);
    atomic_store_explicit(&sampler.now, used, memory_order_relaxed);
    if (used > atomic_load_explicit(&sampler.most, memory_order_relaxed))
        atomic_store_explicit(&sampler.most, used, memory_order_relaxed);
    atomic_fetch_add_explicit(&sampler.count, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&sampler.equal, 1, memory_order_release);
}

static bool before(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec : a->tv_nsec < b->tv_nsec;
}

static void later(struct timespec *time, unsigned us)
{
    time->tv_sec += us / 1000000;
    time->tv_nsec += (long)(us % 1000000) * 1000;
    if (time->tv_nsec >= 1000000000) {
        time->tv_nsec -= 1000000000;
        time->tv_sec++;
    }
}

/* At fixed times, so that the time of a sample does not add to the interval; what was missed is not made up for. */
static void *work(void *unused)
{
    struct timespec next, now;
    (void)unused;
    clock_gettime(CLOCK_MONOTONIC, &next);
    while (atomic_load_explicit(&sampler.running, memory_order_acquire)) {
        sample();
        later(&next, sampler.interval_us);
        clock_gettime(CLOCK_MONOTONIC, &now);
        if (before(&next, &now))
            next = now;
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
    }
    return NULL;
}

/* Signals are for the program's own threads. */
static int start_thread(void)
{
    sigset_t all, kept;
    int failed;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &kept);
    failed = pthread_create(&sampler.thread, NULL, work, NULL);
    pthread_sigmask(SIG_SETMASK, &kept, NULL);
    return failed;
}

int plm_sampler_start(const char *uuid, unsigned interval_us, char *why, size_t size)
{
    struct plm_error error = {0};
    if (atomic_load(&sampler.running)) {
        snprintf(why, size, "the sampler is already running");
        return -1;
    }
    if (plm_meter_open(&sampler.meter, &error)) {
        snprintf(why, size, "%s", error.text);
        return -1;
    }
    sampler.interval_us = interval_us ? interval_us : 1;
    if (plm_meter_take(&sampler.meter, uuid, &error)) {
        snprintf(why, size, "%s", error.text);
        plm_meter_close(&sampler.meter);
        return -1;
    }
    atomic_store(&sampler.running, true);
    if (start_thread()) {
        atomic_store(&sampler.running, false);
        snprintf(why, size, "cannot start a thread for the sampler");
        plm_meter_close(&sampler.meter);
        return -1;
    }
    return 0;
}

int plm_sampler_settle(unsigned settle, unsigned milliseconds, uint64_t *bytes)
{
    const struct timespec pause = {0, 1000000};
    bool settled = false;
    atomic_store(&sampler.equal, 0);
    for (unsigned i = 0; i < milliseconds && !settled; i++) {
        nanosleep(&pause, NULL);
        settled = atomic_load_explicit(&sampler.equal, memory_order_acquire) >= settle;
    }
    *bytes = atomic_load(&sampler.now);
    return settled;
}

void plm_sampler_read(struct plm_samples *out)
{
    uint64_t used = 0;
    bool known = atomic_load(&sampler.running) && !plm_meter_used(&sampler.meter, &used);
    *out = (struct plm_samples){.now = known ? used : atomic_load(&sampler.now),
                                .most = atomic_load(&sampler.most),
                                .count = atomic_load(&sampler.count) + known,
                                .failed = atomic_load(&sampler.failed)};
    if (out->now > out->most)
        out->most = out->now;
}

void plm_sampler_stop(void)
{
    if (!atomic_exchange(&sampler.running, false))
        return;
    pthread_join(sampler.thread, NULL);
    plm_meter_close(&sampler.meter);
}
