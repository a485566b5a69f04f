#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "base/map.h"
#include "base/names.h"
#include "base/output.h"
#include "base/unpickle.h"
#include "import/import.h"
#include "import/history.h"
#include "record/create.h"
#include "record/pen.h"

enum { NAME_BYTES = 512, START_NS = 500, FIRST_NS = 1000 };

struct import {
    const struct plm_unpickled *p;
    struct plm_history *trace;
    struct plm_writer writer;
    struct plm_pen pen; /* of the thread of the record that is being written */
    struct plm_import_info *info;
    struct plm_map by_frames;   /* frames -> context */
    struct plm_names names;     /* of contexts: number 0 is none */
};

/* One device while its history is written. */
struct lane {
    struct import *import;
    const struct plm_history_device *d;
    int device;
    struct plm_heap heap;
    struct plm_map live;        /* address -> bytes */
    struct plm_map streams;     /* as in the snapshot -> number */
    uint64_t ns, allocated, reserved;
};

/* What follows is of another thread of the record; they count from 1. */
static void next_thread(struct import *m, uint32_t number)
{
    if (m->pen.writer)
        plm_pen_close(&m->pen);
    m->pen = (struct plm_pen){.writer = &m->writer, .thread = number};
}

/* ---- where a block comes from ---- */

static bool contains(const char *text, size_t size, const char *part)
{
    return memmem(text, size < PATH_MAX ? size : PATH_MAX, part, strlen(part)) != NULL;
}

/* "(train, model.py:12)": the parentheses keep the dot of the file from being taken for one of a module's path. */
static void name_frame(const struct plm_unpickled *p, uint32_t frame, char *out, size_t size)
{
    size_t name_size = 0, file_size = 0;
    const char *name = plm_unpickle_text(p, plm_unpickle_find(p, frame, "name"), &name_size);
    const char *file = plm_unpickle_text(p, plm_unpickle_find(p, frame, "filename"), &file_size);
    const size_t passed = file_size > PATH_MAX ? file_size - PATH_MAX : 0;
    const char *slash = file ? memrchr(file + passed, '/', file_size - passed) : NULL;
    uint64_t line = 0;
    if (slash) {
        file_size -= (size_t)(slash + 1 - file);
        file = slash + 1;
    }
    plm_unpickle_unsigned(p, plm_unpickle_find(p, frame, "line"), &line);
    snprintf(out, size, "(%.*s, %.*s:%llu)", (int)(name_size < 200 ? name_size : 200), name ? name : "",
             (int)(file_size < 200 ? file_size : 200), file ? file : "", (unsigned long long)line);
}

/* The innermost frame of Python outside of PyTorch, else the innermost of Python; "" if there is none. */
static void name_frames(const struct plm_unpickled *p, uint32_t frames, char *out, size_t size)
{
    struct plm_unpickle_walk walk = plm_unpickle_begin(p, frames);
    out[0] = '\0';
    for (uint32_t frame; (frame = plm_unpickle_next(p, &walk)) != PLM_PICKLED_ABSENT;) {
        size_t n = 0;
        const char *file = plm_unpickle_text(p, plm_unpickle_find(p, frame, "filename"), &n);
        bool torch;
        if (!file || n < 3 || memcmp(file + n - 3, ".py", 3) != 0)
            continue;
        torch = contains(file, n, "-packages/torch/") || contains(file, n, "/plimsoll_hook/");
        if (!torch || !out[0])
            name_frame(p, frame, out, size);
        if (!torch)
            return;
    }
}

static uint32_t context_of(struct import *m, uint32_t frames)
{
    uint64_t found = plm_map_get(&m->by_frames, frames);
    size_t before = m->names.count;
    char name[NAME_BYTES];
    uint32_t number;
    if (found != PLM_MAP_NONE)
        return (uint32_t)found;
    name_frames(m->p, frames, name, sizeof name);
    number = plm_names_add(&m->names, name);
    plm_map_put(&m->by_frames, frames, number);
    if (m->names.count > before) {
        const uint32_t text = plm_pen_intern(&m->pen, name);
        plm_pen_context(&m->pen, 0, &(struct plm_ev_context){.context = number, .module = text});
    }
    return number;
}

/* All of them stand at the start of the record, whatever device needs them first. */
static void write_contexts(struct import *m)
{
    plm_names_add(&m->names, "");
    for (size_t i = 0; i < m->trace->devices; i++) {
        struct plm_history_device *d = &m->trace->device[i];
        for (size_t k = 0; k < d->blocks; k++)
            d->block[k].frames = context_of(m, d->block[k].frames);
        for (size_t k = 0; k < d->events; k++)
            if (d->event[k].action == PLM_HISTORY_ALLOC)
                d->event[k].frames = context_of(m, d->event[k].frames);
    }
}

