#include "record_common.h"

int in_child(const char *name, void (*body)(void))
{
    char path[4096];
    int status;
    pid_t pid;
    snprintf(path, sizeof path, "%s", unit_path(name));
    unlink(path);
    unit_record(path);
    fflush(NULL);
    pid = fork();
    if (!pid) {
        body();
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

void append(uint64_t a, uint64_t b)
{
    const struct plm_ev_block_alloc event = {.address = a, .bytes = b};
    plm_record(PLM_EV_BLOCK_ALLOC, 3, &event, PLM_EV_BEFORE(block_alloc, context));
}

/* ---- round trips ---- */

void write_some(void)
{
    append(40, 2);
    plm_record_config("key", "value");
    plm_record_config("key", "other value");
    plm_record_config("empty", "");
    plm_record_note("kind", "note");
    plm_record_end(0);
}

static void *write_many(void *argument)
{
    (void)argument;
    for (uint64_t i = 0; i < EVENTS; i++)
        append(i, 1);
    return NULL;
}

void write_from_threads(void)
{
    pthread_t thread[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, write_many, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
}
