/* What the stand-in for NVIDIA's management library answers. */
#ifndef PLM_FAKE_NVML_H
#define PLM_FAKE_NVML_H

#include <stdatomic.h>
#include <stdint.h>

struct fake_nvml {
    int broken;             /* what the initialisation answers */
    int users;
    unsigned cards;
    _Atomic uint64_t used;  /* of the first card; the others have 1000 more */
    _Atomic uint64_t asked; /* how often */
    _Atomic uint64_t restless; /* so many answers differ from each other */
    _Atomic int failing;    /* what questions for memory answer */
    unsigned busy;          /* per cent of utilization; over 100: the library refuses */
    int gpm;                /* the card has performance monitoring */
    int gpm_refused;        /* the number of a metric that it does not give */
    int samples;            /* buffers that are not freed */
};

struct fake_nvml *fake_nvml(void);

#endif
