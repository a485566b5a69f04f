/*
 * Does a stack file go with a job? Versions of PyTorch, CUDA, cuDNN and NCCL as the job's record has them. What one
 * side does not say is not compared. Pure; any thread.
 */
#ifndef PLM_ANALYSIS_MATCH_H
#define PLM_ANALYSIS_MATCH_H

#include <stdbool.h>
#include <stdint.h>

struct plm_card;
struct plm_stack_file;
struct plm_summary;

enum { PLM_STACK_WHY = 200 };

/* True if a version differs; `why` is then "PyTorch 2.6.0 instead of 2.15.0, ...". */
bool plm_stack_differs(const struct plm_stack_file *stack, const struct plm_summary *job, char why[PLM_STACK_WHY]);

/* The same for the stack that a job ran with, from its record alone; the card counts too. */
bool plm_stack_job_differs(const struct plm_summary *job, char why[PLM_STACK_WHY]);

/* Usable memory of a card: as the job's stack file has it, if that was made on this card, else as the catalogue has
   it. */
uint64_t plm_stack_usable(const struct plm_summary *job, const struct plm_card *card, bool *assumed);

#endif
