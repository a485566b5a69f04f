#include "unit.h"

#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/job.h"
#include "common/error.h"
#include "record/create.h"
#include "record/reader.h"

static char folder[64];
static pid_t owner;

/* What the person who runs the tests has set is not what is tested. */
__attribute__((constructor)) static void clean_environment(void)
{
    unsetenv("CUDA_VISIBLE_DEVICES");
    unsetenv("PLIMSOLL_LIMIT");
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status, (void)kind, (void)place;
    return remove(path);
}

static void remove_folder(void)
{
    if (getpid() == owner) /* not a forked child */
        nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

const char *unit_folder(void)
{
    if (!folder[0]) {
        strcpy(folder, "/tmp/plimsoll-unit-XXXXXX");
        assert_non_null(mkdtemp(folder));
        owner = getpid();
        atexit(remove_folder);
    }
    return folder;
}

const char *unit_path(const char *name)
{
    static char paths[4][PATH_MAX];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, PATH_MAX, "%s/%s", unit_folder(), name);
    return path;
}

void unit_write(const char *path, const void *bytes, size_t size)
{
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    assert_int_equal(fwrite(bytes, 1, size, out), size);
    assert_int_equal(fclose(out), 0);
}

char *unit_read(const char *path, size_t *size)
{
    FILE *in = fopen(path, "r");
    char *text;
    long length;
    assert_non_null(in);
    assert_int_equal(fseek(in, 0, SEEK_END), 0);
    length = ftell(in);
    rewind(in);
    text = malloc((size_t)length + 1);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, (size_t)length, in), length);
    text[length] = '\0';
    fclose(in);
    if (size)
        *size = (size_t)length;
    return text;
}

void assert_contains(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("'%s' does not contain '%s'", text, part);
}

void unit_record(const char *path)
{
    struct plm_record_file file;
    struct plm_error error;
    assert_int_equal(plm_record_create(path, false, &file, &error), 0);
    plm_record_close(&file);
    setenv("PLIMSOLL_RECORD", path, 1);
}

struct plm_job *unit_job(void (*body)(void))
{
    struct plm_record_file file;
    struct plm_error error;
    struct plm_job *job;
    const char *path = unit_path("job.plm");
    int status;
    assert_int_equal(plm_record_create(path, true, &file, &error), 0);
    setenv("PLIMSOLL_RECORD", path, 1);
    fflush(NULL);
    if (!fork()) {
        body();
        _exit(0);
    }
    wait(&status);
    assert_int_equal(status, 0);
    plm_record_close(&file);
    if (plm_job_read(getenv("PLIMSOLL_RECORD"), &job, &error))
        fail_msg("%s", error.text);
    return job;
}

struct calls {
    struct plm_record *record;
    struct unit_event *out;
    int count, most;
};

static int take_call(const struct plm_record_event *e, void *context)
{
    struct calls *c = context;
    struct unit_event *out = &c->out[c->count];
    if (e->type != PLM_EV_TAG && !plm_record_event_is_call(e->type) && e->type != PLM_EV_OPERANDS)
        return 0;
    assert_true(c->count < c->most);
    assert_true(e->count <= COUNT(out->word));
    *out = (struct unit_event){.type = (int)e->type, .device = e->device, .process = e->process, .count = e->count};
    memcpy(out->word, e->words, e->count * sizeof *e->words);
    if (e->type == PLM_EV_LAUNCH)
        snprintf(out->name, sizeof out->name, "%.255s",
                 plm_record_string(c->record, e->process, (uint32_t)out->word[2]));
    c->count++;
    return 0;
}

int unit_calls(const char *path, struct unit_event *out, int most)
{
    struct calls c = {NULL, out, 0, most};
    struct plm_error error;
    if (plm_record_open(path, &c.record, &error))
        fail_msg("%s", error.text);
    assert_int_equal(plm_record_each(c.record, take_call, &c, &error), 0);
    plm_record_free(c.record);
    return c.count;
}

int unit_take(const char *path, struct unit_event **first)
{
    static struct unit_event events[4096];
    static int taken;
    int before = taken;
    taken = unit_calls(path, events, COUNT(events));
    *first = events + before;
    return taken - before;
}
