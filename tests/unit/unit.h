/* What the unit tests share. cmocka wants these headers before its own. */
#ifndef PLM_UNIT_H
#define PLM_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define RUN(tests)   cmocka_run_group_tests(tests, NULL, NULL)
#define KIB          (1ull << 10)
#define MIB          (1ull << 20)
#define GIB          (1ull << 30)

/* A new empty folder, removed with all in it at the end of the program. */
const char *unit_folder(void);
/* FOLDER/NAME, in a buffer that the next four calls leave alone. */
const char *unit_path(const char *name);
void unit_write(const char *path, const void *bytes, size_t size);
/* The whole file, NUL-terminated; the caller frees it. */
char *unit_read(const char *path, size_t *size);
void assert_contains(const char *text, const char *part);

/* Makes a new record at that path and has this process write to it; before the first event. */
void unit_record(const char *path);

/* The job whose record `body` writes, in FOLDER/job.plm: in a child, since a process opens its record once. */
struct plm_job *unit_job(void (*body)(void));

/* Tags, calls (plm_record_event_is_call) and operands that a record holds, in order; returns their number. */
struct unit_event {
    int type, device;
    uint32_t process;
    unsigned count;
    uint64_t word[16];
    char name[256]; /* of a launch */
};
int unit_calls(const char *path, struct unit_event *out, int most);
/* Those since the last time, of one record for the whole program; returns their number. */
int unit_take(const char *path, struct unit_event **first);

#endif
