#include "study/measure/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/child.h"
#include "base/memory.h"
#include "study/measure/meter.h"

enum { NVML_MS = 100, DCGM_MS = 1000, ASK_SECONDS = 10, LEAVE_MS = 2000, DISCOVERY = 64 << 10 };
#define NS_PER_MS 1000000ull

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void plm_watch_add(struct plm_watch *watch, enum plm_watch_source source, const struct plm_watch_reading *reading)
{
    struct plm_watch_readings *r = &watch->of[source];
    r->item = plm_grow(r->item, r->count, &r->room, sizeof *r->item);
    r->item[r->count++] = *reading;
}

/* ---- dcgmi ---- */

/* The card's number there; -1 with the reason in `trouble`, or with none if there is no dcgmi. */
static int dcgm_number(struct plm_watch *watch, const char *uuid)
{
    static const char *const words[] = {"dcgmi", "discovery", "-l", NULL};
    const struct plm_child ask = {.words = words};
    char *answer = plm_calloc(DISCOVERY, 1);
    int failure = 0, status = plm_child_ask(&ask, ASK_SECONDS, answer, DISCOVERY, &failure), card = -1;
    if (failure == ENOENT)
        ; /* not installed, which is usual */
    else if (failure)
        snprintf(watch->trouble, sizeof watch->trouble, "cannot query dcgmi: %s", strerror(failure));
    else if (!WIFEXITED(status) || WEXITSTATUS(status))
        snprintf(watch->trouble, sizeof watch->trouble,
                 "dcgmi does not answer: DCGM's host engine (nv-hostengine) may not be running");
    else if ((card = plm_dcgm_card(answer, uuid)) < 0)
        snprintf(watch->trouble, sizeof watch->trouble, "DCGM does not know the GPU %.90s", uuid);
    free(answer);
    return card;
}

/* In the child: what it prints goes to our pipe, and what it complains of nowhere. */
static void dcgm_prepare(void *context)
{
    const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    dup2(*(int *)context, STDOUT_FILENO);
    if (nowhere >= 0) {
        dup2(nowhere, STDIN_FILENO);
        dup2(nowhere, STDERR_FILENO);
    }
}

static void dcgm_start(struct plm_watch *watch, const char *uuid)
{
    char number[16], delay[16];
    const char *const words[] = {"dcgmi", "dmon", "-i", number, "-e", plm_dcgm_fields, "-d", delay, NULL};
    int ends[2], failure;
    watch->dcgm.card = dcgm_number(watch, uuid);
    if (watch->dcgm.card < 0 || pipe2(ends, O_CLOEXEC))
        return;
    snprintf(number, sizeof number, "%d", watch->dcgm.card);
    snprintf(delay, sizeof delay, "%d", DCGM_MS);
    watch->child =
        plm_child_start(&(struct plm_child){.words = words, .prepare = dcgm_prepare, .context = &ends[1]}, &failure);
    close(ends[1]);
    watch->pipe = ends[0];
    if (watch->child < 0) {
        watch->child = 0;
        watch->pipe = -1;
        close(ends[0]);
        snprintf(watch->trouble, sizeof watch->trouble, "cannot start dcgmi: %s", strerror(failure));
    }
}

static void dcgm_line(struct plm_watch *watch, uint64_t now)
{
    struct plm_watch_reading one = {.begin = now - DCGM_MS * NS_PER_MS, .end = now};
    watch->line[watch->length] = '\0';
    watch->length = 0;
    if (plm_dcgm_line(&watch->dcgm, watch->line, &one.reading))
        plm_watch_add(watch, PLM_WATCH_DCGM, &one);
}

static void dcgm_read(struct plm_watch *watch)
{
    char bytes[4096];
    const ssize_t n = read(watch->pipe, bytes, sizeof bytes);
    const uint64_t now = now_ns();
    if (n == 0 || (n < 0 && errno != EINTR)) { /* it ended */
        close(watch->pipe);
        watch->pipe = -1;
        if (!watch->of[PLM_WATCH_DCGM].count)
            snprintf(watch->trouble, sizeof watch->trouble,
                     "dcgmi dmon ended at once: the GPU may not support these fields");
    }
    for (ssize_t i = 0; i < n; i++)
        if (bytes[i] == '\n')
            dcgm_line(watch, now);
        else if (watch->length < sizeof watch->line - 1) /* what is longer is none of its lines */
            watch->line[watch->length++] = bytes[i];
}