/* ---- events of a device ---- */

/* For an event of the device, at the time that has come. */
static struct plm_pen *pen_of(struct lane *l)
{
    plm_pen_at(&l->import->pen, l->ns);
    return &l->import->pen;
}

static uint32_t stream_number(struct lane *l, uint64_t stream)
{
    uint64_t number = stream ? plm_map_get(&l->streams, stream) : 0;
    if (number == PLM_MAP_NONE) {
        number = l->streams.count + 1;
        plm_map_put(&l->streams, stream, number);
    }
    return (uint32_t)(number & 0xffffff);
}

static void block_free(struct lane *l, uint64_t address)
{
    uint64_t bytes = plm_map_remove(&l->live, address);
    if (bytes == PLM_MAP_NONE)
        return;
    l->allocated -= bytes;
    plm_pen_block_free(pen_of(l), l->device, &(struct plm_ev_block_free){address, bytes});
}

static void block_alloc(struct lane *l, uint64_t address, uint64_t bytes, uint32_t context, uint32_t stream,
                        bool captured)
{
    const struct plm_ev_block_alloc event = {address, bytes, context, stream & PLM_STREAM_UNKNOWN, captured, 0, 0, 0};
    block_free(l, address); /* its end was lost */
    plm_map_put(&l->live, address, bytes);
    l->allocated += bytes;
    plm_pen_put(pen_of(l), PLM_EV_BLOCK_ALLOC, l->device, &event, PLM_EV_BEFORE(block_alloc, asked));
}

/* An expandable segment may grow by a lot and shrink by a part of that, so each page of it is written by itself. */
static void memory(struct lane *l, bool taken, uint64_t address, uint64_t bytes, bool expandable)
{
    const uint64_t unit = expandable ? PLM_HEAP_PAGE : bytes;
    for (uint64_t at = 0; at < bytes; at += unit) {
        const uint64_t from = address + at, size = bytes - at < unit ? bytes - at : unit;
        if (taken)
            plm_pen_memory_alloc(pen_of(l), l->device, &(struct plm_ev_memory_alloc){from, size, PLM_RECORD_MALLOC, 0});
        else
            plm_pen_memory_free(pen_of(l), l->device, &(struct plm_ev_memory_free){from, size, PLM_RECORD_MALLOC, 0});
    }
    l->reserved += taken ? bytes : bytes <= l->reserved ? -bytes : -l->reserved;
    plm_pen_reserved(pen_of(l), l->device, &(struct plm_ev_reserved){l->reserved});
    if (taken)
        plm_heap_add(&l->heap, address, bytes, expandable);
    else
        plm_heap_remove(&l->heap, address, bytes);
}

/* What was there before the history begins. Both lists are by address. */
static void lane_start(struct lane *l)
{
    const struct plm_history_device *d = l->d;
    size_t k = 0;
    l->ns = START_NS;
    for (size_t i = 0; i < d->ranges; i++)
        memory(l, true, d->range[i].address, d->range[i].bytes, d->range[i].expandable);
    for (size_t i = 0; i < d->ranges; i++) {
        uint64_t from = d->range[i].address, end = from + d->range[i].bytes;
        while (k < d->blocks && d->block[k].address < from)
            k++;
        for (; k < d->blocks && d->block[k].address < end; k++) {
            plm_heap_place(&l->heap, from, d->block[k].address, d->block[k].bytes);
            from = d->block[k].address + d->block[k].bytes;
        }
    }
    for (k = 0; k < d->blocks; k++)
        if (!d->block[k].pending)
            block_alloc(l, d->block[k].address, d->block[k].bytes, d->block[k].frames,
                        stream_number(l, d->block[k].stream), d->block[k].pool != 0);
}

