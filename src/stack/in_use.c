#include "stack/in_use.h"

#include <pthread.h>
#include <stdlib.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct plm_stack_file *stack;

static void load(void)
{
    const char *path = getenv("PLIMSOLL_STACK");
    if (path && *path && plm_stack_file_read(path, &stack, NULL) < 0)
        stack = NULL;
}

const struct plm_stack_file *plm_stack_in_use(void)
{
    pthread_once(&once, load);
    return stack;
}
