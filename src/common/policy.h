/*
 * The rows of policy.def as numbers, in order of precedence: what memory of the card reads as. Constants only.
 */
#ifndef PLM_COMMON_POLICY_H
#define PLM_COMMON_POLICY_H

/* What an operator leaves in the memory of its results. */
enum plm_leaves {
#define LEAVES(name, tells, situation, answer, confidence) PLM_LEAVES_##name,
#include "common/policy.def"
    PLM_LEAVES_ROWS
};

/* What the host finds when it reads. */
enum plm_reads {
#define READS(name, tells, situation, answer, doubt, both_ends, when) PLM_READS_##name,
#include "common/policy.def"
    PLM_READS_ROWS
};

/* What a row does to the confidence in a job. */
enum plm_policy { PLM_POLICY_UNCHANGED, PLM_POLICY_MEDIUM, PLM_POLICY_LOW };

#define PLM_TELLS_READBACK "readback"

#endif
