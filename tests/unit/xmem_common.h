/* Traces made by hand, and what xMem makes of them. */
#ifndef PLM_UNIT_XMEM_COMMON_H
#define PLM_UNIT_XMEM_COMMON_H

#include <stdio.h>
#include <stdlib.h>

#include "base/draw.h"
#include "common/error.h"
#include "base/json.h"
#include "study/estimate/xmem.h"
#include "study/estimate/xmem_internal.h"
#include "study/methods/methods.h"
#include "unit.h"

/* ---- making traces: everything is added in order of time ---- */

enum { MOST = 64 };

extern struct plm_trace_step steps[MOST];
extern struct plm_trace_mark marks[MOST];
extern struct plm_trace_module modules[MOST];
extern struct plm_trace_op ops[MOST];
extern struct plm_trace_to tos[MOST];
extern struct plm_trace_memory memories[4 * MOST];
extern char *names[MOST];
extern struct plm_trace trace;

void empty(void);
uint32_t name_of(const char *name);
void step(int64_t start, int64_t end);
void mark(enum plm_trace_mark_kind kind, int64_t start, int64_t end);
void module(const char *name, int64_t start, int64_t end, bool leaf);
struct plm_trace_op *op(int64_t start, int64_t end, int64_t sequence);

/* Tensor.to(device) of a tensor of this type. */
void to(int64_t start, const char *type, uint64_t elements);
void memory(int64_t time, int64_t bytes, uint64_t address);

/* ---- what becomes of them ---- */

extern struct plm_xmem_run run;

void done(void);

/* Lifetimes of so many bytes; the last of them. */
int count(uint64_t bytes, struct plm_lifetime *last);

/* The same with a category. */
int count_as(uint64_t bytes, enum plm_category category, struct plm_lifetime *last);

/* Sizes that tell what is what. */
enum { ACTIVATION = 1001, TEMPORARY = 1002, GRADIENT = 1003, PASSED = 1004, INNER = 1005, STATE = 1006, BIAS = 1007 };
enum where { BEFORE_BACKWARD, AFTER_STEP };

void plain(enum where zero_grad);

/* ---- the whole ---- */

/* Sizes in MiB, so that segments can be counted. */
void grow_blocks(void);

#endif
