/*
 * A file of truth: runs that were measured on real cards, with what published tools said about them.
 *
 * A CSV whose columns are known by name. Needed: family, model, batch_size, and ground unless the caller can do
 * without. Read if they are there: run, optimizer, gpu, total_gpu_memory, zero_grad_mode, real_oom; allocated,
 * reserved, device_used and disturbed, as `plimsoll measure` writes them; and for every tool T with a column
 * T_memory: T_oom, T_2nd_oom and T_runtime_ns. Others are passed over. plm_truth_read() reads it, plm_truth_free()
 * gives it back; strings belong to it. Fails with a sentence that names the line.
 */
#ifndef PLM_EVALUATE_TRUTH_H
#define PLM_EVALUATE_TRUTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/csv.h"

enum { PLM_TRUTH_TOOLS = 16, PLM_TRUTH_ZERO_GRAD_UNKNOWN = -1 };

/* What the measured figure is; the estimate of the same kind is held against it. */
enum plm_truth_kind {
    PLM_TRUTH_ALLOCATED,
    PLM_TRUTH_RESERVED,
    PLM_TRUTH_DEVICE,      /* device used, the context included */
    PLM_TRUTH_LESS_FIRST,  /* device used minus its first sample, which the context is part of */
    PLM_TRUTH_KINDS
};
const char *plm_truth_kind_name(enum plm_truth_kind kind); /* "device-less-first" */
int plm_truth_kind_parse(const char *text, enum plm_truth_kind *kind);

/* What a tool said about a run. */
struct plm_truth_claim {
    double memory;      /* bytes; not positive: it gave none */
    bool judged, oom;   /* judged: it gave a verdict */
    bool second, second_oom; /* a second run, capped at `memory`, was made, and ran out */
    double seconds;     /* it took; 0: not given */
};

struct plm_truth_row {
    unsigned line;      /* 0: not in the file */
    const char *run, *family, *model, *optimizer, *gpu; /* "" if not given */
    uint64_t batch, total;                              /* total 0: not given */
    uint64_t ground[PLM_TRUTH_KINDS];                   /* 0: not given */
    int zero_grad;
    bool oom;           /* then ground is where it broke off */
    bool disturbed;     /* something else moved the card's memory meanwhile */
    struct plm_truth_claim claim[PLM_TRUTH_TOOLS];
};

struct plm_truth {
    struct plm_csv table;
    struct plm_truth_row *row;
    size_t rows;
    char tool[PLM_TRUTH_TOOLS][32];
    size_t tools;
};

enum plm_truth_need { PLM_TRUTH_NEEDS_GROUND, PLM_TRUTH_WITHOUT_GROUND };
int plm_truth_read(const char *path, enum plm_truth_need need, struct plm_truth *truth, struct plm_error *error);
void plm_truth_free(struct plm_truth *truth);

/* Cells of a table: its family, model, optimizer and batch size. */
void plm_truth_row_put(struct plm_lines *lines, const struct plm_truth_row *row);
/* Likewise: the position of zero_grad, empty if it is not known. */
void plm_truth_row_put_mode(struct plm_lines *lines, const struct plm_truth_row *row);

/* Does its run, family, model or optimizer contain this? NULL: always. */
bool plm_truth_row_has(const struct plm_truth_row *row, const char *pattern);

#endif
