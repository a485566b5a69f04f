/*
 * A rank that other ranks wait for: one line on stderr for each, once, within ten seconds. The processes tell in the
 * record's header for whom they wait.
 *
 * The caller owns the struct and calls from one thread. Never fails.
 */
#ifndef PLM_CLI_AWAITED_H
#define PLM_CLI_AWAITED_H

#include <stdint.h>

#include "record/format.h"

struct plm_cli_awaited {
    struct plm_record_header *header; /* NULL: nobody is seen to wait */
    double looked;
    uint32_t told[PLM_RECORD_SLOTS]; /* ranks, from 1 */
    unsigned tolds;
};

/* To be called now and then while the ranks run. */
void plm_cli_awaited_look(struct plm_cli_awaited *awaited);

#endif
