#include "device/source.h"

#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "common/secret_shape.h"
#include "device/lock.h"
#include "record/writer.h"

/* Half of each table may be used, so that a search ends soon. What is not used is never touched. */
enum { SOURCES = 1 << 15, FRAMES = 1 << 17, NAME_BYTES = 1600 };

struct source {
    const void *code; /* NULL: free */
    uint32_t number;
};

struct frame {
    uint32_t caller, source, line;
    uint32_t number; /* 0: free */
};

static struct {
    uint32_t generation, sources, frames;
    struct source source[SOURCES];
    struct frame frame[FRAMES];
} all;
static struct plm_lock sources_lock = PLM_LOCK_INIT(PLM_LOCK_SOURCES);
PLM_LOCK_JOINS(sources_lock)

static void after_fork(void)
{
    all.generation++;
    for (unsigned i = 0; all.sources && i < SOURCES; i++) /* only what was written: the rest stays no memory at all */
        if (all.source[i].code)
            all.source[i] = (struct source){0};
    for (unsigned i = 0; all.frames && i < FRAMES; i++)
        if (all.frame[i].number)
            all.frame[i] = (struct frame){0};
    all.sources = all.frames = 0;
}

__attribute__((constructor)) static void start(void)
{
    pthread_atfork(NULL, NULL, after_fork);
}

uint32_t plm_source_generation(void)
{
    return all.generation;
}

static uint64_t mix(uint64_t value)
{
    value *= 0x9e3779b97f4a7c15ull;
    return value ^ value >> 32;
}

/* Where a function is, or would be. Called with the lock held, as what follows. */
static struct source *source_slot(const void *code)
{
    for (uint64_t at = mix((uintptr_t)code);; at++) {
        struct source *slot = &all.source[at % SOURCES];
        if (!slot->code || slot->code == code)
            return slot;
    }
}

static struct frame *frame_slot(uint32_t caller, uint32_t source, uint32_t line)
{
    for (uint64_t at = mix(mix(caller) + ((uint64_t)source << 32 | line));; at++) {
        struct frame *slot = &all.frame[at % FRAMES];
        if (!slot->number || (slot->caller == caller && slot->source == source && slot->line == line))
            return slot;
    }
}

uint32_t plm_source_find(const void *code)
{
    uint32_t number;
    plm_lock_take(&sources_lock);
    number = source_slot(code)->number;
    plm_lock_give(&sources_lock);
    return number;
}

static uint32_t text_of(const char *text)
{
    char shown[NAME_BYTES + 1];
    snprintf(shown, sizeof shown, "%.*s", NAME_BYTES, text);
    plm_hide_secrets(shown);
    return plm_record_text(shown);
}

/* The file as it is now: a report shows its lines only while it stays so. */
static struct plm_ev_source describe(const char *file, const char *function, uint32_t line)
{
    struct plm_ev_source event = {.line = line};
    char whole[PATH_MAX];
    struct stat now;
    if (*file != '<' && !stat(file, &now) && S_ISREG(now.st_mode)) {
        event.bytes = (uint64_t)now.st_size;
        event.modified = (uint64_t)now.st_mtim.tv_sec * 1000000000u + (uint64_t)now.st_mtim.tv_nsec;
        if (*file != '/' && realpath(file, whole))
            file = whole;
    }
    event.file = text_of(file);
    event.function = text_of(function);
    return event;
}

uint32_t plm_source_add(const void *code, const char *file, const char *function, uint32_t line)
{
    struct plm_ev_source event = describe(file, function, line);
    struct source *slot;
    plm_lock_take(&sources_lock);
    slot = source_slot(code);
    if (!slot->code && all.sources < SOURCES / 2) {
        *slot = (struct source){code, ++all.sources};
        event.source = slot->number;
        plm_put_source(0, &event);
    }
    event.source = slot->number;
    plm_lock_give(&sources_lock);
    return event.source;
}

uint32_t plm_source_frame(uint32_t caller, uint32_t source, uint32_t line)
{
    struct frame *slot;
    uint32_t number;
    plm_lock_take(&sources_lock);
    slot = frame_slot(caller, source, line);
    if (!slot->number && all.frames < FRAMES / 2) {
        *slot = (struct frame){caller, source, line, ++all.frames};
        plm_put_frame(0, &(struct plm_ev_frame){slot->number, caller, source, line});
    }
    number = slot->number;
    plm_lock_give(&sources_lock);
    return number;
}
