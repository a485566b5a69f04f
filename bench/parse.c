/* parse TRACE [TIMES]: reads a profiler trace so many times (1); prints MB of text per second of CPU time, bytes of text, and the events kept. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "common/error.h"
#include "study/trace/trace.h"

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
    long times = argc > 2 ? strtol(argv[2], NULL, 10) : 1;
    struct plm_error error;
    struct plm_trace trace;
    uint64_t bytes = 0;
    size_t kept = 0;
    double begin = cpu_seconds();
    if (argc < 2 || times < 1) {
        fputs("usage: parse TRACE [TIMES]\n", stderr);
        return 2;
    }
    for (long i = 0; i < times; i++) {
        if (plm_trace_read(argv[1], &trace, &error)) {
            fprintf(stderr, "parse: %s\n", error.text);
            return 1;
        }
        bytes += trace.file_bytes;
        kept = trace.steps + trace.marks + trace.modules + trace.ops + trace.memories;
        plm_trace_free(&trace);
    }
    printf("%.1f %llu %zu\n", (double)bytes / (cpu_seconds() - begin) / 1e6,
           (unsigned long long)(bytes / (uint64_t)times), kept);
    return 0;
}
