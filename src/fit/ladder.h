/*
 * From the tensors to what nvidia-smi would show: each step of memory that a job takes on a card, how certain
 * that is, and whether it fits. Read-only on the job; what conv_range.c has found is kept beside it. Any thread.
 */
#ifndef PLM_FIT_LADDER_H
#define PLM_FIT_LADDER_H

#include <stdint.h>

#include "common/overhead.h"

struct plm_card;
struct plm_summary_device;
struct plm_job;
struct plm_lane;
struct plm_summary;

/* What driver, runtime and loaded code take: one line each, and their sum. */
struct plm_ladder_context {
    uint64_t bytes, low, high;
    struct plm_line line[PLM_OVERHEAD_LINES];
    int lines;
};
/* The single place that decides about it: what was measured for the job's software (CONTEXT_MEMORY of the
   record), else the model of common/overhead.h with what the process told of itself.
   `card`: another card than the one that was played; NULL: that one. */
struct plm_ladder_context plm_ladder_context(const struct plm_summary *summary, const struct plm_summary_device *device,
                                             const struct plm_card *card);

enum { PLM_LADDER_LINES = 24 }; /* ladder.c holds it against what there can be */
struct plm_ladder {
    uint64_t allocated; /* measured: blocks that PyTorch's allocator handed out */
    uint64_t reserved; /* measured: segments that it holds */
    uint64_t libraries; /* modelled: taken by libraries outside of it */
    uint64_t other; /* measured: what else the program, and others of its processes, took from the card */
    uint64_t beside; /* of `other`: by processes that use the card at the same time, with their contexts */
    uint64_t context; /* see plm_ladder_context */
    uint64_t device_used; /* all but allocated, which is within reserved */
    uint64_t low, high; /* of device_used */
    /* Line by line when most of the card was taken, in the groups "reserved", "libraries", "other", "context"; they
       add up to device_used, low and high. A process reserves at most at another moment now and then: then the first
       line is less than `reserved`. */
    struct plm_line line[PLM_LADDER_LINES];
    int lines;
};
struct plm_ladder plm_ladder(const struct plm_job *job, const struct plm_lane *lane);
/* On another card: its context is of another size. What the libraries took stays. */
struct plm_ladder plm_ladder_on(const struct plm_job *job, const struct plm_lane *lane, const struct plm_card *card);
/* The ladders of all devices of a job, as far as no card changes them: made once, for whoever asks about many cards. The
   job must outlive it; plm_ladders_free() ends it. Read-only: any thread. */
struct plm_ladders {
    const struct plm_job *job;
    struct plm_ladder *bare; /* per lane of the job: of its process alone, without contexts */
};
struct plm_ladders plm_ladders_make(const struct plm_job *job);
void plm_ladders_free(struct plm_ladders *ladders);
/* As plm_ladder_on() and plm_ladder_job(). */
struct plm_ladder plm_ladders_on(const struct plm_ladders *ladders, const struct plm_lane *lane,
                                 const struct plm_card *card);
struct plm_ladder plm_ladders_job(const struct plm_ladders *ladders, const struct plm_card *card);
/* Of all devices: that of the one that takes most, but with the highest low and the highest high that any has. Another
   device may have the wider range, and all of them must fit. The lines are the former's alone. `card` as above. Zeros if
   there is no device. */
struct plm_ladder plm_ladder_job(const struct plm_job *job, const struct plm_card *card);

enum plm_verdict { PLM_FITS, PLM_TIGHT, PLM_NO_FIT, PLM_UNKNOWN };
/* Tight: the card's usable memory lies within the range. Of a job whose peak is its own (fit/known.h). */
enum plm_verdict plm_ladder_fit(const struct plm_ladder *ladder, uint64_t usable);
const char *plm_verdict_name(enum plm_verdict verdict); /* "fits", "tight", "no", "unknown" */

/*
 * conv_range.c: what the workspaces of convolutions may do to the peak, where a formula gave them and no measurement.
 * The job is replayed through the simulator of PyTorch's allocator with no workspace at all, with the largest that is
 * sensible for each convolution, and with that forward alone. docs/workspaces.md tells why. The replays are made when
 * somebody first asks, and once: the lane keeps what came of them, and a lane waits for no other.
 */

/* Bytes by which the reserved peak may be lower and higher, within the first million moments; both 0 if no workspace
   was guessed. What cannot be replayed leaves the allocated peak as the measure. */
struct plm_fit_conv_range {
    uint64_t guessed; /* how many convolutions */
    uint64_t low, high;
};
struct plm_fit_conv_range plm_fit_conv_range(const struct plm_job *job, const struct plm_lane *lane);

/* Of the device where it does most, with the convolutions of all devices. */
struct plm_fit_conv_range plm_fit_conv_range_most(const struct plm_job *job);

/* How many reasons there can be. */
enum { PLM_DOUBTS = 19 };
/* confidence.c: how far the figures of a job can be trusted, and why not further; the rule is in docs/accuracy.md. Fills
   up to `most` reasons; returns "high", "medium" or "low". */
const char *plm_confidence(const struct plm_job *job, char reasons[][256], int most, int *count);
/* What it rests on if there is no reason at all: "every step alike, nothing refused". */
const char *plm_confidence_grounds(const struct plm_job *job, char out[64]);

/* How many results were read back that decide the size of tensors. */
uint64_t plm_deciding_readbacks(const struct plm_summary *summary);

#endif
