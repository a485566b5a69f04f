#include "base/memory.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STATUS = 125 }; /* plimsoll itself could not do it */

/* write(): stdio may want memory of its own. */
_Noreturn void plm_out_of_memory(void)
{
    static const char sentence[] = "plimsoll: out of host memory: free some, or use a smaller job\n";
    if (write(STDERR_FILENO, sentence, sizeof sentence - 1) < 0)
        _exit(STATUS);
    _exit(STATUS);
}

static void *given(void *memory)
{
    if (!memory)
        plm_out_of_memory();
    return memory;
}

void *plm_calloc(size_t count, size_t size)
{
    return given(calloc(count ? count : 1, size ? size : 1));
}

void *plm_realloc(void *array, size_t count, size_t size)
{
    return given(reallocarray(array, count ? count : 1, size ? size : 1));
}

char *plm_strdup(const char *text)
{
    return given(strdup(text));
}

char *plm_strndup(const char *text, size_t most)
{
    return given(strndup(text, most));
}

char *plm_asprintf(const char *format, ...)
{
    va_list arguments;
    char *text;
    int length;
    va_start(arguments, format);
    length = vasprintf(&text, format, arguments);
    va_end(arguments);
    return given(length < 0 ? NULL : text);
}

void *plm_grow(void *array, size_t count, size_t *room, size_t size)
{
    if (count < *room)
        return array;
    if (*room > SIZE_MAX / 2)
        plm_out_of_memory();
    *room = *room ? 2 * *room : 16;
    return plm_realloc(array, *room, size);
}
