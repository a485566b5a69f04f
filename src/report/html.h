/*
 * Inside the HTML report. The page itself (web/) is compiled in by web/bundle.py; what it shows is one JSON
 * document (docs/page.md) that these functions write into it: a job of any length, cut down to a few
 * thousand points, at most PLM_HTML_SNAPSHOTS moments with their modules and fewer with a map of the
 * allocator. One thread. Nothing fails; a stream keeps its own errors.
 */
#ifndef PLM_HTML_H
#define PLM_HTML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/job.h"
#include "base/names.h"
#include "base/json.h"

enum {
    PLM_HTML_LANES = 16,
    PLM_HTML_POINTS = 4000,
    PLM_HTML_SNAPSHOTS = 150,
    PLM_HTML_MAPS = 24,
    PLM_HTML_STEPS = 4000,
    PLM_HTML_MODULES = 1200,
    PLM_HTML_OPS = 2000,
    PLM_HTML_SITES = 6000,
    PLM_HTML_MAP_ENTRIES = 1200,
    PLM_HTML_SPANS = 20000, /* of all lanes together */
    PLM_HTML_KINDS = 4000
};

/* Which moments of a lane the page shows (html_moments.c). */
struct plm_html_moments {
    uint32_t *point;          /* ascending */
    size_t points;
    uint32_t *snapshot;       /* ascending, each of them a point as well */
    bool *mapped;             /* per snapshot: with a map of the allocator */
    size_t snapshots;
    uint32_t *step_peak;      /* per entry of the page's list of steps: where it was highest */
    uint64_t *step_allocated, *step_reserved;
    size_t steps, steps_each; /* entries; steps that an entry stands for */
    uint64_t unit;            /* divides every size and address of the lane */
};
void plm_html_choose(const struct plm_lane *lane, size_t lanes, struct plm_html_moments *moments);
void plm_html_moments_free(struct plm_html_moments *moments);

/* The modules and operators of a job as numbers (html_names.c). */
struct plm_html_names {
    struct plm_names modules, ops;
    uint32_t *module_of_context, *module_of_owner, *op_of_context;
};
void plm_html_names_make(const struct plm_job *job, struct plm_html_names *names);
void plm_html_names_free(struct plm_html_names *names);
uint32_t plm_html_module(const struct plm_html_names *names, const struct plm_block *block);

/* Where blocks come from: module, category, operator and line of the program, as numbers (html_sites.c). */
struct plm_html_site {
    uint32_t module, op, line;
    uint8_t category;
};
struct plm_html_sites {
    struct plm_html_site *item;
    size_t count, room;
    struct plm_names lines;
    struct plm_map by_key, by_line;
};
void plm_html_sites_start(struct plm_html_sites *sites);
void plm_html_sites_free(struct plm_html_sites *sites);
/* Of a block, or of a part of one, and the Python stack that it has. */
uint32_t plm_html_site(struct plm_html_sites *sites, const struct plm_job *job, const struct plm_html_names *names,
                       const struct plm_block *block, uint32_t stack);
size_t plm_html_sites_most(const struct plm_html_names *names); /* more there never are */
void plm_html_sites_write(struct plm_json *json, const struct plm_html_sites *sites);
/* Layers that repeat, as they are at the peak of the largest lane. Names that it looks up may be added at the end. */
void plm_html_folds_write(struct plm_json *json, const struct plm_job *job, struct plm_html_names *names);

/* html_lane.c: "points" and "snapshots" of a lane. `context` is taken from the card at any moment. */
struct plm_html_view {
    const struct plm_job *job;
    const struct plm_lane *lane;
    const struct plm_html_moments *moments;
    const struct plm_html_names *names;
    struct plm_html_sites *sites;
};
void plm_html_lane(struct plm_json *json, const struct plm_html_view *view, uint64_t context);

/* A step in time (html_time.c): first each lane's, then what all of them point to. */
struct plm_html_kind;
struct plm_report_step;
struct plm_timeline;
struct plm_html_time {
    const struct plm_timeline *timeline; /* NULL: not known, and `why` says why not */
    const char *why;
    struct plm_names names;
    struct plm_html_kind *kind;
    size_t kinds, kind_room;
    struct plm_map by_key, by_pair[2];
};
void plm_html_time_start(struct plm_html_time *time, const struct plm_report_step *what);
void plm_html_time_lane(struct plm_json *json, struct plm_html_time *time, uint32_t process, int device, size_t lanes);
void plm_html_time_write(struct plm_json *json, const struct plm_html_time *time);
void plm_html_time_free(struct plm_html_time *time);

/* "key": the value for each i below count. */
#define PLM_HTML_EACH(json, key, i, count, value) \
    do {                                          \
        plm_json_array(json, key);                \
        for (size_t i = 0; i < (count); i++)      \
            plm_json_integer(json, NULL, value);  \
        plm_json_end_array(json);                 \
    } while (0)

#endif
