#include "report/ranks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/memory.h"

/* ---- the table ---- */

static struct plm_imbalance imbalance(const struct plm_report_kinds *t, uint64_t (*figure)(const struct plm_ladder *))
{
    struct plm_imbalance i = {.ratio = 1};
    double sum = 0, count = 0;
    for (size_t k = 0; k < t->ranks.kinds; k++) {
        const uint64_t bytes = figure(&t->ladder[k]);
        if (!t->ranks.kind[k].lane)
            continue;
        i.largest = bytes > i.largest ? bytes : i.largest;
        sum += (double)bytes * (double)t->ranks.kind[k].count;
        count += (double)t->ranks.kind[k].count;
    }
    i.mean = count > 0 ? (uint64_t)(sum / count + 0.5) : 0;
    i.ratio = i.mean ? (double)i.largest / (double)i.mean : 1;
    return i;
}

static uint64_t ladder_allocated(const struct plm_ladder *l)
{
    return l->allocated;
}

static uint64_t ladder_reserved(const struct plm_ladder *l)
{
    return l->reserved;
}

static uint64_t ladder_used(const struct plm_ladder *l)
{
    return l->device_used;
}

struct plm_report_kinds plm_report_kinds_make(const struct plm_job *job)
{
    struct plm_report_kinds t = {.job = job, .world = plm_job_world(job), .ranks = plm_job_kinds_make(job)};
    t.ladder = plm_calloc(t.ranks.kinds, sizeof *t.ladder);
    for (size_t k = 0; k < t.ranks.kinds; k++)
        if (t.ranks.kind[k].lane)
            t.ladder[k] = plm_ladder(job, t.ranks.kind[k].lane);
    t.allocated = imbalance(&t, ladder_allocated);
    t.reserved = imbalance(&t, ladder_reserved);
    t.used = imbalance(&t, ladder_used);
    t.worth = t.ranks.count > 1 || t.world.ranks || job->summary.shards;
    return t;
}

uint64_t plm_report_kinds_cards(const struct plm_report_kinds *table)
{
    return table->world.ranks > table->ranks.count ? table->world.ranks : table->ranks.count;
}

void plm_report_kinds_free(struct plm_report_kinds *t)
{
    plm_job_kinds_free(&t->ranks);
    free(t->ladder);
    t->ladder = NULL;
}

/* Shards are padded and small tensors stay whole, so what is near a part is called that part. */
const char *plm_report_shard_text(char out[24], const struct plm_shard *shard)
{
    const double parts = shard->local ? (double)shard->whole / (double)shard->local : 0, even = round(parts);
    if (shard->local == shard->whole)
        snprintf(out, 24, "whole");
    else if (even >= 2 && fabs(parts - even) <= 0.02 * even)
        snprintf(out, 24, "1/%.0f", even);
    else if (shard->local && parts > 2)
        snprintf(out, 24, "1/%.1f", parts);
    else
        snprintf(out, 24, "%.0f %%", parts > 0 ? 100 / parts : 0);
    return out;
}

const char *plm_report_world_text(char out[64], const struct plm_job_world *world)
{
    out[0] = '\0';
    if (world->ranks && world->nodes && world->gpus)
        snprintf(out, 64, "%u ranks: %u node%s x %u GPU%s", world->ranks, world->nodes, world->nodes == 1 ? "" : "s",
                 world->gpus, world->gpus == 1 ? "" : "s");
    else if (world->ranks)
        snprintf(out, 64, "%u ranks", world->ranks);
    return out;
}

/* ---- as JSON ---- */

static void write_shards(struct plm_json *j, const struct plm_job *job, const struct plm_lane *lane)
{
    bool any = false;
    for (int i = 0; i < PLM_CATEGORIES; i++) {
        const struct plm_shard *shard = plm_lane_shard(job, lane, (enum plm_category)i);
        if (!shard)
            continue;
        if (!any)
            plm_json_object(j, "shards");
        any = true;
        plm_json_object(j, plm_category_name((enum plm_category)i));
        plm_json_integer(j, "local", shard->local);
        plm_json_integer(j, "whole", shard->whole);
        plm_json_end_object(j);
    }
    if (any)
        plm_json_end_object(j);
}

static void write_kind(struct plm_json *j, const struct plm_report_kinds *t, size_t k)
{
    const struct plm_job_kind *kind = &t->ranks.kind[k];
    const struct plm_ladder *l = &t->ladder[k];
    plm_json_object(j, NULL);
    plm_json_integer(j, "rank", kind->rank);
    plm_json_integer(j, "count", kind->count);
    plm_json_string(j, "ranks", kind->ranks);
    plm_json_text(j, "devices", kind->devices);
    plm_json_text(j, "why", kind->why);
    if (kind->lane) {
        plm_json_integer(j, "device", (uint64_t)kind->lane->summary->device);
        plm_json_integer(j, "allocated", l->allocated);
        plm_json_integer(j, "reserved", l->reserved);
        plm_json_integer(j, "device_used", l->device_used);
        plm_json_integer(j, "low", l->low);
        plm_json_integer(j, "high", l->high);
        write_shards(j, t->job, kind->lane);
    }
    plm_json_end_object(j);
}

static void write_imbalance(struct plm_json *j, const char *key, const struct plm_imbalance *i)
{
    plm_json_object(j, key);
    plm_json_integer(j, "largest", i->largest);
    plm_json_integer(j, "mean", i->mean);
    plm_json_real(j, "ratio", i->ratio);
    plm_json_end_object(j);
}

static void write_number(struct plm_json *j, const char *key, uint32_t number)
{
    if (number)
        plm_json_integer(j, key, number);
}

void plm_report_kinds_write(struct plm_json *j, const struct plm_report_kinds *t)
{
    if (!t->worth || !t->ranks.kinds)
        return;
    plm_json_object(j, "ranks");
    write_number(j, "world", t->world.ranks);
    write_number(j, "nodes", t->world.nodes);
    write_number(j, "gpus_per_node", t->world.gpus);
    plm_json_bool(j, "told", t->ranks.told);
    plm_json_array(j, "kinds");
    for (size_t k = 0; k < t->ranks.kinds; k++)
        write_kind(j, t, k);
    plm_json_end_array(j);
    plm_json_object(j, "imbalance");
    write_imbalance(j, "allocated", &t->allocated);
    write_imbalance(j, "reserved", &t->reserved);
    write_imbalance(j, "device_used", &t->used);
    plm_json_end_object(j);
    plm_json_end_object(j);
}

void plm_report_ranks(struct plm_json *j, const struct plm_job *job)
{
    struct plm_report_kinds t = plm_report_kinds_make(job);
    plm_report_kinds_write(j, &t);
    plm_report_kinds_free(&t);
}
