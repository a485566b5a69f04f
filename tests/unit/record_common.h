/* Records that a child wrote, and what is in them. */
#ifndef PLM_UNIT_RECORD_COMMON_H
#define PLM_UNIT_RECORD_COMMON_H

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/summary.h"
#include "common/error.h"
#include "common/overhead.h"
#include "record/create.h"
#include "record/fields.h"
#include "record/told.h"
#include "record/writer.h"
#include "unit.h"

/* A process opens its record once, so each test writes from a child of its own. Returns its wait status. */
int in_child(const char *name, void (*body)(void));
void append(uint64_t a, uint64_t b);

/* ---- round trips ---- */

void write_some(void);

enum { THREADS = 8, EVENTS = 40000 }; /* several chunks for each */

void write_from_threads(void);

#endif
