/*
 * Where the host's time of a step comes from. By default it is counted: so much per call, sample and byte, the same on
 * every machine. Measured, it is what the recording machine took, and a busy machine looks like a slow one. {0} is the
 * default. Pure; any thread.
 */
#ifndef PLM_TIME_HOST_H
#define PLM_TIME_HOST_H

#include <stdbool.h>

struct plm_error;

struct plm_host_time {
    bool measured;
    double factor; /* host time there for each second of it here; 0: that of the constants */
};

/* "counted" */
const char *plm_host_time_name(const struct plm_host_time *host);
/* What --host takes: "measured", "counted", a factor, or both: "measured,1.5"; NULL is the default. Fails with PLM_EINVAL and a
   sentence. */
int plm_host_time_parse(const char *text, struct plm_host_time *host, struct plm_error *error);

#endif
