#include "base/json.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analysis/summary.h"
#include "base/error.h"
#include "report/report.h"

/* Fields that are not known are absent, never null. */
static void text(struct plm_json *j, const char *key, const char *value)
{
    if (value && *value)
        plm_json_string(j, key, value);
}

static void job(struct plm_json *j, const struct plm_summary *s)
{
    const char *exit_code = plm_summary_config(s, "exit"), *seconds = plm_summary_config(s, "seconds");
    time_t seconds_utc = (time_t)(s->created_ns / 1000000000u);
    char stamp[32];
    struct tm tm;

    plm_json_object(j, "job");
    plm_json_array(j, "command");
    for (int i = 0;; i++) {
        char key[24];
        const char *word;
        snprintf(key, sizeof key, "argv[%d]", i);
        word = plm_summary_config(s, key);
        if (!word)
            break;
        plm_json_string(j, NULL, word);
    }
    plm_json_end_array(j);
    text(j, "torch", plm_summary_config(s, "torch"));
    text(j, "cuda", plm_summary_config(s, "cuda"));
    text(j, "python", plm_summary_config(s, "python"));
    text(j, "allocator", plm_summary_config(s, "allocator"));
    plm_json_integer(j, "steps", (uint64_t)s->steps);
    plm_json_integer(j, "launches", s->launches);
    gmtime_r(&seconds_utc, &tm);
    strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%SZ", &tm);
    plm_json_string(j, "started", stamp);
    plm_json_real(j, "seconds", seconds ? strtod(seconds, NULL) : s->seconds);
    if (exit_code)
        plm_json_signed(j, "exit", strtol(exit_code, NULL, 10));
    plm_json_bool(j, "complete", s->ended && !s->full);
    plm_json_end_object(j);
}

static void range(struct plm_json *j, const struct plm_summary *s, const struct plm_device_summary *d)
{
    char reasons[8][256];
    int n;
    const char *level = plm_report_confidence(s, reasons, 8, &n);
    (void)d;
    plm_json_object(j, "range");
    plm_json_string(j, "confidence", level);
    plm_json_array(j, "reasons");
    for (int i = 0; i < n; i++)
        plm_json_string(j, NULL, reasons[i]);
    plm_json_end_array(j);
    plm_json_end_object(j);
}

static void counts(struct plm_json *j, const char *key, const char *name_key, const struct plm_counts *c)
{
    plm_json_array(j, key);
    for (int i = 0; i < c->count; i++) {
        plm_json_object(j, NULL);
        plm_json_string(j, name_key, c->item[i].name);
        text(j, "library", c->item[i].detail);
        plm_json_integer(j, "calls", c->item[i].calls);
        if (c->item[i].bytes)
            plm_json_integer(j, "bytes", c->item[i].bytes);
        plm_json_end_object(j);
    }
    plm_json_end_array(j);
}

static void device(struct plm_json *j, const struct plm_summary *s, const struct plm_device_summary *d)
{
    plm_json_object(j, NULL);
    plm_json_integer(j, "rank", (uint64_t)d->rank);
    plm_json_integer(j, "device", (uint64_t)d->device);
    text(j, "gpu", plm_summary_config(s, "gpu"));
    plm_json_object(j, "peak");
    plm_json_integer(j, "allocated", d->allocated_peak);
    plm_json_integer(j, "reserved", d->reserved_peak);
    plm_json_integer(j, "libraries", d->libraries_peak);
    plm_json_integer(j, "device_used", d->used_peak);
    plm_json_end_object(j);
    range(j, s, d);
    if (d->steps) {
        plm_json_object(j, "at_peak");
        plm_json_integer(j, "step", d->peak_step + 1u);
        plm_json_end_object(j);
    }
    plm_json_array(j, "steps");
    for (int i = 0; i < d->steps; i++) {
        plm_json_object(j, NULL);
        plm_json_integer(j, "allocated_peak", d->step[i].allocated_peak);
        plm_json_integer(j, "reserved_peak", d->step[i].reserved_peak);
        plm_json_end_object(j);
    }
    plm_json_end_array(j);
    plm_json_bool(j, "out_of_memory", d->out_of_memory);
    counts(j, "unmodelled", "symbol", &s->unmodelled);
    counts(j, "readbacks", "op", &d->readbacks);
    plm_json_end_object(j);
}

int plm_report_json(FILE *out, const struct plm_summary *s)
{
    struct plm_json j;
    plm_json_start(&j, out);
    plm_json_object(&j, NULL);
    plm_json_string(&j, "schema", "plimsoll.report/1");
    job(&j, s);
    plm_json_array(&j, "devices");
    for (int i = 0; i < s->devices; i++)
        device(&j, s, &s->device[i]);
    plm_json_end_array(&j);
    plm_json_array(&j, "notes");
    for (int i = 0; i < s->notes.count; i++) {
        plm_json_object(&j, NULL);
        plm_json_string(&j, "kind", s->notes.item[i].name);
        text(&j, "value", s->notes.item[i].detail);
        plm_json_end_object(&j);
    }
    plm_json_end_array(&j);
    plm_json_end_object(&j);
    return plm_json_finish(&j);
}
