#include "common/error.h"

#include <stdarg.h>
#include <stdio.h>

int plm_fail(struct plm_error *error, int code, const char *format, ...)
{
    if (error) {
        va_list args;
        error->code = code;
        va_start(args, format);
        vsnprintf(error->text, sizeof error->text, format, args);
        va_end(args);
    }
    return code;
}