/* It gets the time to say good-bye to the host engine. */
static void dcgm_stop(struct plm_watch *watch)
{
    const struct timespec pause = {0, 10 * (long)NS_PER_MS};
    const int tries = LEAVE_MS / 10;
    if (watch->pipe >= 0)
        close(watch->pipe);
    watch->pipe = -1;
    if (!watch->child)
        return;
    kill(watch->child, SIGTERM);
    for (int i = 0; waitpid(watch->child, NULL, WNOHANG) == 0; i++) {
        if (i == tries)
            kill(watch->child, SIGKILL);
        nanosleep(&pause, NULL);
    }
    watch->child = 0;
}

/* ---- the thread ---- */

static void nvml_read(struct plm_watch *watch, uint64_t *last)
{
    struct plm_watch_reading one = {.begin = *last, .end = now_ns()};
    if (plm_activity_read(&watch->activity, &one.reading))
        plm_watch_add(watch, PLM_WATCH_NVML, &one);
    *last = one.end;
}

static void *watch_work(void *context)
{
    struct plm_watch *watch = context;
    uint64_t last = now_ns();
    nvml_read(watch, &last);
    while (atomic_load_explicit(&watch->running, memory_order_acquire)) {
        struct pollfd wait = {.fd = watch->pipe, .events = POLLIN};
        const uint64_t since = (now_ns() - last) / NS_PER_MS;
        const int rest = since < NVML_MS ? (int)(NVML_MS - since) : 0;
        if (rest && poll(&wait, 1, rest) > 0)
            dcgm_read(watch);
        else
            nvml_read(watch, &last);
    }
    return NULL;
}

/* Signals are for the thread that waits for the command. */
static int thread_start(struct plm_watch *watch)
{
    sigset_t all, kept;
    int failed;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &kept);
    failed = pthread_create(&watch->thread, NULL, watch_work, watch);
    pthread_sigmask(SIG_SETMASK, &kept, NULL);
    return failed;
}

void plm_watch_start(struct plm_watch *watch, const struct plm_meter *meter)
{
    *watch = (struct plm_watch){.pipe = -1};
    plm_activity_open(&watch->activity, meter);
    dcgm_start(watch, meter->uuid);
    atomic_store(&watch->running, true);
    watch->started = thread_start(watch) == 0;
}

void plm_watch_stop(struct plm_watch *watch)
{
    atomic_store(&watch->running, false);
    if (watch->started)
        pthread_join(watch->thread, NULL);
    watch->started = false;
    dcgm_stop(watch);
    plm_activity_close(&watch->activity);
}

void plm_watch_free(struct plm_watch *watch)
{
    for (int i = 0; i < PLM_WATCH_SOURCES; i++)
        free(watch->of[i].item);
    *watch = (struct plm_watch){.pipe = -1};
}

/* ---- means ---- */

/* Of one metric, each reading by the time that it is of. Returns how many counted. */
static size_t metric_mean(const struct plm_watch_readings *r, int metric, uint64_t begin, uint64_t end, double *mean)
{
    double sum = 0, time = 0;
    size_t count = 0;
    for (size_t i = 0; i < r->count; i++) {
        const struct plm_watch_reading *one = &r->item[i];
        const double span = (double)(one->end - one->begin);
        if (!one->reading.given[metric] || one->begin < begin || one->end > end || !(span > 0))
            continue;
        sum += one->reading.value[metric] * span;
        time += span;
        count++;
    }
    if (count)
        *mean = sum / time;
    return count;
}

size_t plm_watch_mean(const struct plm_watch *watch, uint64_t begin, uint64_t end, struct plm_reading *mean,
                      char *source, size_t size)
{
    static const char *const names[PLM_WATCH_SOURCES] = {"dcgm", "nvml"};
    bool used[PLM_WATCH_SOURCES] = {false};
    size_t most = 0;
    *mean = (struct plm_reading){0};
    for (int metric = 0; metric < PLM_METRICS; metric++)
        for (int s = 0; s < PLM_WATCH_SOURCES && !mean->given[metric]; s++) {
            const size_t count = metric_mean(&watch->of[s], metric, begin, end, &mean->value[metric]);
            mean->given[metric] = count > 0;
            used[s] |= count > 0;
            most = count > most ? count : most;
        }
    snprintf(source, size, "%s%s%s", used[0] ? names[0] : "", used[0] && used[1] ? "+" : "", used[1] ? names[1] : "");
    return most;
}
