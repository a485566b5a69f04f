/*
 * What the workspaces of convolutions may do to the peak, where a formula gave them and no measurement: the job is
 * replayed through the simulator of PyTorch's allocator with no workspace at all, and with the largest that is sensible
 * for each convolution. docs/workspaces.md tells why.
 *
 * The replays are made when somebody first asks, and once: the job keeps what came of them. Any thread may ask.
 */
#ifndef PLM_FIT_CONV_RANGE_H
#define PLM_FIT_CONV_RANGE_H

#include <stdint.h>

struct plm_job;
struct plm_lane;

/* Bytes by which the reserved peak may be lower and higher, within the first million moments; both 0 if no workspace
   was guessed. What cannot be replayed leaves the allocated peak as the measure. */
struct plm_conv_range {
    uint64_t guessed; /* how many convolutions */
    uint64_t low, high;
};
struct plm_conv_range plm_conv_range(const struct plm_job *job, const struct plm_lane *lane);

/* Of the device where it does most, with the convolutions of all devices. */
struct plm_conv_range plm_conv_range_most(const struct plm_job *job);

#endif
