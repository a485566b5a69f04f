/*
 * What can a record decide? The one place that says so: every verdict, by whichever command, asks here first. A job
 * that ran out of memory, failed or was cut has the peak of what ran until then, which says nothing of what it needs;
 * so has one that made no step, unless the user asked about all of the command (--until-exit).
 * Read-only on the job; any thread. It cannot fail.
 */
#ifndef PLM_FIT_KNOWN_H
#define PLM_FIT_KNOWN_H

#include <stdbool.h>
#include <stdint.h>

struct plm_job;

enum plm_fit_known_what {
    PLM_KNOWN_PEAK,       /* the peak is the job's: every card can be judged */
    PLM_KNOWN_ENOUGH, /* --bounded, and the card was full, but the job went on and ended well: with as much memory it
                             does so again; what it would take of more, or do with less, is not known */
    PLM_KNOWN_TOO_LITTLE, /* --bounded, and it failed for want of memory: with no more it does so again */
    PLM_KNOWN_NOTHING,
};

struct plm_fit_known {
    enum plm_fit_known_what what;
    bool failed; /* the job failed, or has no end */
    uint64_t used; /* the most that was taken of a card without its context: with exactly this much ENOUGH and
                      TOO_LITTLE end in the same way */
    uint64_t needs; /* of the card, of a run without the limit that was made after TOO_LITTLE; 0: there was none */
    char why[192]; /* "it ran out of memory at 11.6 GiB in step 1"; "" if the peak is the job's */
};
struct plm_fit_known plm_fit_known(const struct plm_job *job);

#endif
