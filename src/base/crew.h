/*
 * Tasks by number on all processors: the calling thread and helpers that last as long as the call. Each task is given
 * out once, in ascending order; who gets it is chance, so a task writes only to a place of its own, and what depends on
 * the order is done afterwards. Holds no lock while a task runs. Never fails: without helpers the caller does it all.
 */
#ifndef PLM_BASE_CREW_H
#define PLM_BASE_CREW_H

#include <stddef.h>

enum { PLM_CREW = 64 }; /* workers at most; the caller is worker 0 */

typedef void plm_crew_work(void *context, size_t task, size_t worker);
void plm_crew_run(size_t tasks, plm_crew_work *work, void *context);

#endif
