/*
 * A file of truth: runs that were measured on real cards, with what published tools said about them.
 *
 * A CSV whose columns are known by name. Needed: family, model, batch_size, ground. Read if they are there: run, optimizer, gpu,
 * total_gpu_memory, zero_grad_mode, real_oom; and for every tool T with a column T_memory: T_oom and T_2nd_oom. Others are passed
 * over. plm_truth_read() reads it, plm_truth_free() gives it back; strings belong to it. Fails with a sentence that
 * names the line.
 */
#ifndef PLM_EVALUATE_TRUTH_H
#define PLM_EVALUATE_TRUTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "evaluate/table.h"

enum { PLM_TRUTH_TOOLS = 16, PLM_TRUTH_ZERO_GRAD_UNKNOWN = -1 };

/* What a tool said about a run. */
struct plm_truth_claim {
    double memory;      /* bytes; not positive: it gave none */
    bool judged, oom;   /* judged: it gave a verdict */
    bool second, second_oom; /* a second run, capped at `memory`, was made, and ran out */
};

struct plm_truth_row {
    unsigned line;
    const char *run, *family, *model, *optimizer, *gpu; /* "" if not given */
    uint64_t batch, total, ground;                      /* total 0: not given */
    int zero_grad;
    bool oom;           /* then ground is where it broke off */
    struct plm_truth_claim claim[PLM_TRUTH_TOOLS];
};

struct plm_truth {
    struct plm_table table;
    struct plm_truth_row *row;
    size_t rows;
    char tool[PLM_TRUTH_TOOLS][32];
    size_t tools;
};

int plm_truth_read(const char *path, struct plm_truth *truth, struct plm_error *error);
void plm_truth_free(struct plm_truth *truth);

#endif
