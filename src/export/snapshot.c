/*
 * What torch.cuda.memory._dump_snapshot() writes: a pickle of the allocator's segments with their blocks,
 * and of the operations that led there. PyTorch's viewer page and torch.cuda._memory_viz read it.
 *
 * Stack frames say where in the program a block comes from, innermost first: what it is for, operators, the calls of
 * Python if the record has them, modules, phase. Each lane of the job (a device of a process) is a device of the snapshot.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/job.h"
#include "base/memory.h"
#include "common/error.h"
#include "export/export.h"
#include "analysis/layout.h"
#include "export/out.h"
#include "export/pickle.h"
#include "record/reader.h"

enum { NAME_MAX_BYTES = 2048, CALLS = 256 };

struct oom {
    uint32_t process;
    uint16_t device;
    uint64_t ns, bytes;
};

struct snapshot {
    const struct plm_export *export;
    const struct plm_job *job;
    const struct plm_lane *lane; /* that is written */
    struct plm_pickle pickle;
    struct plm_map places;                 /* context and owner -> number */
    struct plm_map frames[PLM_CATEGORIES]; /* that and the Python stack -> number of the list in the pickle */
    bool categories;                       /* blocks differ in what they are for */
    struct oom *oom;
    size_t ooms, oom_room;
    bool one_process;
};

/* ---- small pieces ---- */

static void put_text(struct snapshot *s, const char *key, const char *value)
{
    plm_pickle_text(&s->pickle, key);
    plm_pickle_text(&s->pickle, value);
}

static void put_number(struct snapshot *s, const char *key, uint64_t value)
{
    plm_pickle_text(&s->pickle, key);
    plm_pickle_unsigned(&s->pickle, value);
}

static void put_bool(struct snapshot *s, const char *key, bool value)
{
    plm_pickle_text(&s->pickle, key);
    plm_pickle_bool(&s->pickle, value);
}

static void put_time(struct snapshot *s, uint64_t ns)
{
    put_number(s, "time_us", (s->job->summary.created_ns + ns) / 1000);
}

static void put_call(struct snapshot *s, const char *file, const char *name, uint32_t line)
{
    plm_pickle_item(&s->pickle);
    plm_pickle_dict(&s->pickle);
    put_text(s, "name", name);
    put_text(s, "filename", file);
    put_number(s, "line", line);
    plm_pickle_end_dict(&s->pickle);
}

static void put_frame(struct snapshot *s, const char *file, const char *name)
{
    put_call(s, file, name, 0);
}

/* All of them, those of PyTorch too: its viewer has its own way to leave these out. */
static void put_calls(struct snapshot *s, uint32_t stack)
{
    uint32_t call[CALLS];
    const size_t count = plm_job_stack(s->job, stack, call, CALLS);
    for (size_t i = 0; i < count; i++) {
        const struct plm_job_line *line = &s->job->line[s->job->call[call[i]].line];
        put_call(s, line->file, line->function, line->line);
    }
}

/* "layer1.0.conv2" gives layer1.0.conv2, layer1.0, layer1. */
static void put_modules(struct snapshot *s, char *module)
{
    for (char *dot = module; *module && dot;) {
        put_frame(s, "module", module);
        dot = *module == '(' ? NULL : strrchr(module, '.');
        if (dot)
            *dot = '\0';
    }
}

static void put_new_frames(struct snapshot *s, const struct plm_block *b, uint32_t stack)
{
    const struct plm_site *c = &s->job->context[b->context];
    const char *where = *c->module ? c->module : "operator";
    char module[NAME_MAX_BYTES];
    plm_block_module(s->job, b, module, sizeof module);
    plm_pickle_list(&s->pickle);
    if (b->owner)
        put_frame(s, plm_category_name((enum plm_category)b->category), s->job->owner[b->owner]);
    else if (s->categories)
        put_frame(s, "category", plm_category_name((enum plm_category)b->category));
    if (*c->inner && strcmp(c->inner, c->outer))
        put_frame(s, where, c->inner);
    if (*c->outer)
        put_frame(s, where, c->outer);
    put_calls(s, stack);
    put_modules(s, module);
    if (b->context)
        put_frame(s, "phase", plm_phase_name(c->phase));
    plm_pickle_end_list(&s->pickle);
}

static void put_no_frames(struct snapshot *s)
{
    plm_pickle_text(&s->pickle, "frames");
    plm_pickle_list(&s->pickle);
    plm_pickle_end_list(&s->pickle);
}

