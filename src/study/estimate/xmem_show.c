/* What xMem found: for people as `report` shows a job, for programs named as `report --json` names the same things. */
#include <stdio.h>
#include <string.h>

#include "analysis/job.h"
#include "base/draw.h"
#include "base/json.h"
#include "study/estimate/xmem.h"

static const char *const names[] = {[PLM_XMEM_PUBLISHED] = "xmem", [PLM_XMEM_PLUS] = "xmem+"};

/* ---- for people ---- */

enum { LAYERS = 10, ROWS = 16, LABEL = 20 };

static void text_peak(const struct plm_page *p, const struct plm_xmem_result *r)
{
    char allocated[32], reserved[32];
    fprintf(p->out, "\n%sPeak: %s allocated, %s reserved%s\n", plm_ink(p, PLM_INK_BOLD),
            plm_page_amount(p, allocated, sizeof allocated, r->allocated),
            plm_page_amount(p, reserved, sizeof reserved, r->reserved), plm_ink(p, PLM_INK_PLAIN));
    if (r->step)
        fprintf(p->out, "  in step %d of %d, after %.3f s; reserved peaks from %.3f s on\n", r->step, r->steps,
                (double)r->peak_time / 1e9, (double)r->reserved_time / 1e9);
    if (r->oom)
        fprintf(p->out, "  %sthe GPU runs out of memory%s at %s\n", plm_ink(p, PLM_INK_RED), plm_ink(p, PLM_INK_PLAIN),
                plm_page_amount(p, reserved, sizeof reserved, r->oom_reserved));
}

/* A label, an amount, a bar and the share. */
static void text_line(const struct plm_page *p, const char *label, uint64_t bytes, uint64_t whole)
{
    int amount = plm_page_amount_columns(p);
    char text[32];
    if (!bytes)
        return;
    fputs("  ", p->out);
    plm_page_name(p, label, LABEL, 1);
    fprintf(p->out, " %*s  ", amount, plm_page_amount(p, text, sizeof text, bytes));
    plm_page_bar(p, plm_page_room(p, LABEL + amount + 15), 0, bytes, whole);
    fprintf(p->out, " %4.0f %%\n", whole ? 100 * (double)bytes / (double)whole : 0.0);
}

static void text_categories(const struct plm_page *p, const struct plm_xmem_result *r)
{
    bool shown[PLM_CATEGORIES] = {false};
    uint64_t sum = 0;

    plm_page_title(p, "Memory by category at the peak");
    for (int n = 0; n < PLM_CATEGORIES; n++) {
        int largest = -1;
        for (int i = 0; i < PLM_CATEGORIES; i++)
            if (!shown[i] && (largest < 0 || r->category[i] > r->category[largest]))
                largest = i;
        shown[largest] = true;
        sum += r->category[largest];
        text_line(p, plm_category_name((enum plm_category)largest), r->category[largest], r->peak_reserved);
    }
    text_line(p, "cached but unused", r->peak_reserved > sum ? r->peak_reserved - sum : 0, r->peak_reserved);
}

static void text_layer(const struct plm_page *p, const char *name, int columns, const struct plm_xmem_layer *l)
{
    int amount = plm_page_amount_columns(p);
    char a[32], b[32], c[32], d[32];
    fputs("  ", p->out);
    plm_page_name(p, name, columns, 1);
    fprintf(p->out, " %*s %*s %*s %*s\n", amount,
            plm_page_amount(p, a, sizeof a, l->parameters + l->forward + l->backward), amount,
            plm_page_amount(p, b, sizeof b, l->parameters), amount, plm_page_amount(p, c, sizeof c, l->forward), amount,
            plm_page_amount(p, d, sizeof d, l->backward));
}

