/*
 * A recorded lane through the allocator simulator: what the same job would have reserved on another card, with other
 * settings or on another version of PyTorch.
 *
 * It does not have record_stream, empty_cache and the captures themselves. So a free is a free at once, blocks of
 * captured graphs share one private pool that lives as long as the job (plm_replay_private), and the cache
 * is emptied where recorded segments went. Jobs for which that makes a difference show it: with the settings and the
 * version of the record, `as_recorded` is false and the first difference is named.
 *
 * As on a card, memory that does not suffice for the workspace of a convolution is not the end: PyTorch's allocator
 * gives back what it has cached, cuDNN's next plan is tried, and it is kept for all convolutions of that shape and
 * direction in the same thread (pytorch, aten/src/ATen/native/cudnn/Conv_v8.cpp: try_configs). The record does not have
 * the list of plans: the next one is taken to be without a workspace, as it is where a formula gave the first.
 *
 * The lane belongs to the caller and is only read; several threads may replay the same one.
 */
#ifndef PLM_FIT_REPLAY_H
#define PLM_FIT_REPLAY_H

#include "allocator/allocator.h"

struct plm_lane;
struct plm_error;
struct plm_summary;

struct plm_replay_options {
    enum plm_torch torch;
    struct plm_allocator_settings settings;
    uint64_t capacity, total;   /* of the card; capacity UINT64_MAX: any amount */
    bool without_guessed;       /* the workspaces of convolutions that a formula gave are nothing */
    bool recorded_addresses;    /* segments lie where they did in the record, as far as that is possible */
    bool compare;               /* look for differences from the record */
};

/* Release and settings as the job had them; PLM_EINVAL if the simulator does not know these. */
int plm_replay_settings(const struct plm_summary *job, struct plm_replay_options *options);

struct plm_replay {
    bool completed;             /* false: out of memory at moment `at` */
    uint32_t at;
    struct plm_allocator_oom oom;
    struct plm_allocator_stats stats;
    uint64_t events;
    uint64_t fallbacks;         /* convolutions, each shape once, that had to do without their workspace */
    bool as_recorded;           /* with `compare`: every segment and every block as in the record */
    uint32_t differs_at;        /* the first moment that differs */
    char difference[192];       /* what differs there; "" if nothing does */
};

/* 0, also if the memory does not suffice; PLM_EFORMAT if the record contradicts itself. */
int plm_replay_lane(const struct plm_lane *lane, const struct plm_replay_options *options, struct plm_replay *replay,
                    struct plm_error *error);

/* The most that was asked for at a time, each size rounded up as every setting does, without the workspaces of
   convolutions: nothing makes do with less. */
uint64_t plm_replay_least(const struct plm_lane *lane);

/* Which blocks were in the private pool of a CUDA graph: one flag per block, for the caller to free; NULL if none was.
   The record tells it of those that were allocated in a capture. Others are there too, from the warm-up before it; as
   pools share no segment, all blocks of a segment that holds a captured one are. */
bool *plm_replay_private(const struct plm_lane *lane);

#endif