static uint64_t place_number(struct snapshot *s, const struct plm_block *b)
{
    const uint64_t key = (uint64_t)b->context << 32 | b->owner, known = plm_map_get(&s->places, key);
    if (known != PLM_MAP_NONE)
        return known;
    plm_map_put(&s->places, key, s->places.count);
    return s->places.count - 1;
}

/* The same list for all blocks that come from the same place; an empty one without a block. */
static void put_frames(struct snapshot *s, const struct plm_block *b)
{
    const uint32_t stack = b ? plm_block_stack(s->lane, b) : 0;
    if (!b) {
        put_no_frames(s);
        return;
    }
    const uint64_t key = place_number(s, b) << 32 | stack;
    struct plm_map *map = &s->frames[b->category % PLM_CATEGORIES];
    uint64_t found = plm_map_get(map, key);
    plm_pickle_text(&s->pickle, "frames");
    if (found != PLM_MAP_NONE) {
        plm_pickle_again(&s->pickle, (uint32_t)found);
        return;
    }
    put_new_frames(s, b, stack);
    plm_map_put(map, key, plm_pickle_keep(&s->pickle));
}

static uint64_t stream_number(const struct plm_block *b)
{
    return b->stream == PLM_STREAM_UNKNOWN ? 0 : b->stream;
}

static void put_pool(struct snapshot *s, const char *key, bool captured)
{
    plm_pickle_text(&s->pickle, key);
    plm_pickle_unsigned(&s->pickle, 0);
    plm_pickle_unsigned(&s->pickle, captured);
    plm_pickle_pair(&s->pickle);
}

/* ---- segments ---- */

/* The blocks that live at the moment, by address. */
static const struct plm_block **live_blocks(const struct plm_lane *lane, uint32_t moment, size_t *count)
{
    const struct plm_block **block;
    size_t n = 0;
    for (size_t i = 0; i < lane->blocks; i++)
        n += lane->block[i].alloc_at <= moment && moment < lane->block[i].free_at;
    block = plm_calloc(n, sizeof *block);
    *count = 0;
    for (size_t i = 0; i < lane->blocks; i++)
        if (lane->block[i].alloc_at <= moment && moment < lane->block[i].free_at)
            block[(*count)++] = &lane->block[i];
    qsort(block, n, sizeof *block, plm_block_by_address);
    return block;
}

static void put_block(struct snapshot *s, uint64_t address, uint64_t bytes, const struct plm_block *b)
{
    if (!bytes)
        return;
    plm_pickle_item(&s->pickle);
    plm_pickle_dict(&s->pickle);
    put_number(s, "address", address);
    put_number(s, "size", bytes);
    put_number(s, "requested_size", b ? bytes : 0);
    put_text(s, "state", b ? "active_allocated" : "inactive");
    put_frames(s, b);
    plm_pickle_end_dict(&s->pickle);
}

/* Blocks and the holes between them; together they are the segment. Returns how many of the blocks were used up. */
static size_t put_blocks(struct snapshot *s, const struct plm_layout_segment *segment,
                         const struct plm_block *const *block, size_t count, uint64_t *allocated)
{
    const uint64_t end = segment->address + segment->bytes;
    uint64_t at = segment->address;
    size_t i;
    plm_pickle_text(&s->pickle, "blocks");
    plm_pickle_list(&s->pickle);
    for (i = 0; i < count && block[i]->address < end; i++) {
        const struct plm_block *b = block[i];
        if (b->address < at || b->bytes > end - b->address)
            continue; /* a damaged record: over another block, or beyond the end */
        put_block(s, at, b->address - at, NULL);
        put_block(s, b->address, b->bytes, b);
        at = b->address + b->bytes;
        *allocated += b->bytes;
    }
    put_block(s, at, end - at, NULL);
    plm_pickle_end_list(&s->pickle);
    return i;
}

static size_t put_segment(struct snapshot *s, const struct plm_layout_segment *segment, uint64_t device,
                          const struct plm_block *const *block, size_t count)
{
    uint64_t allocated = 0;
    size_t used;
    plm_pickle_item(&s->pickle);
    plm_pickle_dict(&s->pickle);
    put_number(s, "device", device);
    put_number(s, "address", segment->address);
    put_number(s, "total_size", segment->bytes);
    put_number(s, "stream", segment->stream);
    put_text(s, "segment_type", segment->small ? "small" : "large");
    put_pool(s, "segment_pool_id", segment->captured);
    put_bool(s, "is_expandable", segment->segment == PLM_LAYOUT_MAPPED);
    put_no_frames(s);
    used = put_blocks(s, segment, block, count, &allocated);
    put_number(s, "allocated_size", allocated);
    put_number(s, "active_size", allocated);
    put_number(s, "requested_size", allocated);
    plm_pickle_end_dict(&s->pickle);
    return used;
}

