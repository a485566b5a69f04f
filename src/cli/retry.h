/*
 * After a --bounded run that ran out of memory: the same command once more without the limit, to say how much it needs.
 * Its input is empty and its output is not shown.
 *
 * A child of this process makes the run, as the record and the signals of a process belong to one; both are waited for.
 * One thread. What fails is a reason without a figure.
 */
#ifndef PLM_CLI_RETRY_H
#define PLM_CLI_RETRY_H

#include <stdint.h>

struct plm_card;
struct plm_pen;
struct plm_run;

enum { PLM_RETRY_TEXT = 320 };
struct plm_retry_end {
    uint64_t need; /* bytes of the card; 0: not known */
    char why[192]; /* then: the reason; "": it was not run again */
};

/* Runs it again if the user wants that and the first run, into `record`, ended so with this wait status; not if the user
   interrupted it, or if it may have used up its input. What it needs goes into the pen's record, as a setting
   "unbounded-need". */
struct plm_retry_end plm_retry(struct plm_pen *pen, const struct plm_run *run, const char *record, int status);
/* What to say of it after the verdict; "": nothing. `measured`: what is usable of the card; 0: as the catalogue has it. */
void plm_retry_tell(const struct plm_retry_end *end, const struct plm_card *card, uint64_t measured,
                    char out[PLM_RETRY_TEXT]);

#endif
