/*
 * Convolutions whose workspace came from a formula and not from a measurement: which blocks these are, and how large
 * they may be in truth. fit/conv_range.h tells what that does to the peak. Belongs to a lane of a job.
 */
#ifndef PLM_CONV_RANGE_H
#define PLM_CONV_RANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct plm_lane;
struct plm_record_event;

#define PLM_CONV_NO_BLOCK UINT32_MAX

/* A convolution whose workspace is a guess. */
struct plm_conv_mark {
    uint32_t at;    /* moments of the lane that had passed */
    uint32_t block; /* its workspace; PLM_CONV_NO_BLOCK: it had none */
    uint64_t most;  /* bytes that it may be in truth */
};

struct plm_conv_marks {
    struct plm_conv_mark *mark;
    size_t count, room;
    bool weighed;       /* fit/conv_range.c has found these: */
    uint64_t low, high;
};

/* Takes a CONVOLUTION event of the lane down, if its workspace came from the formula. */
void plm_conv_range_visit(struct plm_conv_marks *marks, const struct plm_lane *lane,
                          const struct plm_record_event *event);

#endif