static void text_layers(const struct plm_page *p, const struct plm_xmem_result *r)
{
    size_t rows = r->layers < LAYERS ? r->layers : LAYERS;
    int amount = plm_page_amount_columns(p), columns = LABEL, most = p->width - 4 * amount - 8;
    struct plm_xmem_layer rest = {0};
    char label[32];

    if (!rows)
        return;
    plm_page_title(p, "Memory by layer at the peak");
    for (size_t i = 0; i < rows; i++) {
        int wanted = plm_page_columns(p, r->layer[i].name);
        columns = wanted > columns ? wanted : columns;
    }
    columns = columns > most && most >= LABEL ? most : columns;
    fprintf(p->out, "  %s%-*s %*s %*s %*s %*s%s\n", plm_ink(p, PLM_INK_DIM), columns, "layer", amount, "all", amount,
            "parameters", amount, "forward", amount, "backward", plm_ink(p, PLM_INK_PLAIN));
    for (size_t i = 0; i < rows; i++)
        text_layer(p, *r->layer[i].name ? r->layer[i].name : "(in no layer)", columns, &r->layer[i]);
    for (size_t i = rows; i < r->layers; i++) {
        rest.parameters += r->layer[i].parameters;
        rest.forward += r->layer[i].forward;
        rest.backward += r->layer[i].backward;
    }
    snprintf(label, sizeof label, "%zu more", r->layers - rows);
    if (r->layers > rows)
        text_layer(p, label, columns, &rest);
}

/* Each row the largest of its part of the time. */
static void text_course(const struct plm_page *p, const struct plm_xmem_result *r)
{
    int amount = plm_page_amount_columns(p);
    char a[32], b[32];

    plm_page_title(p, "Memory over time");
    fprintf(p->out, "  %s%9s %*s %*s%s\n", plm_ink(p, PLM_INK_DIM), "seconds", amount, "allocated", amount, "reserved",
            plm_ink(p, PLM_INK_PLAIN));
    for (size_t row = 0; row < ROWS; row++) {
        size_t from = row * r->points / ROWS, to = (row + 1) * r->points / ROWS;
        struct plm_xmem_point most = {0};
        for (size_t i = from; i < to; i++) {
            most.allocated = r->point[i].allocated > most.allocated ? r->point[i].allocated : most.allocated;
            most.reserved = r->point[i].reserved > most.reserved ? r->point[i].reserved : most.reserved;
        }
        fprintf(p->out, "  %9.3f %*s %*s  ", from < to ? (double)r->point[from].time / 1e9 : 0.0, amount,
                plm_page_amount(p, a, sizeof a, most.allocated), amount,
                plm_page_amount(p, b, sizeof b, most.reserved));
        plm_page_bar(p, plm_page_room(p, 2 * amount + 16), 0, most.allocated, r->reserved);
        fputc('\n', p->out);
    }
}

void plm_xmem_text(const struct plm_page *p, const struct plm_xmem_result *r)
{
    char text[32];
    fprintf(p->out, "%s: %d step%s of a run on the CPU, %zu blocks\n", names[r->variant], r->steps,
            r->steps == 1 ? "" : "s", r->blocks);
    text_peak(p, r);
    text_categories(p, r);
    text_layers(p, r);
    text_course(p, r);
    if (r->left_out) {
        fprintf(p->out, "\nLeft out: %s of blocks of the last step that are temporary or belong to no layer.\n",
                plm_page_amount(p, text, sizeof text, r->left_out));
    }
    if (*r->note) {
        fputc('\n', p->out);
        plm_page_sentences(p, "Note: ", r->note);
    }
}

/* ---- for programs ---- */

static void json_peak(struct plm_json *j, const struct plm_xmem_result *r)
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

static void json_layers(struct plm_json *j, const struct plm_xmem_result *r)
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

static void json_timeline(struct plm_json *j, const struct plm_xmem_result *r)
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
    plm_json_string(j, "method", names[r->variant]);
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
    json_peak(j, r);
    json_layers(j, r);
    json_timeline(j, r);
    plm_json_integer(j, "left_out", r->left_out);
    plm_json_text(j, "note", r->note);
}