static void event(struct lane *l, const struct plm_history_event *e)
{
    switch ((enum plm_history_action)e->action) {
    case PLM_HISTORY_ALLOC:
        block_alloc(l, e->address, plm_heap_take(&l->heap, e->address, e->bytes), e->frames,
                    stream_number(l, e->stream), e->pool != 0);
        l->import->info->allocations++;
        break;
    case PLM_HISTORY_FREE_REQUESTED: block_free(l, e->address); break;
    case PLM_HISTORY_FREE_COMPLETED:
        block_free(l, e->address);
        plm_heap_give(&l->heap, e->address);
        break;
    case PLM_HISTORY_SEGMENT_ALLOC:
    case PLM_HISTORY_SEGMENT_MAP: memory(l, true, e->address, e->bytes, e->action == PLM_HISTORY_SEGMENT_MAP); break;
    case PLM_HISTORY_SEGMENT_FREE:
    case PLM_HISTORY_SEGMENT_UNMAP:
        memory(l, false, e->address, e->bytes, e->action == PLM_HISTORY_SEGMENT_UNMAP);
        break;
    case PLM_HISTORY_OOM: plm_pen_oom(pen_of(l), l->device, &(struct plm_ev_oom){e->bytes, l->reserved}); break;
    case PLM_HISTORY_ACTIONS: break;
    }
}

static void write_device(struct import *m, const struct plm_history_device *d)
{
    struct lane l = {.import = m, .d = d, .device = (int)d->number, .heap.settings = m->trace->settings};
    next_thread(m, 2 + d->number);
    lane_start(&l);
    for (size_t i = 0; i < d->events; i++) {
        l.ns = (d->event[i].us - m->trace->first_us) * 1000 + FIRST_NS;
        event(&l, &d->event[i]);
    }
    m->info->events += d->events;
    m->info->earlier += d->blocks;
    m->info->devices += d->events || d->blocks;
    m->info->agrees &= l.allocated == d->end_allocated && l.reserved == d->end_reserved;
    plm_heap_free(&l.heap);
    plm_map_free(&l.live);
    plm_map_free(&l.streams);
}

/* ---- the record ---- */

static void write_note(struct import *m, const char *kind)
{
    plm_pen_at(&m->pen, FIRST_NS);
    plm_pen_note(&m->pen, 0, &(struct plm_ev_note){.key = plm_pen_intern(&m->pen, kind)});
}

static void write_record(struct import *m, const char *name)
{
    const struct plm_history *t = m->trace;
    next_thread(m, 1);
    plm_pen_setting(&m->pen, "imported", name);
    plm_pen_setting(&m->pen, "allocator", t->allocator);
    write_contexts(m);
    for (size_t i = 0; i < t->devices; i++)
        write_device(m, &t->device[i]);
    next_thread(m, 2 + (uint32_t)t->devices);
    if (m->info->earlier)
        write_note(m, "history-late");
    if (!m->info->agrees)
        write_note(m, "history-differs");
    for (size_t i = 0; i < t->steps; i++) {
        plm_pen_at(&m->pen, (t->step_us[i] - t->first_us) * 1000 + FIRST_NS);
        plm_pen_step(&m->pen, 0, &(struct plm_ev_step){(uint32_t)i + 1, 1});
    }
}

static int make_record(struct import *m, const char *name, const char *path, bool replace, struct plm_error *error)
{
    const struct plm_output_rule rule = {.force = replace, .record = true, .input = {name}};
    struct plm_output output;
    struct plm_record_file file;
    int full, status = plm_output_open(&output, path, &rule, error);
    if (status < 0)
        return status;
    status = plm_record_create(output.temporary, true, &file, error);
    if (status < 0)
        goto out;
    status = plm_writer_open(&m->writer, output.temporary);
    plm_writer_past(&m->writer, m->trace->first_us * 1000);
    write_record(m, name);
    plm_pen_close(&m->pen);
    full = plm_writer_close(&m->writer);
    plm_record_close(&file);
    if (status == 0 && full == 0)
        return plm_output_keep(&output, error);
    status = plm_fail(error, PLM_EIO, "cannot write %s: the disk may be full", path);
out:
    plm_output_drop(&output);
    return status;
}

int plm_import_snapshot(const void *data, size_t size, const struct plm_import_options *o, struct plm_import_info *info,
                        struct plm_error *error)
{
    struct plm_unpickled *pickle;
    struct plm_history trace;
    struct import m = {.trace = &trace, .info = info};
    int status = plm_unpickle(data, size, &pickle, error);
    *info = (struct plm_import_info){.agrees = true};
    if (status < 0)
        return status;
    m.p = pickle;
    status = plm_history_read(pickle, &trace, error);
    if (status == 0) {
        if (o->verify)
            plm_verify_trace(&trace, o->torch, &info->verify);
        if (o->path)
            status = make_record(&m, o->name, o->path, o->replace, error);
        plm_history_free(&trace);
    }
    plm_map_free(&m.by_frames);
    plm_names_free(&m.names);
    plm_unpickle_free(pickle);
    return status;
}