static void put_segments(struct snapshot *s, const struct plm_lane *lane, const struct plm_layout *layout,
                         uint32_t moment, uint64_t device)
{
    size_t count, at = 0;
    const struct plm_block **block = live_blocks(lane, moment, &count);
    for (size_t i = 0; i < layout->segments; i++) {
        while (at < count && block[at]->address < layout->segment[i].address)
            at++;
        at += put_segment(s, &layout->segment[i], device, block + at, count - at);
    }
    free(block);
}

/* ---- the trace ---- */

static void put_entry(struct snapshot *s, const char *action, uint64_t address, uint64_t bytes, uint64_t stream,
                      uint64_t ns, const struct plm_block *b)
{
    plm_pickle_item(&s->pickle);
    plm_pickle_dict(&s->pickle);
    put_text(s, "action", action);
    put_number(s, "addr", address);
    put_number(s, "size", bytes);
    put_number(s, "stream", stream);
    put_time(s, ns);
    /* The viewer colours by category if there are any; it wants to have seen "unknown" then. */
    if (s->categories)
        put_text(s, "category", b ? plm_category_name((enum plm_category)b->category) : "unknown");
    put_frames(s, b);
    plm_pickle_end_dict(&s->pickle);
}

static void put_segment_entry(struct snapshot *s, const struct plm_layout_event *e)
{
    static const char *const actions[] = {
        [PLM_LAYOUT_ALLOC] = "segment_alloc",
        [PLM_LAYOUT_FREE] = "segment_free",
        [PLM_LAYOUT_MAP] = "segment_map",
        [PLM_LAYOUT_UNMAP] = "segment_unmap",
    };
    put_entry(s, actions[e->action], e->address, e->bytes, e->stream, e->ns, NULL);
}

/* PyTorch gives the free memory of the card; the record does not know it. */
static void put_oom(struct snapshot *s, const struct oom *oom)
{
    plm_pickle_item(&s->pickle);
    plm_pickle_dict(&s->pickle);
    put_text(s, "action", "oom");
    put_number(s, "device_free", 0);
    put_number(s, "size", oom->bytes);
    put_number(s, "stream", 0);
    put_time(s, oom->ns);
    put_no_frames(s);
    plm_pickle_end_dict(&s->pickle);
}

/* The next time that this lane ran out of memory, from `i` on. */
static size_t next_oom(const struct snapshot *s, const struct plm_lane *lane, size_t i)
{
    while (i < s->ooms && (s->oom[i].process != lane->process || s->oom[i].device != lane->summary->device))
        i++;
    return i;
}

static void put_trace(struct snapshot *s, const struct plm_lane *lane, const struct plm_layout *layout, uint32_t moment)
{
    size_t e = 0, oom = next_oom(s, lane, 0);
    for (uint32_t m = 0; m < lane->moments && m <= moment; m++) {
        const struct plm_block *b = &lane->block[lane->order[m] >> 1];
        const bool freed = lane->order[m] & 1;
        const uint64_t ns = freed ? b->free_ns : b->alloc_ns;
        for (; e < layout->events && layout->event[e].at <= m; e++)
            put_segment_entry(s, &layout->event[e]);
        for (; oom < s->ooms && s->oom[oom].ns < ns; oom = next_oom(s, lane, oom + 1))
            put_oom(s, &s->oom[oom]);
        if (freed) {
            put_entry(s, "free_requested", b->address, b->bytes, stream_number(b), ns, b);
            put_entry(s, "free_completed", b->address, b->bytes, stream_number(b), ns, b);
        } else
            put_entry(s, "alloc", b->address, b->bytes, stream_number(b), ns, b);
    }
    for (; e < layout->events; e++)
        put_segment_entry(s, &layout->event[e]);
    if (s->export->at.kind == PLM_AT_END)
        for (; oom < s->ooms; oom = next_oom(s, lane, oom + 1))
            put_oom(s, &s->oom[oom]);
}

/* ---- the document ---- */

static int see_oom(const struct plm_record_event *e, void *context)
{
    struct snapshot *s = context;
    if (e->type != PLM_EV_OOM)
        return 0;
    s->oom = plm_grow(s->oom, s->ooms, &s->oom_room, sizeof *s->oom);
    s->oom[s->ooms++] = (struct oom){e->process, e->device, e->time_ns, plm_get_oom(e).bytes};
    return 0;
}

