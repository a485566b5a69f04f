/*
 * The profiling interface of a device that executes nothing: it can be switched on and off and never
 * has anything to report. Any thread; correlation stacks belong to their thread.
 */
#ifndef PLM_CUPTI_H
#define PLM_CUPTI_H

enum plm_cupti_status {
    PLM_CUPTI_OK = 0,
    PLM_CUPTI_INVALID_PARAMETER = 1,
    PLM_CUPTI_PARAMETER_SIZE = 10,
    PLM_CUPTI_MAX_LIMIT = 12,
    PLM_CUPTI_QUEUE_EMPTY = 18,
};

#endif
