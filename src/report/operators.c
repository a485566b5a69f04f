#include "report/operators.h"

#include <stddef.h>
#include <string.h>

/* Names that nobody has written in a program, and what was written. */
static const struct {
    const char *name, *shown;
} spoken[] = {
    {"aten::_local_scalar_dense", ".item()"},
};

const char *plm_report_operator_shown(const char *name)
{
    for (size_t i = 0; i < sizeof spoken / sizeof spoken[0]; i++)
        if (!strcmp(name, spoken[i].name))
            return spoken[i].shown;
    return name;
}

const char *plm_report_operator_brief(const char *name)
{
    static const char before[] = "aten::";
    const char *shown = plm_report_operator_shown(name);
    return strncmp(shown, before, sizeof before - 1) ? shown : shown + sizeof before - 1;
}