/* Within one process a lane has the number of its device, as PyTorch would have it; else it is counted. */
static uint64_t device_number(const struct snapshot *s, size_t lane)
{
    return s->one_process ? (uint64_t)s->job->lane[lane].summary->device : lane;
}

static void look(struct snapshot *s)
{
    const struct plm_job *job = s->job;
    s->one_process = true;
    for (size_t i = 0; i < job->lanes; i++) {
        const struct plm_lane *lane = &job->lane[i];
        s->one_process &= lane->process == job->lane[0].process;
        for (size_t b = 1; b < lane->blocks && !s->categories; b++)
            s->categories = lane->block[b].category != lane->block[0].category;
    }
}

static void put_lane(struct snapshot *s, size_t number, bool trace)
{
    const struct plm_lane *lane = &s->job->lane[number];
    struct plm_layout layout;
    uint32_t moment;
    s->lane = lane;
    if (!plm_export_at(s->export, lane, &moment))
        return;
    plm_layout_make(lane, s->export->at.kind == PLM_AT_END ? UINT32_MAX : moment, &layout);
    if (trace)
        put_trace(s, lane, &layout, moment);
    else
        put_segments(s, lane, &layout, moment, device_number(s, number));
    plm_layout_free(&layout);
}

static void put_traces(struct snapshot *s)
{
    uint64_t device = 0;
    plm_pickle_text(&s->pickle, "device_traces");
    plm_pickle_list(&s->pickle);
    for (size_t i = 0; i < s->job->lanes; i++) {
        for (; device <= device_number(s, i); device++) {
            plm_pickle_item(&s->pickle);
            plm_pickle_list(&s->pickle);
            if (device == device_number(s, i))
                put_lane(s, i, true);
            plm_pickle_end_list(&s->pickle);
        }
    }
    plm_pickle_end_list(&s->pickle);
}

static void put_settings(struct snapshot *s)
{
    const char *setting = plm_summary_config(&s->job->summary, "allocator");
    if (!setting || !strcmp(setting, "default"))
        setting = "";
    plm_pickle_text(&s->pickle, "allocator_settings");
    plm_pickle_dict(&s->pickle);
    put_text(s, "PYTORCH_CUDA_ALLOC_CONF", setting);
    put_bool(s, "expandable_segments", strstr(setting, "expandable_segments:True") != NULL);
    plm_pickle_end_dict(&s->pickle);
}

/* The steps, as user annotations. */
static void put_annotations(struct snapshot *s)
{
    char name[32];
    plm_pickle_text(&s->pickle, "external_annotations");
    plm_pickle_list(&s->pickle);
    for (size_t i = 0; i < s->job->lanes; i++) {
        const struct plm_lane *lane = &s->job->lane[i];
        uint64_t from = lane->blocks ? lane->block[0].alloc_ns : 0;
        for (size_t n = 0; n < lane->steps; n++) {
            for (int stage = 0; stage < 2; stage++) {
                snprintf(name, sizeof name, "step %u", lane->step[n].value);
                plm_pickle_item(&s->pickle);
                plm_pickle_dict(&s->pickle);
                put_number(s, "device", device_number(s, i));
                put_text(s, "name", name);
                put_text(s, "stage", stage ? "END" : "START");
                put_time(s, stage ? lane->step[n].ns : from);
                plm_pickle_end_dict(&s->pickle);
            }
            from = lane->step[n].ns;
        }
    }
    plm_pickle_end_list(&s->pickle);
}

static void put_document(struct snapshot *s)
{
    plm_pickle_start(&s->pickle, s->export->out);
    plm_pickle_dict(&s->pickle);
    plm_pickle_text(&s->pickle, "segments");
    plm_pickle_list(&s->pickle);
    for (size_t i = 0; i < s->job->lanes; i++)
        put_lane(s, i, false);
    plm_pickle_end_list(&s->pickle);
    put_traces(s);
    put_settings(s);
    put_annotations(s);
    plm_pickle_end_dict(&s->pickle);
    plm_pickle_finish(&s->pickle);
}

int plm_export_snapshot(const struct plm_export *export, struct plm_error *error)
{
    struct snapshot s = {.export = export, .job = export->job};
    int status = plm_record_each(export->record, see_oom, &s, error);
    look(&s);
    if (status == 0)
        put_document(&s);
    for (int i = 0; i < PLM_CATEGORIES; i++)
        plm_map_free(&s.frames[i]);
    plm_map_free(&s.places);
    free(s.oom);
    return status;
}
