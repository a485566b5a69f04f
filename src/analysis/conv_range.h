/*
 * What the workspaces of convolutions may do to the peak, where a formula gave them and no measurement: the job is
 * replayed through the simulator of PyTorch's allocator with no workspace at all, and with the largest that is sensible
 * for each convolution. docs/workspaces.md tells why. Belongs to the analysis of one job; one thread.
 */
#ifndef PLM_CONV_RANGE_H
#define PLM_CONV_RANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct plm_device_summary;
struct plm_job;
struct plm_lane;
struct plm_record_event;
struct plm_summary;

/* A convolution whose workspace is a guess. */
struct plm_conv_mark {
    uint32_t at;    /* moments of the lane that had passed */
    uint32_t block; /* its workspace; UINT32_MAX: it had none */
    uint64_t most;  /* bytes that it may be in truth */
};

struct plm_conv_marks {
    struct plm_conv_mark *mark;
    size_t count, room;
};

/* Takes a CONVOLUTION event of the lane down, if its workspace came from the formula. 0 or PLM_ENOMEM. */
int plm_conv_range_visit(struct plm_conv_marks *marks, const struct plm_lane *lane,
                         const struct plm_record_event *event);

/* Bytes by which the reserved peak may be lower and higher, within the first million moments, into the lane's summary; frees the marks. What cannot be
   replayed leaves the allocated peak as the measure. */
void plm_conv_range_lane(const struct plm_summary *job, const struct plm_lane *lane, struct plm_conv_marks *marks,
                         struct plm_device_summary *summary);

/* How many convolutions had a guessed workspace, and what that does on the device where it does most. False: none. */
bool plm_conv_range_most(const struct plm_summary *job, uint64_t *guessed, uint64_t *low, uint64_t *high);

/* Widens a range of what the device has in use. */
void plm_conv_range_widen(const struct plm_device_summary *summary, uint64_t *low, uint64_t *high);

#endif
