/* What xMem found, for programs: named as `report --json` names the same things. */
#include "analysis/job.h"
#include "base/json.h"
#include "study/estimate/xmem.h"

static void at_peak(struct plm_json *j, const struct plm_xmem_result *r)
{
    uint64_t sum = 0;

    plm_json_object(j, "at_peak");
    if (r->step)
        plm_json_integer(j, "step", (uint64_t)r->step);
    plm_json_integer(j, "time", (uint64_t)r->peak_time);
    plm_json_integer(j, "allocated", r->allocated);
    plm_json_integer(j, "reserved", r->peak_reserved);
    plm_json_object(j, "categories");
    for (int i = 0; i < PLM_CATEGORIES; i++) {
        sum += r->category[i];
        plm_json_integer(j, plm_category_name((enum plm_category)i), r->category[i]);
    }
    plm_json_integer(j, "free_in_segments", r->peak_reserved > sum ? r->peak_reserved - sum : 0);
    plm_json_end_object(j);
    plm_json_end_object(j);
}

static void layers(struct plm_json *j, const struct plm_xmem_result *r)
{
    plm_json_array(j, "layers");
    for (size_t i = 0; i < r->layers; i++) {
        const struct plm_xmem_layer *l = &r->layer[i];
        plm_json_object(j, NULL);
        plm_json_string(j, "name", l->name);
        plm_json_integer(j, "bytes", l->parameters + l->forward + l->backward);
        plm_json_integer(j, "parameters", l->parameters);
        plm_json_integer(j, "forward", l->forward);
        plm_json_integer(j, "backward", l->backward);
        plm_json_end_object(j);
    }
    plm_json_end_array(j);
}

static void timeline(struct plm_json *j, const struct plm_xmem_result *r)
{
    plm_json_array(j, "timeline");
    for (size_t i = 0; i < r->points; i++) {
        plm_json_object(j, NULL);
        plm_json_integer(j, "time", (uint64_t)r->point[i].time);
        plm_json_integer(j, "allocated", r->point[i].allocated);
        plm_json_integer(j, "reserved", r->point[i].reserved);
        plm_json_end_object(j);
    }
    plm_json_end_array(j);
}

void plm_xmem_json(struct plm_json *j, const struct plm_xmem_result *r)
{
    plm_json_string(j, "method", plm_xmem_name(r->variant));
    plm_json_integer(j, "steps", (uint64_t)r->steps);
    plm_json_integer(j, "duration", (uint64_t)r->duration);
    plm_json_integer(j, "blocks", r->blocks);
    plm_json_object(j, "peak");
    plm_json_integer(j, "allocated", r->allocated);
    plm_json_integer(j, "reserved", r->reserved);
    plm_json_integer(j, "reserved_time", (uint64_t)r->reserved_time);
    plm_json_end_object(j);
    plm_json_bool(j, "out_of_memory", r->oom);
    if (r->oom)
        plm_json_integer(j, "out_of_memory_reserved", r->oom_reserved);
    at_peak(j, r);
    layers(j, r);
    timeline(j, r);
    plm_json_integer(j, "left_out", r->left_out);
    plm_json_text(j, "note", r->note);
}
