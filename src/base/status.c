#include "base/status.h"

#include <stddef.h>

#include "common/error.h"

#define FAULT(code, name)
#define STATUS(number, name, of, brief, meaning) {number, PLM_STATUS_##of, brief, meaning},
const struct plm_status plm_statuses[] = {
#include "base/statuses.def"
    {0, PLM_STATUS_ALL, NULL, NULL}};
#undef FAULT
#undef STATUS

int plm_status_of(int code)
{
#define STATUS(number, name, of, brief, meaning)
#define FAULT(code, name) \
    case code: return PLM_EXIT_##name;
    switch ((enum plm_error_code)code) { /* without a default: a code that has no row is a warning */
#include "base/statuses.def"
    }
#undef FAULT
#undef STATUS
    return PLM_EXIT_CANNOT;
}
